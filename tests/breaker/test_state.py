"""State that one execution changes while another one under way has written there."""

import asyncio

import pytest
from workflows import Context, Workflow, step
from workflows.errors import WorkflowCancelledByUser
from workflows.events import Event, StartEvent, StopEvent

from jupyter_wfresume import durable

pytestmark = pytest.mark.usefixtures("work_dir")

APPENDED = asyncio.Event()
"""The quick execution has finished, so this is the first life."""


class Slow(Event):
    """For an execution that is cut off in its first life."""


class Quick(Event):
    """For one that finishes."""


class Recorded(Event):
    """That one's result, which is on disk before anybody gets it."""


class Shares(Workflow):
    """Two executions on one list: one sets it as it was, the other one appends to it in place."""

    @step
    async def begin(self, ctx: Context, ev: StartEvent) -> Slow:
        """Make the list."""
        await ctx.store.set("found", [])
        return Slow()

    @step
    async def slow(self, ctx: Context, ev: Slow) -> Quick | StopEvent:
        """Write the list back unchanged, let the other one finish, and wait."""
        if not APPENDED.is_set():
            await ctx.store.set("found", await ctx.store.get("found"))
            ctx.send_event(Quick())
            await asyncio.Event().wait()
        return StopEvent(result=await ctx.store.get("found"))

    @step
    async def quick(self, ctx: Context, ev: Quick) -> Recorded:
        """Append."""
        (await ctx.store.get("found")).append("quick")
        return Recorded()

    @step
    async def after(self, ev: Recorded) -> StopEvent | None:
        """Say that it is on disk."""
        APPENDED.set()
        return None


async def cut_off() -> None:
    """Run until the quick execution is recorded, and cancel."""
    async with durable("shares", board="none"):
        handler = Shares(timeout=None).run()
        await APPENDED.wait()
        await handler.cancel_run()
        await handler


async def test_what_a_finished_execution_appended_is_kept() -> None:
    """Its change is on disk although an execution that wrote there too never finished."""
    with pytest.raises(WorkflowCancelledByUser):
        await cut_off()
    async with durable("shares", board="none"):
        assert await Shares(timeout=None).run() == ["quick"]
