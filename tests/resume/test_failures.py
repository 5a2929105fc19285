"""A step that fails: what is finished stays, siblings may finish, and the next life tries again."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from workflows import Context, Workflow, step
from workflows.events import StartEvent, StopEvent
from workflows.retry_policy import retry_policy, stop_after_attempt, wait_fixed

from jupyter_wfresume.runtime.worker import DRAIN_S
from tests.resume.lives import live, ran, records_of
from tests.resume.workflows import Done, Item, Part


class Broken(Exception):
    """The user's own."""

    def __init__(self, code: int) -> None:
        self.code = code
        super().__init__(f"code {code}")


class World:
    """What differs between one life and the next."""

    broken = True
    error: Broken
    started: asyncio.Event
    failed: asyncio.Event


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> type[World]:
    """A broken world, with an exception to raise."""
    monkeypatch.setattr(World, "broken", True)
    monkeypatch.setattr(World, "error", Broken(7), raising=False)
    monkeypatch.setattr(World, "started", asyncio.Event(), raising=False)
    monkeypatch.setattr(World, "failed", asyncio.Event(), raising=False)
    return World


class ThreeSteps(Workflow):
    @step
    async def one(self, ev: StartEvent) -> Item:
        ran("one")
        return Item(i=1)

    @step
    async def two(self, ev: Item) -> Part:
        ran("two")
        return Part(i=ev.i, j=2)

    @step
    async def three(self, ev: Part) -> StopEvent:
        ran("three")
        if World.broken:
            raise World.error
        return StopEvent(result=ev.j)


async def test_only_the_failed_step_runs_again(tmp_path: Path, world: type[World]) -> None:
    """After a fix the finished steps are not executed again; the failed one is, once."""
    store = tmp_path / "store"
    first = await live(store, lambda: ThreeSteps().run())
    assert first.error is world.error
    assert first.views[-1].status == "failed"
    assert first.session is not None
    assert "three[0] failed" in (first.session.sentence_for(world.error) or "")
    world.broken = False
    second = await live(store, lambda: ThreeSteps().run())
    assert second.result == 2
    assert dict(second.ran) == {"three": 1}


async def test_a_failure_may_be_caught_by_the_body(tmp_path: Path, world: type[World]) -> None:
    """A body that catches the step's exception goes on, with its type and attributes in hand."""

    async def body() -> Any:
        try:
            await ThreeSteps().run()
        except Broken as error:
            return error.code

    assert (await live(tmp_path / "store", body)).result == 7


class Siblings(Workflow):
    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        ran("split")
        return [Item(i=i) for i in range(5)]

    @step(num_workers=2)
    async def work(self, ev: Item) -> Done:
        ran(f"work {ev.i}")
        if ev.i == 0 and World.broken:
            await World.started.wait()
            World.failed.set()
            raise World.error
        World.started.set()
        await World.failed.wait()
        for _ in range(20):
            await asyncio.sleep(0)
        return Done(i=ev.i)

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        ran("join")
        return StopEvent(result=sorted(d.i for d in ev))


async def test_siblings_in_flight_finish_and_nothing_new_starts(tmp_path: Path, world: type[World]) -> None:
    """What runs beside a failing execution is recorded before the error is raised; nothing new starts."""
    store = tmp_path / "store"
    first = await live(store, lambda: Siblings().run())
    assert first.error is world.error
    assert dict(first.ran) == {"split": 1, "work 0": 1, "work 1": 1}
    world.broken = False
    second = await live(store, lambda: Siblings().run())
    assert second.result == [0, 1, 2, 3, 4]
    assert dict(second.ran) == {"work 0": 1, "work 2": 1, "work 3": 1, "work 4": 1, "join": 1}


