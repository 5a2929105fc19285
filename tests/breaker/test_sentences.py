"""What is said of a run that did not end well is true."""

import asyncio
import contextlib
import importlib
import sys
from pathlib import Path

import pytest
from workflows import Workflow, step
from workflows.errors import WorkflowCancelledByUser, WorkflowTimeoutError
from workflows.events import StartEvent, StopEvent

from jupyter_wfresume import durable, open_run
from jupyter_wfresume.errors import RunEnded

pytestmark = pytest.mark.usefixtures("work_dir")


class Waits(Workflow):
    """Takes for ever."""

    @step
    async def wait(self, ev: StartEvent) -> StopEvent:
        """Wait for nothing."""
        await asyncio.Event().wait()
        return StopEvent()


async def test_the_budget_that_is_named_is_the_one_that_was_used_up() -> None:
    """With ``timeout=`` the sentence names those seconds, not the workflow's own."""
    with pytest.raises(WorkflowTimeoutError):
        async with durable("waits", timeout=0.2, board="none"):
            await Waits().run()
    assert "time budget of 0.2 s" in open_run("waits").header.sentence


async def test_an_event_class_of_a_module_that_was_loaded_again_is_named(
    work_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workflow waits for the old class, so the run does not start, and the class is named."""
    (work_dir / "pings.py").write_text("from workflows.events import Event\n\nclass Ping(Event):\n    pass\n")
    monkeypatch.syspath_prepend(work_dir)
    pings = importlib.import_module("pings")
    monkeypatch.setitem(sys.modules, "pings", pings)

    class Pings(Workflow):
        @step
        async def make(self, ev: StartEvent) -> pings.Ping:
            return pings.Ping()

        @step
        async def take(self, ev: pings.Ping) -> StopEvent:
            return StopEvent()

    importlib.reload(pings)
    with pytest.raises(RunEnded, match="Ping was defined again after Pings"):
        async with durable("pings", board="none"):
            await Pings(timeout=None).run()


class Socket:
    """Nobody knows how to write it down."""


class GivesSocket(Workflow):
    """Ends with a result that cannot be kept."""

    @step
    async def give(self, ev: StartEvent) -> StopEvent:
        """Give it."""
        return StopEvent(result=Socket())


async def test_a_result_that_is_not_kept_is_no_failure() -> None:
    """The execution that gave it counts as done, beside the note that it runs again."""
    async with durable("socket", board="none"):
        await GivesSocket(timeout=None).run()
    run = open_run("socket")
    (view,) = run.header.steps
    assert (run.status, view.done, view.failed) == ("done", 1, 0)
    assert "cannot be kept" in run.header.notes[0]


async def test_the_time_of_a_step_that_was_cut_off_counts_as_elapsed() -> None:
    """A run whose only step never finished has run as long as that step had."""
    with pytest.raises(WorkflowTimeoutError):
        async with durable("cut", timeout=0.3, board="none"):
            await Waits().run()
    assert 0.3 <= open_run("cut").header.elapsed_s < 30


async def watched() -> list[float]:
    """What the board shows as elapsed while the first step works."""
    block = durable("long", timeout="none", board="none")
    async with block:
        handler = Waits().run()
        await asyncio.sleep(0.05)
        session = block._session
        assert session is not None
        seen = [life.view().elapsed_s for life in session._lives]
        await handler.cancel_run()
        with contextlib.suppress(WorkflowCancelledByUser):
            await handler
    return seen


async def test_a_long_step_moves_the_clock_of_the_board() -> None:
    """What is shown while the first step works says how long the run has been at it."""
    (seen,) = await watched()
    assert seen > 0
