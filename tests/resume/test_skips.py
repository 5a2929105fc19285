"""A failed execution that a person leaves out: when, for which run, and how the record says it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest
from workflows import Context, Workflow, catch_error, step
from workflows.events import StartEvent, StepFailedEvent, StopEvent

from jupyter_wfresume import open_run, runs
from jupyter_wfresume.board import block
from jupyter_wfresume.errors import UsageError
from jupyter_wfresume.journal import cost_in_header
from jupyter_wfresume.records import Options
from jupyter_wfresume.session import Run, Session
from jupyter_wfresume.show import look_at
from tests.resume.lives import Life, live, put_back, ran, records_of
from tests.resume.workflows import Done, Item

PATIENCE_S = 60.0
N = 6
# Context variables, so that the step's code is the same in each life.
_BAD: ContextVar[frozenset[int]] = ContextVar("bad", default=frozenset())
_HELD: ContextVar[asyncio.Event | None] = ContextVar("held", default=None)


@pytest.fixture(autouse=True)
def bad() -> Iterator[None]:
    """Two of six documents are bad."""
    token = _BAD.set(frozenset({1, 4}))
    yield
    _BAD.reset(token)


class Enrich(Workflow):
    note = ""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        ran("split")
        return [Item(i=i) for i in range(N)]

    @step(num_workers=2)
    async def work(self, ev: Item) -> Done:
        ran(f"work {ev.i}")
        if ev.i in _BAD.get():
            raise ValueError("bad document")
        held = _HELD.get()
        if ev.i == N - 1 and held is not None:
            await held.wait()
        return Done(i=ev.i)

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        ran("join")
        return StopEvent(result=sorted(d.i for d in ev))


def body() -> Any:
    """Six documents."""
    return Enrich(timeout=None).run()


async def run_uncounted() -> Any:
    """Six documents, with a ledger that nobody reads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.resume.test_skips.ran", lambda label: None)
        return await body()


async def life(store: Path, make: Callable[[], Any] = body, **options: Any) -> Life:
    """One life that keeps going."""
    return await live(store, make, keep_going=True, **options)


def the_run(store: Path) -> Run:
    """The latest run."""
    return open_run("Enrich", str(store))


