"""What a user's odd values do to a cell: never a hang."""

from __future__ import annotations

from typing import Any

import pytest
from workflows import Workflow, step
from workflows.events import Event, StartEvent, StopEvent

from jupyter_wfresume import durable, open_run
from jupyter_wfresume.codec import digest
from jupyter_wfresume.errors import CannotKeepError

pytestmark = pytest.mark.usefixtures("work_dir")


class Shy:
    """Cannot be shown."""

    def __repr__(self) -> str:
        raise ArithmeticError


class Given(Event):
    """Carries anything."""

    value: Any


class FailsOnShy(Workflow):
    """Fails on an input that cannot be shown."""

    @step
    async def make(self, ev: StartEvent) -> Given:
        """Make it."""
        return Given(value=Shy())

    @step
    async def use(self, ev: Given) -> StopEvent:
        """Fail."""
        raise ValueError("the user's own")


async def test_a_failure_on_an_input_that_cannot_be_shown_is_raised() -> None:
    """A ``__repr__`` that raises neither hides the step's own exception nor keeps the cell waiting."""
    with pytest.raises(ValueError, match="the user's own"):
        async with durable("shy", board="none"):
            await FailsOnShy(timeout=None).run()
    run = open_run("shy")
    assert run.status == "failed"
    assert "Given" in run.header.error.input
    assert "ArithmeticError" in run.header.error.input


class Joins(Workflow):
    """Fails on the events of a fan-in."""

    @step
    async def make(self, ev: StartEvent) -> list[Given]:
        """Make two."""
        return [Given(value=n) for n in range(2)]

    @step
    async def join(self, ev: list[Given]) -> StopEvent:
        """Fail."""
        raise ValueError


async def test_the_input_of_a_failed_fan_in_is_its_events() -> None:
    """The board shows what the step got, and nothing of the engine's around it."""
    with pytest.raises(ValueError):  # noqa: PT011  # it has no text
        async with durable("joins", board="none"):
            await Joins(timeout=None).run()
    error = open_run("joins").header.error
    assert error is not None
    assert error.input == "[Given(value=0), Given(value=1)]"


class Exhausts(Workflow):
    """Takes the first of nothing, in a thread."""

    @step
    def take(self, ev: StartEvent) -> StopEvent:
        """Take it."""
        nothing: list[int] = []
        return StopEvent(result=next(iter(nothing)))


async def test_a_step_in_a_thread_that_runs_out_of_items_fails() -> None:
    """``StopIteration`` from a thread ends the run as a failure; it does not keep the cell waiting."""
    with pytest.raises(RuntimeError, match="StopIteration") as raised:
        async with durable("exhausts", board="none"):
            await Exhausts(timeout=None).run()
    assert isinstance(raised.value.__cause__, StopIteration)
    assert open_run("exhausts").status == "failed"


def test_the_path_to_a_value_deep_inside_can_be_read() -> None:
    """A long path is cut in its middle; its beginning and its end are told."""
    value: Any = Shy()
    for _ in range(200):
        value = [value]
    with pytest.raises(CannotKeepError) as raised:
        digest({"first": value})
    assert raised.value.path.startswith("['first'][0]")
    assert "…" in raised.value.path
    assert len(raised.value.path) < 80
