"""What a start event holds tells calls apart, also where it cannot be kept."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from workflows import Workflow, step
from workflows.events import StartEvent, StopEvent

from jupyter_wfresume import durable, runs

pytestmark = pytest.mark.usefixtures("work_dir")


class Config:
    """Settings in a plain class, beside a thing that nobody can write down."""

    def __init__(self, model: str, api_key: str = "") -> None:
        self.model = model
        self.api_key = api_key
        self.lock = threading.Lock()


class Uses(Workflow):
    """Gives what its start event makes of a number."""

    @step
    async def use(self, ev: StartEvent) -> StopEvent:
        """Look at the settings."""
        return StopEvent(result=(ev.config.model, ev.change(1)))


async def use(config: Config, change: Any) -> Any:
    """One call."""
    async with durable("uses", board="none"):
        return await Uses(timeout=None).run(config=config, change=change)


async def test_other_settings_and_other_functions_are_other_calls() -> None:
    """A recorded result answers no call whose settings or function differ, and still answers its own."""
    assert await use(Config("small"), lambda n: n + 1) == ("small", 2)
    assert await use(Config("large"), lambda n: n + 1) == ("large", 2)
    assert await use(Config("large"), lambda n: n + 2) == ("large", 3)
    assert len(runs()) == 3
    assert await use(Config("small"), lambda n: n + 1) == ("small", 2)
    assert len(runs()) == 3


async def test_a_key_is_no_setting() -> None:
    """A new key in the settings is the same call."""
    for key in ("sk-one-0123456789", "sk-two-0123456789"):
        assert await use(Config("small", key), abs) == ("small", 1)
    assert len(runs()) == 1
