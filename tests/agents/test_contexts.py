"""What tells calls apart: the instance's attributes, and the content of a passed ``ctx=``."""

from __future__ import annotations

import threading
import uuid
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from workflows import Context, Workflow, step
from workflows.events import StartEvent, StopEvent

from jupyter_wfresume import durable, runs
from tests.counting import bump, counts

pytestmark = pytest.mark.usefixtures("work_dir")

LOG = "log"
WHEN = datetime(2020, 2, 2, tzinfo=timezone.utc)


class Talks(Workflow):
    """Keeps in the store what the engine's own JSON changes."""

    @step
    async def turn(self, ctx: Context, ev: StartEvent) -> StopEvent:
        bump(LOG, f"turn {ev.said}")
        before = await ctx.store.get("kept", None)
        kept = {"pair": (1, 2), "when": WHEN, "frame": pd.DataFrame({"a": [1, 2]}), 3: {4}}
        if before is not None:
            assert before.pop("said")[-1] < ev.said
            pd.testing.assert_frame_equal(before["frame"], kept["frame"])
            assert {k: v for k, v in before.items() if k != "frame"} == {"pair": (1, 2), "when": WHEN, 3: {4}}
        said = [*((await ctx.store.get("said", None)) or []), ev.said]
        await ctx.store.set("said", said)
        await ctx.store.set("kept", {**kept, "said": said})
        return StopEvent(result=len(said))


async def talk(turns: int, **first: Any) -> list[int]:
    """Talk in one cell, with one context."""
    async with durable("talk", board="none"):
        workflow = Talks(timeout=None)
        ctx = Context(workflow)
        for name, value in first.items():
            await ctx.store.set(name, value)
        return [await workflow.run(said=n, ctx=ctx) for n in range(turns)]


async def test_each_turn_finds_what_the_turn_before_left() -> None:
    """The second cell's first turns are recorded, and its next one gets their values in type and value."""
    assert await talk(2) == [1, 2]
    assert await talk(3) == [1, 2, 3]
    assert counts(LOG) == {"turn 0": 1, "turn 1": 1, "turn 2": 1}


async def test_another_content_of_the_context_is_another_call() -> None:
    """The same start event with another state to begin with is executed; with an equal one it is not."""
    assert await talk(1) == [1]
    assert await talk(1, said=[-1]) == [2]
    assert await talk(1, said=[-1]) == [2]
    assert counts(LOG) == {"turn 0": 2}
    assert len(runs()) == 2


def failing(now: bool | None = None) -> bool:
    """Whether the step fails; set it with a value."""
    if now:
        Path("fail").touch()
    elif now is False:
        Path("fail").unlink()
    return Path("fail").exists()


class Model(Workflow):
    """An instance with settings, an id, a secret and a client."""

    def __init__(self, model: str, **more: Any) -> None:
        super().__init__(timeout=None, **more)
        self.model = model
        self.uid = str(uuid.uuid4())
        self.api_key = uuid.uuid4().hex
        self.client = threading.Lock()
        self.calls = 0

    @step
    async def call(self, ev: StartEvent) -> StopEvent:
        self.calls += 1
        bump(LOG, self.model)
        if failing():
            raise ValueError("not now")
        return StopEvent(result=self.model)


async def ask(workflow: Workflow) -> Any:
    """Run it in a cell of its own."""
    async with durable("model", board="none"):
        return await workflow.run()


async def test_settings_of_the_instance_tell_calls_apart() -> None:
    """Another model is another call; a random id, a secret and a client are none."""
    assert [await ask(Model("a")), await ask(Model("b")), await ask(Model("a"))] == ["a", "b", "a"]
    assert counts(LOG) == {"a": 1, "b": 1}


async def test_a_count_on_self_is_no_edit() -> None:
    """A step that counts on ``self`` does not make the rerun in the same kernel another call."""
    workflow = Model("a")
    failing(True)
    for _ in range(2):
        with pytest.raises(ValueError, match="not now"):
            await ask(workflow)
    failing(False)
    assert await ask(workflow) == "a"
    assert await ask(workflow) == "a"
    assert (counts(LOG), workflow.calls, len(runs())) == ({"a": 3}, 3, 1)
    workflow.model = "b"
    assert await ask(workflow) == "b"
    assert len(runs()) == 2
