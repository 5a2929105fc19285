"""A run that nothing can move is said to be stuck, with what it lacks; not while the cell may move it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from workflows import Workflow
from workflows.errors import WorkflowCancelledByUser

from tests.warned import flows
from tests.warned.conftest import Life, Lives
from tests.warned.flows import Few, Go, Hello, Mute, Nothing, Open, Pair, Runs

ON = "; fix the workflow and run this cell again to go on"
NO_STOP = "all that was sent is done, and no step has returned a StopEvent"

WHY = {
    Mute: "1 of 1: no step accepts `Special`, only its parent class `Item` by `work`",
    Pair: "1 of 1: `join` has 2 × `Left` and waits for `Right`",
    Few: "2 of 2: `join` has collected 2 × `Item` and waits for more",
    Nothing: f"1 of 1: {NO_STOP}",
}


def run(workflow: type[Workflow]) -> Callable[[Life], Awaitable[Any]]:
    """A body that awaits one run."""

    async def body(life: Life) -> Any:
        return await workflow(timeout=None).run()

    return body


@pytest.mark.parametrize("workflow", WHY)
async def test_a_stuck_run_ends_and_says_what_it_lacks(live: Lives, workflow: type[Workflow]) -> None:
    """The sentence names the events that nobody accepted, or the fan-in and what it has and lacks."""
    life = await live(run(workflow))
    assert (life.status, life.sentence) == ("stuck", f"it is stuck at {WHY[workflow]}{ON}")


@pytest.mark.parametrize("workflow", WHY)
async def test_a_resumed_run_is_stuck_for_the_same_reason(live: Lives, workflow: type[Workflow]) -> None:
    """What nobody accepted in an earlier life is still known, and is counted once."""
    first = await live(run(workflow))
    again = await live(run(workflow))
    assert "resumes run" in again.told[0]
    assert again.sentence == first.sentence


async def test_a_stuck_run_goes_on_when_the_workflow_was_mended(
    live: Lives, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once a step takes the event, running the cell again delivers it; nothing before it runs again."""
    await live(run(Mute))
    monkeypatch.setattr(flows.Mute.work._step_config, "accept_event_subclasses", True)
    monkeypatch.setattr(flows.Mute, "make", None)  # calling it once more would raise
    life = await live(run(Mute), stale="keep")
    assert life.result == "Special"


async def test_a_stuck_run_of_a_step_ends_the_cell(live: Lives) -> None:
    """A run that a step runs gets stuck like any other, and its sentence is the cell's."""
    life = await live(lambda life: Runs(Pair(timeout=None), timeout=None).run())
    assert (life.status, life.sentence) == ("stuck", f"it is stuck at {WHY[Pair]}{ON}")


async def test_a_step_that_will_send_to_its_own_run_is_waited_for(live: Lives) -> None:
    """A run below a step is not stuck while that very step does something else first."""

    async def body(life: Life) -> Any:
        handler = Runs(Open(timeout=None), sends=True, timeout=None).run()
        asyncio.get_running_loop().call_later(0.3, flows.GO.set)
        return await handler

    life = await live(body)
    assert life.result == "from the step"


async def test_keep_going_does_not_hide_it(live: Lives) -> None:
    """Where nothing was set aside, a keep-going run is stuck like any other."""
    life = await live(run(Few), keep_going=True)
    assert (life.status, life.sentence) == ("stuck", f"it is stuck at {WHY[Few]}{ON}")


# -- the cell's own code may still send something --------------------------------


async def task(life: Life, handler: Any) -> Any:
    """A task of the body's sends later, while the body awaits the result."""

    async def send() -> None:
        await life.stood_still.wait()
        handler.ctx.send_event(Go(text="sent"))

    sender = asyncio.create_task(send())
    result = await handler
    await sender
    return result


async def gathered(life: Life, handler: Any) -> Any:
    """The body awaits both together."""

    async def send() -> None:
        await life.stood_still.wait()
        handler.ctx.send_event(Go(text="sent"))

    return (await asyncio.gather(handler, send()))[0]


async def waited(life: Life, handler: Any) -> Any:
    """The body waits for two tasks."""

    async def send() -> None:
        await life.stood_still.wait()
        handler.ctx.send_event(Go(text="sent"))

    async def take() -> Any:
        return await handler

    taken = asyncio.create_task(take())
    await asyncio.wait([taken, asyncio.create_task(send())])
    return taken.result()


async def body(life: Life, handler: Any) -> Any:
    """The body does something else first."""
    await life.stood_still.wait()
    handler.ctx.send_event(Go(text="sent"))
    return await handler


async def reader(life: Life, handler: Any) -> Any:
    """The body answers, after a while, what it reads from the stream."""
    async for event in handler.stream_events():
        if isinstance(event, Hello):
            await life.stood_still.wait()
            handler.ctx.send_event(Go(text="sent"))
    return await handler


@pytest.mark.parametrize("how", [task, gathered, waited, body, reader])
async def test_a_run_is_not_given_up_while_the_cell_may_send(
    live: Lives, how: Callable[[Life, Any], Awaitable[Any]]
) -> None:
    """It is said that only the cell can move it, and what the cell then sends moves it."""
    life = await live(lambda life: how(life, Open(timeout=None).run()))
    assert (life.result, life.sentence) == ("sent", "")
    assert life.stood_still.is_set()


async def test_the_body_may_cancel_a_run_that_stands_still(live: Lives) -> None:
    """Cancelling ends it as without us."""

    async def body(life: Life) -> str:
        handler = Open(timeout=None).run()
        await life.stood_still.wait()
        await handler.cancel_run()
        with pytest.raises(WorkflowCancelledByUser):
            await handler
        return "cancelled"

    life = await live(body)
    assert life.result == "cancelled"


# -- nobody is left who could send something -------------------------------------


async def only_reads(life: Life, handler: Any) -> Any:
    """The body waits for the next event of the stream."""
    async for _ in handler.stream_events():
        pass
    return await handler


async def reads_beside(life: Life, handler: Any) -> Any:
    """A task reads the stream, and the body awaits the result."""

    async def read() -> None:
        async for _ in handler.stream_events():
            pass

    return (await asyncio.gather(handler, read()))[0]


async def with_a_limit(life: Life, handler: Any) -> Any:
    """The body awaits the result for an hour at the most."""
    return await asyncio.wait_for(handler, 3600)


async def two_that_are_stuck(life: Life, handler: Any) -> Any:
    """The body awaits two runs, of which neither can move."""
    return await asyncio.gather(handler, Nothing(timeout=None).run())


async def left_running(life: Life, handler: Any) -> Any:
    """The body is over."""


@pytest.mark.parametrize("how", [only_reads, reads_beside, with_a_limit, two_that_are_stuck, left_running])
async def test_a_body_that_only_waits_does_not_keep_a_stuck_run(
    live: Lives, how: Callable[[Life, Any], Awaitable[Any]]
) -> None:
    """Where all of the cell's code waits for the run itself, the run ends as stuck."""
    life = await live(lambda life: how(life, Open(timeout=None).run()))
    assert (life.status, life.sentence) == ("stuck", f"it is stuck at 1 of 1: {NO_STOP}{ON}")
