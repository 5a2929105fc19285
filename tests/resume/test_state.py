"""The state over a kill: what finished executions wrote stays, what dead ones wrote goes or is named."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from workflows import Context, Workflow, step
from workflows.errors import WorkflowCancelledByUser
from workflows.events import StartEvent, StopEvent

from tests.resume.lives import Life, Write, live, put_back, ran
from tests.resume.workflows import Done, Item


class World:
    """Lets one execution wait for the other."""

    wrote: asyncio.Event
    recorded: asyncio.Event


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> type[World]:
    """A world in which nothing has been written yet."""
    monkeypatch.setattr(World, "wrote", asyncio.Event(), raising=False)
    monkeypatch.setattr(World, "recorded", asyncio.Event(), raising=False)
    return World


class Counts(Workflow):
    """Item 0 writes first and finishes last."""

    @step
    async def split(self, ctx: Context, ev: StartEvent) -> Item | None:
        ctx.send_event(Item(i=0))
        ctx.send_event(Item(i=1))
        return None

    @step(num_workers=2)
    async def work(self, ctx: Context, ev: Item) -> Done:
        ran(f"work {ev.i}")
        if ev.i == 1:
            await World.wrote.wait()
        async with ctx.store.edit_state() as state:
            state["shared"] = state.get("shared", 0) + 1
            state[f"own {ev.i}"] = state.get(f"own {ev.i}", 0) + 1
        if ev.i == 0:
            World.wrote.set()
            await asyncio.wait_for(World.recorded.wait(), 10)
        return Done(i=ev.i)

    @step(num_workers=1)
    async def note(self, ctx: Context, ev: Done) -> StopEvent | None:
        World.recorded.set()
        got = ctx.collect_events(ev, [Done, Done])
        if got is None:
            return None
        return StopEvent(result={key: await ctx.store.get(key) for key in ("shared", "own 0", "own 1")})


def after_result_of(life: Life, step: str, index: int) -> list[Write]:
    """The writes up to the first result of ``STEP[N]``."""
    for at, write in enumerate(life.writes):
        data = write.args[1] if write.method == "append" else b""
        if f'"s":"{step}"'.encode() in data and f'"i":{index},'.encode() in data and b'"k":"R"' in data:
            return life.writes[: at + 1]
    raise AssertionError(f"{step}[{index}] has no result")


async def test_a_dead_executions_writes_are_not_kept(tmp_path: Path, world: type[World]) -> None:
    """What a dead execution wrote under a key of its own does not count twice; a key that a finished one
    built on is named with that execution."""
    whole = await live(tmp_path / "whole", lambda: Counts().run())
    assert whole.result == {"shared": 2, "own 0": 1, "own 1": 1}
    kept = after_result_of(whole, "work", 1)
    world.wrote.set()
    world.recorded.set()
    put_back(tmp_path / "second", kept)
    second = await live(tmp_path / "second", lambda: Counts().run())
    assert second.error is None
    assert dict(second.ran) == {"work 0": 1}
    assert second.result["own 0"] == 1
    assert second.result["own 1"] == 1
    notes = second.views[-1].notes
    assert [n for n in notes if "shared" in n and "work[1]" in n], notes
    assert not [n for n in notes if "own" in n], notes


class Slow(Workflow):
    @step
    async def one(self, ctx: Context, ev: StartEvent) -> Item:
        ran("one")
        await ctx.store.set("n", 1)
        return Item(i=1)

    @step
    async def two(self, ctx: Context, ev: Item) -> Done:
        ran("two")
        async with ctx.store.edit_state() as state:
            state["n"] += 10
        World.wrote.set()
        await World.recorded.wait()
        return Done(i=ev.i)

    @step
    async def three(self, ctx: Context, ev: Done) -> StopEvent:
        return StopEvent(result=await ctx.store.get("n"))


async def test_a_cancelled_run_goes_on(tmp_path: Path, world: type[World]) -> None:
    """After ``handler.cancel_run()`` the run resumes at what was cut off, whose writes do not count."""
    store = tmp_path / "store"

    async def cancelled() -> Any:
        handler = Slow().run()
        await World.wrote.wait()
        await handler.cancel_run()
        return await handler

    first = await live(store, cancelled)
    assert isinstance(first.error, WorkflowCancelledByUser), first.error
    assert first.views[-1].status == "paused"
    world.recorded.set()
    second = await live(store, lambda: Slow().run())
    assert second.result == 11
    assert dict(second.ran) == {"two": 1}


class Chat(Workflow):
    @step
    async def turn(self, ctx: Context, ev: StartEvent) -> StopEvent:
        ran(f"turn {ev.said}")
        async with ctx.store.edit_state() as state:
            state["memory"] = [*state.get("memory", []), ev.said]
        return StopEvent(result=await ctx.store.get("memory"))


async def conversation() -> Any:
    chat = Chat()
    ctx: Context[Any] = Context(chat)
    said = [await chat.run(ctx=ctx, said=word) for word in ("Ada", "hello", "hello", "who am I")]
    return said, await ctx.store.get("memory")


async def test_a_conversation_survives_turn_by_turn(tmp_path: Path) -> None:
    """A conversation over a passed ``ctx=`` goes on after a kill: finished turns come from the record, with
    their state."""
    whole = await live(tmp_path / "whole", conversation)
    assert whole.error is None
    words = ["Ada", "hello", "hello", "who am I"]
    assert whole.result == ([words[:1], words[:2], words[:3], words], words)
    for cut in range(len(whole.writes) + 1):
        kept = whole.writes[:cut]
        put_back(tmp_path / f"cut {cut}", kept)
        again = await live(tmp_path / f"cut {cut}", conversation)
        assert again.result == whole.result, f"after write {cut}: {again.error!r}"
        finished = sum(w.method == "append" and b'"k":"R"' in w.args[1] for w in kept)
        assert sum(again.ran.values()) == len(words) - finished, f"after write {cut}"


class BodyState(Workflow):
    @step
    async def wait(self, ctx: Context, ev: StartEvent) -> Item:
        await World.wrote.wait()
        return Item(i=1)

    @step
    async def read(self, ctx: Context, ev: Item) -> StopEvent:
        ran("read")
        return StopEvent(result=await ctx.store.get("by_body", None))


async def test_what_the_body_writes_is_kept(tmp_path: Path, world: type[World]) -> None:
    """A value that the body sets through ``handler.ctx.store`` is there after a kill, even if the body sets
    it no more."""

    async def writes() -> Any:
        handler = BodyState().run()
        await handler.ctx.store.set("by_body", {"a": [1, (2, 3)]})
        World.wrote.set()
        return await handler

    whole = await live(tmp_path / "whole", writes)
    assert whole.result == {"a": [1, (2, 3)]}
    put_back(tmp_path / "second", after_result_of(whole, "wait", 0))
    second = await live(tmp_path / "second", lambda: BodyState().run())
    assert second.result == {"a": [1, (2, 3)]}
    assert dict(second.ran) == {"read": 1}
