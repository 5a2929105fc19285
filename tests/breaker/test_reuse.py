"""A new run is answered only by steps that are its own, as they are now."""

from __future__ import annotations

from pathlib import Path

import pytest
from workflows import Workflow, step
from workflows.events import StartEvent, StopEvent

from jupyter_wfresume import durable

pytestmark = pytest.mark.usefixtures("work_dir")

INNER = """
from pathlib import Path
from workflows import Workflow, step
from workflows.events import StartEvent, StopEvent

class Inner(Workflow):
    @step
    async def work(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=ev.n * {factor})

class Outer(Workflow):
    @step
    async def only(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=await Inner().run(n=ev.n))
"""


class First(Workflow):
    """One workflow of a name."""

    @step
    async def work(self, ev: StartEvent) -> StopEvent:
        """Say which."""
        return StopEvent(result="first")


class Second(Workflow):
    """Another of the same name, whose step is called alike."""

    @step
    async def work(self, ev: StartEvent) -> StopEvent:
        """Say which."""
        return StopEvent(result="second")


async def _outer(factor: int, work_dir: Path) -> object:
    cell = work_dir / f"cell{factor}.py"
    cell.write_text(INNER.format(factor=factor))
    names: dict[str, object] = {"__name__": "__main__"}
    exec(compile(cell.read_text(), str(cell), "exec"), names)
    async with durable("nested", board="none"):
        result: object = await names["Outer"](timeout=None).run(n=3)
    return result


async def test_an_edit_of_a_workflow_that_a_step_runs_takes_effect(work_dir: Path) -> None:
    """What an older version of an inner workflow gave is no answer of today's."""
    assert await _outer(2, work_dir) == 6
    assert await _outer(5, work_dir) == 15
    assert await _outer(2, work_dir) == 6


async def test_keeping_old_code_keeps_no_other_workflow() -> None:
    """``stale="keep"`` accepts an older version of a step, not a step of another class with its name."""
    async with durable("both", board="none"):
        assert await First(timeout=None).run(n=1) == "first"
    async with durable("both", board="none", stale="keep"):
        assert await Second(timeout=None).run(n=1) == "second"