class FailsFirst(Workflow):
    """Its first item fails before the others, dispatched with it, have begun."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(i=i) for i in range(3)]

    @step(num_workers=3)
    async def work(self, ev: Item) -> Done:
        ran(f"work {ev.i}")
        if World.broken:
            raise World.error
        return Done(i=ev.i)

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        return StopEvent(result=len(ev))


async def test_what_has_not_begun_does_not_hold_a_failure_back(tmp_path: Path, world: type[World]) -> None:
    """Executions that were dispatched but had not begun are not waited for, and are not started."""
    store = tmp_path / "store"
    began = time.monotonic()
    first = await live(store, lambda: FailsFirst().run())
    assert first.error is world.error
    assert dict(first.ran) == {"work 0": 1}
    assert time.monotonic() - began < DRAIN_S / 2
    world.broken = False
    assert (await live(store, lambda: FailsFirst().run())).result == 3


class TwoFail(Workflow):
    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(i=i) for i in range(2)]

    @step(num_workers=2)
    async def work(self, ev: Item) -> Done:
        ran(f"work {ev.i}")
        if World.broken and ev.i == 0:
            await World.started.wait()
            World.failed.set()
            raise World.error
        if World.broken:
            World.started.set()
            await World.failed.wait()
            await asyncio.sleep(0)
            raise Broken(8)
        return Done(i=ev.i)

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        return StopEvent(result=len(ev))


async def test_both_failures_are_on_record(tmp_path: Path, world: type[World]) -> None:
    """Two executions that fail for good side by side are both on record, and both run again."""
    store = tmp_path / "store"
    first = await live(store, lambda: TwoFail().run())
    assert isinstance(first.error, Broken)
    records = records_of(store, first.views[-1].run_id)
    assert sorted(r["i"] for r in records if r["k"] == "F") == [0, 1]
    world.broken = False
    second = await live(store, lambda: TwoFail().run())
    assert second.result == 2
    assert dict(second.ran) == {"work 0": 1, "work 1": 1}


class Slow(Workflow):
    """One item fails for good at once while the other waits out the delay of its retry."""

    @step
    async def split(self, ctx: Context, ev: StartEvent) -> Item | Part | None:
        ctx.send_event(Item(i=1))
        ctx.send_event(Part(i=0, j=0))
        return None

    @step(retry_policy=retry_policy(wait=wait_fixed(0.2), stop=stop_after_attempt(3)))
    async def patient(self, ctx: Context, ev: Item) -> Done:
        tries = ctx.retry_info().retry_number
        ran(f"patient {tries}")
        if tries < 2:
            World.failed.set()
            raise ValueError(tries)
        return Done(i=tries, v=repr(ctx.retry_info().last_exception))

    @step(retry_policy=retry_policy(wait=wait_fixed(0), stop=stop_after_attempt(2)))
    async def hasty(self, ctx: Context, ev: Part) -> Done:
        await World.failed.wait()
        await asyncio.sleep(0.01)
        ran(f"hasty {ctx.retry_info().retry_number}")
        if World.broken:
            raise World.error
        return Done(i=ctx.retry_info().retry_number)

    @step
    async def join(self, ctx: Context, ev: Done) -> StopEvent | None:
        got = ctx.collect_events(ev, [Done, Done])
        return None if got is None else StopEvent(result=sorted((d.i, d.v) for d in got))


async def test_only_the_failed_one_has_a_fresh_budget(tmp_path: Path, world: type[World]) -> None:
    """What failed for good begins its attempts anew; what waited for its retry keeps its count."""
    store = tmp_path / "store"
    first = await live(store, lambda: Slow().run())
    assert first.error is world.error
    assert dict(first.ran) == {"patient 0": 1, "hasty 0": 1, "hasty 1": 1}
    world.broken = False
    second = await live(store, lambda: Slow().run())
    assert dict(second.ran) == {"hasty 0": 1, "patient 1": 1, "patient 2": 1}
    assert second.result == [(0, ""), (2, "ValueError(1)")]


async def test_the_fresh_budget_lasts_one_life(tmp_path: Path, world: type[World]) -> None:
    """Still broken, the failed execution uses up its whole budget again in each life."""
    store = tmp_path / "store"
    await live(store, lambda: Slow().run())
    second = await live(store, lambda: Slow().run())
    assert second.error is world.error
    assert second.ran["hasty 0"] == 1
    assert second.ran["hasty 1"] == 1


class Policy:
    """A retry policy of the user that is broken itself."""

    def next(self, elapsed_time: float, attempts: int, error: Exception) -> float | None:
        raise World.error


class BadPolicy(Workflow):
    @step(retry_policy=Policy())
    async def only(self, ev: StartEvent) -> StopEvent:
        ran("only")
        if World.broken:
            raise LookupError("first")
        return StopEvent(result=1)


async def test_a_policy_that_raises_fails_the_run(tmp_path: Path, world: type[World]) -> None:
    """A retry policy that raises ends the run with its own error, as in the engine, and the run resumes."""
    store = tmp_path / "store"
    first = await live(store, lambda: BadPolicy().run())
    assert first.error is world.error
    assert isinstance(world.error.__cause__, LookupError)
    world.broken = False
    assert (await live(store, lambda: BadPolicy().run())).result == 1


class StuckInStream(Workflow):
    """An item that nobody takes keeps a list from being complete; the engine fails such a run."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        ran("split")
        return [Item(i=i) for i in range(2)]

    @step
    async def work(self, ctx: Context, ev: Item) -> Done:
        ran(f"work {ev.i}")
        if ev.i == 1 and World.broken:
            raise World.error
        return Done(i=ev.i)

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        return StopEvent(result=len(ev))


async def test_three_failed_lives_then_success(tmp_path: Path, world: type[World]) -> None:
    """However often a run fails, what was recorded stays, and no life doubles what another has sent."""
    store = tmp_path / "store"
    for life in range(3):
        got = await live(store, lambda: StuckInStream().run())
        assert got.error is world.error
        assert got.ran["split"] == (1 if life == 0 else 0)
        assert got.ran["work 0"] == (1 if life == 0 else 0)
    world.broken = False
    last = await live(store, lambda: StuckInStream().run())
    assert last.result == 2
    assert dict(last.ran) == {"work 1": 1}
