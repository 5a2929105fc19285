"""Time: the run's budget, and a waiter's, over lives and while a person is asked."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from workflows import Context, Workflow, step
from workflows.errors import WorkflowTimeoutError
from workflows.events import StartEvent, StopEvent
from workflows.retry_policy import retry_policy, stop_after_attempt, wait_fixed

from jupyter_wfresume.errors import RunEnded
from tests.resume.lives import Write, live, put_back, ran
from tests.resume.workflows import Answered, Asked, Done, Item, Part


class World:
    """What differs between one life and the next."""

    slow = True
    passed_s = 0.0


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> type[World]:
    """A slow world."""
    monkeypatch.setattr(World, "slow", True)
    monkeypatch.setattr(World, "passed_s", 0.0)
    return World


class Hangs(Workflow):
    @step
    async def one(self, ev: StartEvent) -> Item:
        ran("one")
        return Item(i=1)

    @step
    async def two(self, ev: Item) -> Done:
        ran("two")
        if World.slow:
            await asyncio.Event().wait()
        return Done(i=ev.i)

    @step
    async def three(self, ev: Done) -> StopEvent:
        ran("three")
        return StopEvent(result=ev.i)


async def test_a_used_up_budget_is_told_and_replaced(tmp_path: Path, world: type[World]) -> None:
    """A run that times out says so and names --timeout; with another budget it goes on where it was."""
    store = tmp_path / "store"
    first = await live(store, lambda: Hangs(timeout=0.3).run())
    assert isinstance(first.error, WorkflowTimeoutError)
    assert first.session is not None
    sentence = first.session.sentence_for(first.error) or ""
    assert "timed out" in sentence
    assert "--timeout" in sentence
    assert first.views[-1].status == "timed out"
    world.slow = False
    second = await live(store, lambda: Hangs(timeout=0.3).run(), timeout_s=float("inf"))
    assert second.result == 1
    assert dict(second.ran) == {"two": 1, "three": 1}


async def test_the_same_budget_is_used_up_at_once(tmp_path: Path, world: type[World]) -> None:
    """Resumed with the budget that it has used up, a run times out again and executes nothing."""
    store = tmp_path / "store"
    first = await live(store, lambda: Hangs(timeout=0.3).run())
    second = await live(store, lambda: Hangs(timeout=0.3).run())
    assert isinstance(second.error, WorkflowTimeoutError)
    assert dict(second.ran) == {}
    assert second.views[-1].elapsed_s >= first.views[-1].elapsed_s > 0


async def test_the_workflow_keeps_its_own_budget(tmp_path: Path, world: type[World]) -> None:
    """A budget given for one run does not stay with the workflow instance."""
    workflow = Hangs(timeout=77)
    world.slow = False
    life = await live(tmp_path / "store", lambda: workflow.run(), timeout_s=5.0)
    assert life.result == 1
    assert workflow._timeout == 77


class Asks(Workflow):
    @step
    async def ask(self, ctx: Context, ev: StartEvent) -> Part:
        got = await ctx.wait_for_event(Answered, waiter_event=Asked(question="0?"))
        ran(f"ask {got.answer}")
        return Part(i=1, j=1)

    @step
    async def end(self, ev: Part) -> StopEvent:
        return StopEvent(result=ev.i)


async def test_waiting_does_not_use_up_the_budget(tmp_path: Path) -> None:
    """While a person is asked the clock stands still: an answer after the budget's time is in time (C10)."""

    async def body() -> Any:
        handler = Asks(timeout=0.3).run()
        async for event in handler.stream_events():
            if isinstance(event, Asked):
                await asyncio.sleep(0.6)  # the time that passes is what is tested
                handler.ctx.send_event(Answered(answer="yes"))
        return await handler

    life = await live(tmp_path / "store", body)
    assert life.error is None
    assert dict(life.ran) == {"ask yes": 1}
    assert life.views[-1].elapsed_s < 0.3


async def test_a_run_that_waits_ends_as_waiting_and_goes_on(tmp_path: Path) -> None:
    """When the cell's patience ends, the run waits; run again, the question is there and an answer counts."""
    store = tmp_path / "store"
    first = await live(store, lambda: Asks(timeout=0.3).run(), wait_s=0.0)
    assert isinstance(first.error, RunEnded)
    assert first.error.status == "waiting"
    assert first.views[-1].questions[0].step == "ask"

    async def body() -> Any:
        handler = Asks(timeout=0.3).run()
        async for event in handler.stream_events():
            if isinstance(event, Asked):
                handler.ctx.send_event(Answered(answer="late"))
        return await handler

    second = await live(store, body)
    assert second.result == 1
    assert dict(second.ran) == {"ask late": 1}