async def until(store: Path, found: Callable[[Run], bool]) -> Run:
    """The run once its record is as wanted.

    Raises:
        TimeoutError: it never is.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + PATIENCE_S
    while loop.time() < deadline:
        if runs(store=store) and found(run := the_run(store)):
            return run
        await asyncio.sleep(0.02)  # the store is no event that could be awaited
    raise TimeoutError("the run's record is not as wanted")


def status(run: Run, index: int) -> str:
    """What became of ``work[index]``; ``none`` where nothing is on record."""
    return next((e.status for e in run.executions if (e.step, e.index) == ("work", index)), "none")


async def test_a_decision_shows_at_once_and_takes_effect_when_the_run_goes_on(tmp_path: Path) -> None:
    """The status changes with the call; the fan-in then gets one less, and every view says by whom."""
    store = tmp_path / "s"
    await life(store)
    run = the_run(store)
    run.skip("work", 1, 4)
    assert [status(run, index) for index in range(N)] == [
        "done",
        "skipped",
        "done",
        "done",
        "skipped",
        "done",
    ]
    assert str(run.execution("work", 4).error) == "bad document"
    before = repr(look_at("Enrich", "work[4]", store=str(store)))
    assert re.search(
        r"left out +a person decided so at \d\d:\d\d:\d\d; it takes effect when the run goes on", before
    )
    again = await life(store)
    assert again.result == [0, 2, 3, 5]
    assert dict(again.ran) == {"join": 1}
    assert "leaves out work[1], work[4]" in again.told[0]
    sentence = "work[1], work[4] are left out: a person decided so"
    assert sentence in the_run(store).notes
    assert sentence in repr(runs(store=store))
    assert sentence in repr(look_at("Enrich", store=str(store)))
    after = repr(look_at("Enrich", "work[4]", store=str(store)))
    assert re.search(r"left out +a person decided so at \d\d:\d\d:\d\d\n", after + "\n")
    assert re.search(r"raised +ValueError: bad document", after)
    assert "– skipped" in after
    assert "left out by a person; ValueError" in repr(look_at("Enrich", "work[skipped]", store=str(store)))


async def test_what_is_left_out_is_counted_alone(tmp_path: Path) -> None:
    """Board, list, %wfshow and cost say four of six and two left out, in this life and in the next."""
    store = tmp_path / "s"
    await life(store)
    run = the_run(store)
    run.skip("work", 1)
    second = await life(store)
    assert "Enrich: 4 done, 1 failed, 1 left out: fix the cause" in second.views[-1].sentence
    run.skip("work", 4)
    views = [second.views[-1], (await life(store)).views[-1]]
    for view, skipped, failed in zip(views, (1, 2), (1, 0), strict=True):
        work = next(step for step in view.steps if step.name == "work")
        assert (work.restored, work.done, work.skipped, work.failed, work.total) == (4, 0, skipped, failed, N)
    assert views[1].saved_executions == 4 + 1
    assert re.search(r"work +4 / 6 +\S+ .*2 left out", block(views[1]))
    run = the_run(store)
    assert repr(runs(store=store)).splitlines()[1].split()[4:7] == ["4", "of", "6"]
    shown = repr(look_at("Enrich", store=str(store)))
    assert re.search(r"work +4 / 6 +\S+ .*2 left out", shown)
    assert re.search(r"left out +2 executions, by a person", shown)
    assert run.cost.left_out == 2
    assert [(one.step, one.left_out) for one in run.cost.steps if one.left_out] == [("work", 2)]
    assert run.cost.saved_by_resume.executions == views[1].saved_executions
    assert cost_in_header(run.header.extra["cost"]).left_out == 2


async def test_the_line_comes_before_the_board(tmp_path: Path) -> None:
    """What goes on without an execution says so first; no board is drawn above that line."""
    store = tmp_path / "s"
    await life(store)
    the_run(store).skip("work", 1, 4)
    order: list[str] = []
    session = Session(
        "Enrich",
        Options(store=str(store), keep_going=True),
        on_view=lambda view: order.append("board"),
        on_close_view=lambda view: order.append("board"),
        tell=order.append,
    )
    with session:
        assert await run_uncounted() == [0, 2, 3, 5]
        await session.settle()
    assert "leaves out work[1], work[4]" in order[0]
    assert order[1] == "board"


async def test_the_record_holds_when_a_person_said_so(tmp_path: Path) -> None:
    """The journal is whole in itself: what was left out, and when that was decided."""
    store = tmp_path / "s"
    await life(store)
    the_run(store).skip("work", 1, 4)
    decided = the_run(store).left_out
    await life(store)
    left = [record for record in records_of(store, the_run(store).id) if "sk" in record]
    assert {f"{record['s']}[{record['i']}]": record["sk"] for record in left} == decided
    assert all(at > 1e9 for at in decided.values())


async def test_a_run_that_is_under_way_is_told(tmp_path: Path) -> None:
    """The kernel that drives the run leaves it out while others still run, and ends with a result."""
    store, held = tmp_path / "s", asyncio.Event()
    token = _HELD.set(held)
    try:
        under_way = asyncio.ensure_future(life(store))
        run = await until(store, lambda run: status(run, 4) == "failed" and status(run, 3) == "done")
        run.skip("work", 1)
        await until(store, lambda run: any("sk" in record for record in run.records))
        assert not under_way.done()
        run.skip("work", 4)
        held.set()
        done = await under_way
    finally:
        _HELD.reset(token)
    assert done.error is None
    assert done.result == [0, 2, 3, 5]
    assert the_run(store).status == "done"
    assert {"work[1] is left out: a person decided so", "work[4] is left out: a person decided so"} <= set(
        the_run(store).notes
    )
    assert dict(done.ran) == {"split": 1, **{f"work {i}": 1 for i in range(N)}, "join": 1}


async def test_a_kill_around_a_decision_that_was_taken_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """Cut off after any write, the next life ends with the same, whether or not the decision still stands."""
    store, held = tmp_path / "s", asyncio.Event()
    token = _HELD.set(held)
    try:
        under_way = asyncio.ensure_future(life(store))
        run = await until(store, lambda run: status(run, 4) == "failed" and status(run, 3) == "done")
        run.skip("work", 1, 4)
        await until(store, lambda run: sum("sk" in record for record in run.records) == 2)
        held.set()
        whole = await under_way
    finally:
        _HELD.reset(token)
    first = next(
        i
        for i, write in enumerate(whole.writes)
        if write.method == "append" and b"Parked" in write.args[1] and b'"k":"A"' in write.args[1]
    )
    for cut in range(first, len(whole.writes)):
        for stands in (True, False):
            cut_store = tmp_path / f"cut{cut}{stands}"
            put_back(cut_store, whole.writes[:cut])
            run = the_run(cut_store)
            taken = {r["i"] for r in run.records if "sk" in r}
            open_ones = {1, 4} - taken if run.status != "done" else set()
            if stands and open_ones:
                run.skip("work", *sorted(open_ones))
            _BAD.set(frozenset())
            again = await life(cut_store)
            left = taken | (open_ones if stands else set())
            assert again.result == [i for i in range(N) if i not in left], (cut, stands)
            assert all(count == 1 for count in again.ran.values()), (cut, stands, again.ran)
            _BAD.set(frozenset({1, 4}))


async def test_a_decision_can_be_taken_back_before_it_has_an_effect(tmp_path: Path) -> None:
    """Taken back, the execution runs again; once the run has gone on without it, it is refused."""
    store = tmp_path / "s"
    await life(store)
    run = the_run(store)
    run.skip("work", 1, 4)
    run.unskip("work", 4)
    assert status(run, 4) == "failed"
    with pytest.raises(UsageError, match=r"work\[4\] is not left out: there is nothing to take back"):
        run.unskip("work", 4)
    again = await life(store)
    assert dict(again.ran) == {"work 4": 1}
    with pytest.raises(UsageError, match="the run has gone on without it; a new run"):
        run.unskip("work", 1)


async def test_a_decision_holds_for_its_run_alone(tmp_path: Path) -> None:
    """A changed call and a fresh run execute what was left out, and the plan says so."""
    store = tmp_path / "s"
    await life(store)
    the_run(store).skip("work", 1, 4)
    assert (await life(store)).result == [0, 2, 3, 5]
    _BAD.set(frozenset())

    def other() -> Any:
        flow = Enrich(timeout=None)
        flow.note = "another call"
        return flow.run()

    for again in (await life(store, other), await life(store, fresh=1)):
        assert again.result == list(range(N))
        assert {"work 1", "work 4", "join"} <= again.ran.keys()
    told = (await live(tmp_path / "t", body, keep_going=True)).told
    assert "left out" not in told[0]


async def test_the_plan_of_another_call_names_what_was_left_out(tmp_path: Path) -> None:
    """Of the new run's plan: four are reused, and two run because a person left them out last time."""
    store = tmp_path / "s"
    await life(store)
    the_run(store).skip("work", 1, 4)
    await life(store)

    def other() -> Any:
        flow = Enrich(timeout=None)
        flow.note = "another call"
        return flow.run()

    assert re.search(
        r"work +4 reused, 2 to run \(2 × left out last time\)", (await life(store, other)).told[0]
    )


