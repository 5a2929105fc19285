"""Keep going: what fails for good is set aside, all else goes on, and only the failed run again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

import pytest
from workflows import Workflow, catch_error, step
from workflows.events import Event, StartEvent, StepFailedEvent, StopEvent
from workflows.retry_policy import retry_policy, stop_after_attempt, wait_fixed

from jupyter_wfresume.board import block
from jupyter_wfresume.session import open_run
from tests.resume.lives import live, put_back, ran
from tests.resume.workflows import Done, Item

# A ContextVar, so that the step's code is the same in each life.
_BAD: ContextVar[frozenset[int]] = ContextVar("bad")
_INSIDE: ContextVar[tuple[set[int], asyncio.Event]] = ContextVar("inside")


@pytest.fixture
def bad() -> Iterator[None]:
    """Five documents of a hundred are bad."""
    token = _BAD.set(frozenset({3, 17, 40, 41, 99}))
    yield
    _BAD.reset(token)


class Enrich(Workflow):
    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        ran("split")
        return [Item(i=i) for i in range(ev.n)]

    @step(num_workers=4, retry_policy=retry_policy(wait=wait_fixed(0), stop=stop_after_attempt(2)))
    async def work(self, ev: Item) -> Done:
        ran(f"work {ev.i}")
        if ev.i in _BAD.get():
            raise ValueError("bad document")
        return Done(i=ev.i)

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        ran("join")
        return StopEvent(result=sorted(d.i for d in ev))


def body() -> object:
    """A hundred documents."""
    return Enrich(timeout=None).run(n=100)


async def test_what_fails_is_set_aside_and_the_rest_goes_on(tmp_path: Path, bad: None) -> None:
    """95 are done, 5 fail with all their attempts, the join does not run, and the sentence counts them."""
    life = await live(tmp_path / "s", body, keep_going=True)
    assert isinstance(life.error, ValueError)
    assert sum(count for label, count in life.ran.items() if label.startswith("work")) == 95 + 5 * 2
    assert "join" not in life.ran
    view = life.views[-1]
    assert view.status == "failed"
    assert "95 done, 5 failed" in view.sentence
    (group,) = view.failures
    assert (group.count, [one.index for one in group.errors]) == (5, [3, 17, 40, 41, 99])
    assert group.errors[0].summary == "ValueError: bad document"
    assert ["raise ValueError" in one.traceback for one in group.errors].count(True) == 1
    assert open_run("Enrich", str(tmp_path / "s")).header.failures == view.failures
    work = next(one for one in view.steps if one.name == "work")
    assert (work.done, work.failed, work.running, work.queued) == (95, 5, 0, 0)


class Slots(Workflow):
    """Of forty the first eight fail; then four have to be under way at the same time."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(i=i) for i in range(40)]

    @step(num_workers=4)
    async def work(self, ev: Item) -> Done:
        ran(f"work {ev.i}")
        if ev.i < 8:
            raise ValueError("bad document")
        inside, four = _INSIDE.get()
        inside.add(ev.i)
        if len(inside) == 4:
            four.set()
        await four.wait()
        return Done(i=ev.i)

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        ran("join")
        return StopEvent(result=len(ev))


async def test_eight_failures_leave_four_workers(tmp_path: Path) -> None:
    """What was set aside holds no worker: four others run at once, and all forty are executed."""
    token = _INSIDE.set((set(), asyncio.Event()))
    life = await live(tmp_path / "s", lambda: Slots(timeout=None).run(), keep_going=True)
    _INSIDE.reset(token)
    assert isinstance(life.error, ValueError)
    assert life.ran == {f"work {i}": 1 for i in range(40)}
    assert "32 done, 8 failed" in life.views[-1].sentence


async def test_the_next_life_executes_only_what_failed(tmp_path: Path, bad: None) -> None:
    """After the fix the five run, with a fresh retry budget, then the join; the result is whole."""
    await live(tmp_path / "s", body, keep_going=True)
    _BAD.set(frozenset())
    again = await live(tmp_path / "s", body, keep_going=True)
    assert again.error is None
    assert again.result == list(range(100))
    assert dict(again.ran) == {**{f"work {i}": 1 for i in (3, 17, 40, 41, 99)}, "join": 1}


async def test_a_life_without_the_option_takes_them_up_too(tmp_path: Path, bad: None) -> None:
    """What was set aside is no different from what failed: without --keep-going the first failure ends the
    life."""
    await live(tmp_path / "s", body, keep_going=True)
    again = await live(tmp_path / "s", body)
    assert isinstance(again.error, ValueError)
    assert "join" not in again.ran
    _BAD.set(frozenset())
    assert (await live(tmp_path / "s", body)).result == list(range(100))


