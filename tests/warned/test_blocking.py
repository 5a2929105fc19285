"""An ``async`` step that keeps the event loop busy is named once, with the user's line; nothing else is."""

from __future__ import annotations

import asyncio
import inspect
import sys
import time
from traceback import FrameSummary
from types import FrameType
from typing import Any

import pytest
from workflows import Workflow, step
from workflows.events import StartEvent, StopEvent

from jupyter_wfresume.runtime import blocking
from jupyter_wfresume.runtime.blocking import users_call
from tests.warned import flows
from tests.warned.conftest import Life, Lives
from tests.warned.flows import Blocks, Done, Item, Runs


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call counts as long after a fifth of a second."""
    monkeypatch.setattr(blocking, "CALL_S", 0.2)
    monkeypatch.setattr(blocking, "LOOK_S", 0.02)


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """The step that blocks goes on once it was noticed."""

    def looked(top: FrameType | None) -> list[FrameSummary]:
        frames = users_call(top)
        if frames:
            flows.HEARD.set()
        return frames

    monkeypatch.setattr(blocking, "users_call", looked)


def said(step: str) -> str:
    """The sentence about `wait_until_heard`."""
    lines, first = inspect.getsourcelines(flows.wait_until_heard)
    return (
        f"`{step}` keeps the event loop busy, and nothing else goes on: over 1 s in {flows.__file__}, "
        f"line {first + len(lines) - 1}: HEARD.wait(PATIENCE_S); "
        "call that with await asyncio.to_thread(...), or make the step a plain def"
    )


@pytest.mark.usefixtures("quick", "heard")
async def test_a_step_that_blocks_is_named_once_with_the_users_line(live: Lives) -> None:
    """Three executions block, of which the innermost line of the user's is told once."""
    life = await live(lambda life: Blocks(timeout=None).run())
    assert (life.result, life.notes) == (3, [said("work")])


@pytest.mark.usefixtures("quick", "heard")
async def test_a_step_of_a_run_below_is_named_where_the_user_looks(live: Lives) -> None:
    """The board shows the notes of the run that the cell started."""
    life = await live(lambda life: Runs(Blocks(timeout=None), timeout=None).run())
    assert life.notes == [said("work")]


class Sync(Workflow):
    """A plain function, which runs in a thread."""

    @step
    def only(self, ev: StartEvent) -> StopEvent:
        time.sleep(0.6)
        return StopEvent(result="plain")


class InAThread(Workflow):
    """Does what is advised."""

    @step
    async def only(self, ev: StartEvent) -> StopEvent:
        await asyncio.to_thread(time.sleep, 0.6)
        return StopEvent(result="thread")


class Many(Workflow):
    """Short calls, one after the other, and the loop's turn in between."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(n=n) for n in range(8)]

    @step
    async def work(self, ev: Item) -> Done:
        for _ in range(3):
            time.sleep(0.08)  # noqa: ASYNC251  # blocking is what is tried
            await asyncio.sleep(0)
        return Done(n=ev.n)

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        return StopEvent(result="many")


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("workflow", [Sync, InAThread])
async def test_a_call_in_a_thread_is_not_accused(live: Lives, workflow: type[Workflow]) -> None:
    """Neither a plain function as a step nor a step that waits for a thread keeps the loop busy."""
    life = await live(lambda life: workflow(timeout=None).run())
    assert (life.result is not None, life.notes) == (True, [])


async def test_many_short_calls_are_no_long_one(live: Lives) -> None:
    """Two seconds of short calls of several executions, none of which takes a second."""
    life = await live(lambda life: Many(timeout=None).run())
    assert (life.result, life.notes) == ("many", [])


async def test_a_body_that_blocks_is_not_accused(live: Lives, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cell's own code is no step."""
    monkeypatch.setattr(blocking, "CALL_S", 0.2)

    async def body(life: Life) -> Any:
        handler = Sync(timeout=None).run()
        await asyncio.sleep(0.05)
        time.sleep(0.5)  # noqa: ASYNC251  # blocking is what is tried
        return await handler

    assert (await live(body)).notes == []


def call_from(modules: list[str]) -> list[str]:
    """Names of the frames that are told, for a call through modules of these names, outermost first."""
    found: list[FrameSummary] = []

    def look() -> None:
        found.extend(users_call(sys._getframe(1)))

    inner: Any = look
    for module in reversed(modules):
        space: dict[str, Any] = {"__name__": module, "inner": inner}
        code = f"def {module.replace('.', '_')}():\n    inner()\n"
        exec(compile(code, f"{module}.py", "exec"), space)
        inner = space[module.replace(".", "_")]
    inner()
    return [frame.name for frame in found if frame.name not in ("call_from",)]


@pytest.mark.parametrize(
    ("modules", "told"),
    [
        (["workflows.step", "mine", "requests.api"], ["mine", "requests_api"]),
        (["workflows.step", "mine", "jupyter_wfresume.engine.state"], []),
        (["workflows.step", "mine", "workflows.context"], []),
        (["workflows.step", "mine", "importlib._bootstrap", "pandas"], []),
        (["workflows.step", "mine", "pdb"], []),
    ],
)
def test_our_own_work_the_engines_and_imports_are_not_accused(modules: list[str], told: list[str]) -> None:
    """What counts is whose code is on top: the user's and what it calls, but not ours below it."""
    assert call_from(modules) == told


async def test_the_lookout_ends_with_the_run(live: Lives) -> None:
    """No thread looks on once nothing runs any more."""
    seen: list[blocking.Lookout] = []

    async def body(life: Life) -> Any:
        handler = InAThread(timeout=None).run()
        seen.append(asyncio.get_running_loop().get_task_factory().lookout)  # type: ignore[union-attr]  # ours is there
        return await handler

    assert (await live(body)).result == "thread"
    assert seen[0]._ended.is_set()