async def test_a_fork_executes_what_was_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that goes on from a replay is a run of its own."""
    store = tmp_path / "s"
    await life(store)
    the_run(store).skip("work", 1, 4)
    await life(store)
    _BAD.set(frozenset())
    executed: list[str] = []
    monkeypatch.setattr("tests.resume.test_skips.ran", executed.append)
    result = await asyncio.to_thread(
        lambda: the_run(store).execution("work", 0).replay(edit={"i": 10}, continue_=True)
    )
    assert result == [1, 2, 3, 4, 5, 10]
    assert sorted(executed) == ["join", "work 1", "work 10", "work 4"]


async def test_a_replay_of_what_was_set_aside_compares_with_what_it_raised(tmp_path: Path) -> None:
    """Set aside, or left out by now: the recorded outcome is the exception; the same one is no difference."""
    store = tmp_path / "s"
    await life(store)
    for decided in (False, True):
        if decided:
            the_run(store).skip("work", 1, 4)
            await life(store)
        executed: list[str] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("tests.resume.test_skips.ran", executed.append)
            run = the_run(store)
            replayed = await asyncio.to_thread(lambda run=run: run.execution("work", 4).replay())
        assert executed == ["work 4"]
        assert str(replayed.old_error) == "bad document"
        assert replayed.differences == []


async def test_a_decision_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    """It says no time; it holds all the same, and is shown without one."""
    store = tmp_path / "s"
    await life(store)
    run = the_run(store)
    for index in (1, 4):
        run.store.put_note(run.id, f"skip.work[{index}]", b"1")
    assert (await life(store)).result == [0, 2, 3, 5]
    shown = repr(look_at("Enrich", "work[4]", store=str(store)))
    assert re.search(r"left out +a person decided so$", shown)


async def test_a_recorded_result_says_what_it_lacks(tmp_path: Path) -> None:
    """Run again, the cell gets its recorded result, and the line names what was left out."""
    store = tmp_path / "s"
    await life(store)
    the_run(store).skip("work", 1, 4)
    await life(store)
    again = await life(store)
    assert dict(again.ran) == {}
    assert "work[1], work[4] are left out: a person decided so; no step is executed" in again.told[0]


async def test_a_dry_run_says_what_is_left_out(tmp_path: Path) -> None:
    """What a person decided is part of the plan."""
    store = tmp_path / "s"
    await life(store)
    the_run(store).skip("work", 4)
    assert "leaves out work[4]" in (await life(store, dry_run=True)).told[0]


class Claims(Workflow):
    @step
    async def work(self, ev: StartEvent) -> StopEvent:
        raise ValueError("bad document")

    @catch_error
    async def rescue(self, ctx: Context, ev: StepFailedEvent) -> StopEvent:
        raise KeyError("no rescue")


async def test_only_what_has_failed_for_good_can_be_left_out(tmp_path: Path) -> None:
    """What is done, what a handler has taken over, and all of a finished run are refused, one of many too."""
    store = tmp_path / "s"
    await life(store)
    run = the_run(store)
    with pytest.raises(UsageError, match=r"work\[0\] has not failed: only a failed execution"):
        run.skip("work", 1, 0)
    assert run.left_out == {}
    run.skip("work", 1, 4)
    await life(store)
    finished = the_run(store)
    with pytest.raises(UsageError, match="is done: nothing is left to leave out"):
        finished.skip("work", 1)
    claimed = await live(store, lambda: Claims(timeout=None).run(), name="claims")
    assert isinstance(claimed.error, KeyError)
    with pytest.raises(UsageError, match="a step that catches errors took it over"):
        open_run("claims", str(store)).skip("work", 0)


async def test_the_failure_that_ended_a_run_can_be_left_out(tmp_path: Path) -> None:
    """Without --keep-going it is the same: the first failure is left out, and the run goes on past it."""
    store = tmp_path / "s"
    first = await live(store, body)
    assert isinstance(first.error, ValueError)
    the_run(store).skip("work", 1)
    second = await live(store, body)
    assert isinstance(second.error, ValueError)
    assert "work 1" not in second.ran
    the_run(store).skip("work", 4)
    assert (await live(store, body)).result == [0, 2, 3, 5]
