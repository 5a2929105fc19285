"""Runs that tasks of the body begin."""

import asyncio

import pytest
from workflows import Workflow, step
from workflows.events import StartEvent, StopEvent

from jupyter_wfresume import durable, runs

pytestmark = pytest.mark.usefixtures("work_dir")


class Echo(Workflow):
    """Gives back what it got."""

    @step
    async def echo(self, ev: StartEvent) -> StopEvent:
        """Give it back."""
        return StopEvent(result=ev.n)


async def one_by_one(count: int) -> list[int]:
    """Several runs, one after the other."""
    return [await Echo(timeout=None).run(n=n) for n in range(count)]


async def test_runs_of_a_task_that_nobody_awaits_are_durable() -> None:
    """A task that the body has only just made comes to its runs, and all of them are recorded."""
    async with durable("tasks", board="none"):
        task = asyncio.create_task(one_by_one(3))
    assert await task == [0, 1, 2]
    assert [run.status for run in runs()] == ["done"] * 3


async def test_a_run_that_begins_after_its_cell_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """A task that comes to its run too late is told that nothing of it is recorded."""
    go = asyncio.Event()

    async def late() -> object:
        await go.wait()
        return await Echo(timeout=None).run(n=1)

    async with durable("late", board="none"):
        task = asyncio.create_task(late())
    go.set()
    assert await task == 1
    assert "Echo runs without a record" in capsys.readouterr().out
    assert not runs()
