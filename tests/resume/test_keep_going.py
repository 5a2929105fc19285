"""Keep going: what fails for good is set aside, all else goes on, and only the failed run again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

import pytest
from workflows import Workflow, step
from workflows.events import StartEvent, StopEvent
from workflows.retry_policy import retry_policy, stop_after_attempt, wait_fixed

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
    assert "96 done, 5 failed" in view.sentence
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
    assert "33 done, 8 failed" in life.views[-1].sentence


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
