"""What a user's odd values do to a cell: never a hang."""

from __future__ import annotations

from typing import Any

import pytest
from workflows import Workflow, step
from workflows.events import Event, StartEvent, StopEvent

from jupyter_wfresume import durable, open_run

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
