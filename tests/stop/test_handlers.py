"""What the body may do with a handler: cancel it, give up on it, gather several."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from workflows import Workflow, step
from workflows.errors import WorkflowCancelledByUser
from workflows.events import Event, StartEvent, StopEvent

from jupyter_wfresume import durable, runs
from tests.counting import bump, counts


class Item(Event):
    n: int


class World:
    """What a test sets."""

    log: Path
    hold: asyncio.Event
    reached: asyncio.Event
    error: Exception | None = None


class Held(Workflow):
    @step
    async def first(self, ev: StartEvent) -> Item:
        bump(World.log, "first")
        return Item(n=ev.n)

    @step
    async def second(self, ev: Item) -> StopEvent:
        bump(World.log, "second")
        World.reached.set()
        await World.hold.wait()
        return StopEvent(result=ev.n)


class Fails(Workflow):
    @step
    async def only(self, ev: StartEvent) -> StopEvent:
        await World.reached.wait()
        bump(World.log, "only")
        if World.error is not None:
            raise World.error
        return StopEvent(result="only")


@pytest.fixture
def block(store_dir: Path, tmp_path: Path) -> Callable[[], durable]:
    """Make durable blocks on one store, with steps that are held."""
    World.log = tmp_path / "log"
    World.error = None

    def make() -> durable:
        World.hold, World.reached = asyncio.Event(), asyncio.Event()
        return durable("held", store=store_dir, board="none")

    return make


def start(n: int = 1) -> Any:
    return Held(timeout=None).run(n=n)


async def resumed(block: Callable[[], durable], n: int = 1) -> Any:
    async with block():
        World.hold.set()
        return await start(n)


async def test_cancel_run_raises_as_without_us_and_the_run_resumes(block: Callable[[], durable]) -> None:
    """The body gets the engine's exception; what was finished is not executed again."""
    with pytest.raises(WorkflowCancelledByUser):
        async with block():
            handler = start()
            await World.reached.wait()
            await handler.cancel_run()
            await handler
    assert await resumed(block) == 1
    assert counts(World.log) == {"first": 1, "second": 2}


@pytest.mark.filterwarnings("ignore:WorkflowHandler.cancel:DeprecationWarning")  # the engine's, on purpose
async def test_a_cancelled_handler_ends_its_run(block: Callable[[], durable], store_dir: Path) -> None:
    """A body that cancels a handler and goes on ends without error, and the run is paused."""
    async with block():
        handler = start()
        await World.reached.wait()
        handler.cancel()
    assert [run.status for run in runs(store=store_dir)] == ["paused"]
    assert await resumed(block) == 1
    assert counts(World.log) == {"first": 1, "second": 2}


async def test_a_body_that_stops_waiting_goes_on_as_in_a_plain_cell(
    block: Callable[[], durable], store_dir: Path
) -> None:
    """A caught time-out of ``wait_for`` is the body's own affair; the step is cancelled, the run paused."""
    async with block():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(start(), 0.05)
        bump(World.log, "after")
    assert [run.status for run in runs(store=store_dir)] == ["paused"]
    assert await resumed(block) == 1
    assert counts(World.log) == {"first": 1, "second": 2, "after": 1}


async def test_of_two_gathered_runs_one_fails_and_the_other_is_kept(
    block: Callable[[], durable], store_dir: Path
) -> None:
    """The failing run's exception ends the body; the other run's result is on record at the next run."""
    World.error = ValueError("bad")
    with pytest.raises(ValueError, match="bad"):
        async with block():
            other = start()
            try:
                await asyncio.gather(other, Fails(timeout=None).run())
            finally:
                World.hold.set()
                await other
    assert sorted(run.status for run in runs(store=store_dir)) == ["done", "failed"]
    World.error = None
    async with block():
        World.reached.set()
        assert await asyncio.gather(start(), Fails(timeout=None).run()) == [1, "only"]
    assert counts(World.log) == {"first": 1, "second": 1, "only": 2}


async def test_equal_calls_at_once_are_runs_of_their_own(
    block: Callable[[], durable], store_dir: Path
) -> None:
    """Two equal calls in one ``gather`` are told apart by their order, in the next cell too."""
    for _ in range(2):
        async with block():
            World.hold.set()
            assert await asyncio.gather(start(7), start(7)) == [7, 7]
    assert counts(World.log) == {"first": 2, "second": 2}
    assert len(runs(store=store_dir)) == 2


async def test_a_run_that_the_body_leaves_running_is_awaited(
    block: Callable[[], durable], store_dir: Path
) -> None:
    """At the block's end every run has ended, and a failure of one is raised there."""
    async with block():
        start()
        World.hold.set()
    assert [run.status for run in runs(store=store_dir)] == ["done"]
    World.error = ValueError("late")
    with pytest.raises(ValueError, match="late"):
        async with block():
            Fails(timeout=None).run()
            World.reached.set()


async def test_an_exception_of_the_body_leaves_no_step_executing(
    block: Callable[[], durable], store_dir: Path
) -> None:
    """The body's own exception is raised, once the run that it left under way has ended."""
    with pytest.raises(KeyError):
        async with block():
            start()
            await World.reached.wait()
            asyncio.get_running_loop().call_later(0.05, World.hold.set)
            raise KeyError("body")
    assert [run.status for run in runs(store=store_dir)] == ["done"]


async def test_a_group_of_exceptions_is_the_steps_own(block: Callable[[], durable]) -> None:
    """An exception group of a step reaches the body as it is."""
    group = pytest.importorskip("builtins").__dict__.get("ExceptionGroup")
    if group is None:
        return
    World.error = group("many", [ValueError("a"), KeyError("b")])
    with pytest.raises(group) as raised:
        async with block():
            World.reached.set()
            await Fails(timeout=None).run()
    assert [type(each) for each in raised.value.exceptions] == [ValueError, KeyError]
