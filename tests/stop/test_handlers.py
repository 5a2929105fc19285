"""What the body may do with a handler: cancel it, give up on it, gather several."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from workflows.errors import WorkflowCancelledByUser
from workflows.events import HumanResponseEvent, InputRequiredEvent

from jupyter_wfresume import durable, runs
from tests.counting import bump, counts
from tests.stop.flows import LOG, Asks, Fails, Held, reached, run

pytestmark = pytest.mark.usefixtures("work_dir")


def block() -> durable:
    """A durable block in the working folder."""
    return durable("held", board="none")


def touch(name: str) -> None:
    """Make a file that steps look for."""
    Path(name).touch()


def remove(name: str) -> None:
    """Take it away again."""
    Path(name).unlink()


def let_go() -> None:
    """Let held steps go on."""
    touch("go")


async def resumed() -> Any:
    """Run the held workflow once more, and let it through."""
    let_go()
    async with block():
        return await run(Held)


def statuses() -> list[str]:
    """The statuses of all runs."""
    return sorted(run.status for run in runs())


TWICE = {"first": 1, "second begins": 2, "second cancelled": 1, "second ends": 1, "third": 1}
"""What is executed where the second step is cut off once."""


async def test_cancel_run_raises_as_without_us_and_the_run_resumes() -> None:
    """The body gets the engine's exception; what was finished is not executed again."""

    async def body() -> None:
        async with block():
            handler = run(Held)
            await reached("second begins")
            await handler.cancel_run()
            await handler

    with pytest.raises(WorkflowCancelledByUser):
        await body()
    assert statuses() == ["paused"]
    assert await resumed() == "through"
    assert counts(LOG) == TWICE


@pytest.mark.filterwarnings("ignore:WorkflowHandler.cancel:DeprecationWarning")  # the engine's, on purpose
async def test_a_cancelled_handler_ends_its_run() -> None:
    """A body that cancels a handler and goes on ends without error, and the run is paused."""
    async with block():
        handler = run(Held)
        await reached("second begins")
        handler.cancel()
    assert statuses() == ["paused"]
    assert counts(LOG)["second cancelled"] == 1
    assert await resumed() == "through"
    assert counts(LOG) == TWICE


async def test_a_body_that_stops_waiting_goes_on_as_in_a_plain_cell() -> None:
    """A caught time-out of ``wait_for`` is the body's own affair; the step is cancelled, the run paused."""
    async with block():
        handler = run(Held)
        await reached("second begins")
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(handler, 0.01)
        bump(LOG, "after")
    assert statuses() == ["paused"]
    assert await resumed() == "through"
    assert counts(LOG) == {**TWICE, "after": 1}


async def test_of_two_gathered_runs_one_fails_and_the_other_is_kept() -> None:
    """The failing run's exception ends the body; the other run's result is on record at the next run."""
    touch("fail")

    async def both() -> Any:
        async with block():
            held = run(Held)
            try:
                return await asyncio.gather(held, run(Fails))
            finally:
                let_go()
                await held

    with pytest.raises(ValueError, match="bad"):
        await both()
    assert statuses() == ["done", "failed"]
    remove("fail")
    assert await both() == ["through", "only"]
    assert counts(LOG) == {"first": 1, "second begins": 1, "second ends": 1, "third": 1, "only": 2}


async def test_equal_calls_at_once_are_runs_of_their_own() -> None:
    """Two equal calls in one ``gather`` are told apart by their order, in the next cell too."""
    let_go()
    for _ in range(2):
        async with block():
            assert await asyncio.gather(run(Held), run(Held)) == ["through", "through"]
    assert counts(LOG) == {"first": 2, "second begins": 2, "second ends": 2, "third": 2}
    assert statuses() == ["done", "done"]


async def test_a_run_that_the_body_leaves_running_is_awaited() -> None:
    """At the block's end every run has ended, and a failure of one is raised there."""
    async with block():
        run(Held)
        let_go()
    assert statuses() == ["done"]
    touch("fail")

    async def failing() -> None:
        async with block():
            run(Fails)

    with pytest.raises(ValueError, match="bad"):
        await failing()
    assert statuses() == ["done", "failed"]


async def test_an_exception_of_the_body_pauses_the_runs_it_left_under_way() -> None:
    """What is under way may finish and nothing new starts; then the body's own exception is raised."""

    async def body() -> None:
        async with block():
            run(Held)
            await reached("second begins")
            asyncio.get_running_loop().call_later(0.05, let_go)
            raise KeyError("body")

    with pytest.raises(KeyError):
        await body()
    assert statuses() == ["paused"]
    assert counts(LOG) == {"first": 1, "second begins": 1, "second ends": 1}
    assert await resumed() == "through"
    assert counts(LOG) == {"first": 1, "second begins": 1, "second ends": 1, "third": 1}


async def test_an_exception_of_the_body_does_not_wait_for_a_person() -> None:
    """A body that raises while it reads the stream leaves nobody to answer: the run ends as waiting."""

    async def body() -> None:
        async with block():
            async for event in run(Asks).stream_events():
                if isinstance(event, InputRequiredEvent):
                    raise KeyError("body")

    with pytest.raises(KeyError):
        await body()
    assert statuses() == ["waiting"]
    async with block():
        handler = run(Asks)
        async for event in handler.stream_events():
            if isinstance(event, InputRequiredEvent):
                handler.ctx.send_event(HumanResponseEvent(response="yes"))
        assert await handler == "yes"
    assert counts(LOG) == {"asks": 1, "ends": 1}


async def test_every_run_that_the_body_leaves_running_is_awaited() -> None:
    """A failure of one does not let the cell end while another is executing."""
    touch("fail")

    async def body() -> None:
        async with block():
            run(Fails)
            run(Held)
            await reached("only")
            asyncio.get_running_loop().call_later(0.05, let_go)

    with pytest.raises(ValueError, match="bad"):
        await body()
    assert statuses() == ["done", "failed"]