WAITER_S = 0.4


class Impatient(Workflow):
    @step
    async def ask(self, ctx: Context, ev: StartEvent) -> StopEvent:
        try:
            got = await ctx.wait_for_event(Answered, waiter_event=Asked(question="0?"), timeout=WAITER_S)
        except asyncio.TimeoutError:
            ran("nobody")
            return StopEvent(result="nobody")
        return StopEvent(result=got.answer)


async def test_a_waiters_timeout_counts_driven_time_only(tmp_path: Path) -> None:
    """The time between two lives does not count for a waiter; in the next life its timeout is armed again."""
    store = tmp_path / "store"
    first = await live(store, lambda: Impatient().run(), wait_s=0.0)
    assert isinstance(first.error, RunEnded)
    await asyncio.sleep(WAITER_S + 0.1)  # the time that passes is what is tested
    second = await live(store, lambda: Impatient().run(), wait_s=0.0)
    assert isinstance(second.error, RunEnded), "the waiter timed out while nothing drove the run"
    loop = asyncio.get_running_loop()
    began = loop.time()
    third = await live(store, lambda: Impatient().run(), wait_s=float("inf"))
    assert third.result == "nobody"
    assert dict(third.ran) == {"nobody": 1}
    assert loop.time() - began > WAITER_S / 2


TAKES_S = 30.0


class Takes(Workflow):
    """Two steps that take 30 s each by the clock; the second one fails in a slow world."""

    @step
    async def one(self, ev: StartEvent) -> Item:
        ran("one")
        World.passed_s += TAKES_S
        return Item(i=1)

    @step
    async def two(self, ev: Item) -> StopEvent:
        ran("two")
        World.passed_s += TAKES_S
        if World.slow:
            raise ValueError("bad document")
        return StopEvent(result=ev.i)


def results(writes: list[Write], step_name: str) -> list[int]:
    """The places of the writes of a step's outcomes."""
    said = f'"s":"{step_name}"'.encode()
    return [i for i, write in enumerate(writes) if write.method == "append" and said in write.args[1]]


@pytest.mark.parametrize(("killed", "budget_s"), [(True, 50.0), (False, 80.0)])
async def test_a_budget_is_used_up_by_several_lives(
    tmp_path: Path, world: type[World], killed: bool, budget_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each life alone keeps to the budget; together they do not, so that the third executes nothing until it
    is given more time."""
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + World.passed_s)
    store = tmp_path / "store"
    first = await live(store, lambda: Takes(timeout=budget_s).run())
    assert isinstance(first.error, ValueError)
    if killed:  # after the first step's result was recorded, and nothing else
        store = tmp_path / "killed"
        put_back(store, first.writes[: results(first.writes, "one")[0] + 1])
    second = await live(store, lambda: Takes(timeout=budget_s).run())
    assert isinstance(second.error, ValueError)
    assert dict(second.ran) == {"two": 1}
    third = await live(store, lambda: Takes(timeout=budget_s).run())
    assert isinstance(third.error, WorkflowTimeoutError)
    assert dict(third.ran) == {}
    world.slow = False
    more = await live(store, lambda: Takes(timeout=budget_s).run(), timeout_s=6 * TAKES_S)
    assert more.result == 1
    assert dict(more.ran) == {"two": 1}


class Tries(Workflow):
    """A step that may be tried four times, and is never right."""

    @step(retry_policy=retry_policy(wait=wait_fixed(0), stop=stop_after_attempt(4)))
    async def work(self, ctx: Context, ev: StartEvent) -> StopEvent:
        ran(f"attempt {ctx.retry_info().retry_number}")
        raise ValueError("bad document")


async def test_attempts_are_counted_over_two_kills(tmp_path: Path) -> None:
    """Killed after the first failure is on record, and again after the next: four attempts are four."""
    life = await live(tmp_path / "store", lambda: Tries(timeout=None).run())
    assert dict(life.ran) == {f"attempt {n}": 1 for n in range(4)}
    kept: list[Write] = []
    for number in (1, 2):
        kept += life.writes[: results(life.writes, "work")[0] + 1]
        store = tmp_path / f"killed {number}"
        put_back(store, kept)
        life = await live(store, lambda: Tries(timeout=None).run())
        assert isinstance(life.error, ValueError)
        assert dict(life.ran) == {f"attempt {n}": 1 for n in range(number, 4)}