async def test_a_kill_in_between_loses_nothing(tmp_path: Path, bad: None) -> None:
    """Killed after any eighth write, the next life executes nothing that was on record as done."""
    first = await live(tmp_path / "s", body, keep_going=True)
    _BAD.set(frozenset())
    for cut in range(8, len(first.writes), 8):
        store = tmp_path / f"cut{cut}"
        put_back(store, first.writes[:cut])
        done = {f"work {e.index}" for e in open_run("Enrich", str(store)).executions if e.status == "done"}
        again = await live(store, body, keep_going=True)
        assert again.result == list(range(100))
        assert not done & {label for label in again.ran if label.startswith("work")}


class Checked(Event):
    i: int


class Branches(Workflow):
    """What is worked out is checked one by one, beside what only counts all of it."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(i=i) for i in range(6)]

    @step(num_workers=1)
    async def work(self, ev: Item) -> Done:
        if ev.i in (1, 4):
            raise ValueError("bad document")
        if ev.i == 2:
            raise LookupError("no page")
        return Done(i=ev.i)

    @step
    async def check(self, ev: Done) -> Checked:
        ran(f"check {ev.i}")
        return Checked(i=ev.i)

    @step
    async def join(self, ev: list[Checked]) -> StopEvent:
        ran("join")
        return StopEvent(result=len(ev))


async def test_what_does_not_need_a_failed_output_goes_on(tmp_path: Path) -> None:
    """Each good item goes its whole way; failures are grouped by their error, each with its input."""
    life = await live(tmp_path / "s", lambda: Branches(timeout=None).run(), keep_going=True)
    assert dict(life.ran) == {f"check {i}": 1 for i in (0, 3, 5)}
    groups = life.views[-1].failures
    assert [(group.count, group.errors[0].summary) for group in groups] == [
        (2, "ValueError: bad document"),
        (1, "LookupError: no page"),
    ]
    assert [one.input for group in groups for one in group.errors] == ["Item(i=1)", "Item(i=4)", "Item(i=2)"]


class Texts(Workflow):
    """Each failure has a text of its own, but for one that has none; one is of another type."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(i=i) for i in range(9)]

    @step(num_workers=1)
    async def work(self, ev: Item) -> Done:
        ran(f"work {ev.i}")
        said = [] if ev.i == 3 else [f"document {ev.i}"]
        raise (LookupError if ev.i == 5 else TimeoutError)(*said)

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        return StopEvent(result=len(ev))


async def test_one_type_on_one_line_is_one_group(tmp_path: Path) -> None:
    """Whatever their texts: the group has the type, each row its own text, and no colon without one."""
    life = await live(tmp_path / "s", lambda: Texts(timeout=None).run(), keep_going=True)
    first, second = life.views[-1].failures
    assert (first.kind, first.count, second.kind, second.count) == ("TimeoutError", 8, "", 1)
    assert [one.summary for one in first.errors] == [
        *(f"TimeoutError: document {i}" for i in range(3)),
        *("TimeoutError", "TimeoutError: document 4", "TimeoutError: document 6"),
    ]
    assert second.errors[0].summary == "LookupError: document 5"
    assert open_run("Texts", str(tmp_path / "s")).header.failures == (first, second)
    assert "TimeoutError: \n" not in block(life.views[-1])
    assert "TimeoutError:\n" not in block(life.views[-1])


class Silent(Workflow):
    """It fails without a word."""

    @step
    async def work(self, ev: StartEvent) -> StopEvent:
        raise TimeoutError


async def test_a_failure_without_a_text_is_its_type(tmp_path: Path) -> None:
    """The line of the next life names the exception alone, with no colon that nothing follows."""
    for _ in range(2):
        life = await live(tmp_path / "s", lambda: Silent(timeout=None).run())
    assert "work[0] had failed: TimeoutError" in life.told[0]
    assert "TimeoutError:" not in life.told[0]


class Rescued(Workflow):
    """A failure that a handler claims."""

    @step
    async def work(self, ev: StartEvent) -> StopEvent:
        ran("work")
        raise ValueError("bad document")

    @catch_error
    async def rescue(self, ev: StepFailedEvent) -> StopEvent:
        ran("rescue")
        return StopEvent(result=f"rescued: {ev.exception}")


async def test_what_a_handler_claims_is_not_set_aside(tmp_path: Path) -> None:
    """A step that catches errors has its say first: the run goes its way, and nothing counts as failed."""
    life = await live(tmp_path / "s", lambda: Rescued(timeout=None).run(), keep_going=True)
    assert life.result == "rescued: bad document"
    assert dict(life.ran) == {"work": 1, "rescue": 1}
    assert (life.views[-1].status, life.views[-1].failures) == ("done", ())


async def test_a_person_may_leave_one_out(tmp_path: Path, bad: None) -> None:
    """A skipped execution gives the fan-in one event fewer, and the record says so."""
    await live(tmp_path / "s", body, keep_going=True)
    run = open_run("Enrich", str(tmp_path / "s"))
    run.skip("work", 17)
    _BAD.set(frozenset())
    again = await live(tmp_path / "s", body, keep_going=True)
    assert again.result == [i for i in range(100) if i != 17]
    assert "work 17" not in again.ran
    assert open_run("Enrich", str(tmp_path / "s")).execution("work", 17).status == "skipped"
