"""What a step, or the body, sends is delivered once over all lives."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from workflows import Context, Workflow, step
from workflows.events import HumanResponseEvent, StartEvent, StopEvent

from tests.resume.lives import Life, Write, live, put_back, ran
from tests.resume.workflows import Done, Item


class World:
    """What differs between one life and the next."""

    first = 0
    expected = 3


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> type[World]:
    """The world of the first life."""
    monkeypatch.setattr(World, "first", 0)
    monkeypatch.setattr(World, "expected", 3)
    return World


class Sends(Workflow):
    @step
    async def split(self, ctx: Context, ev: StartEvent) -> Item | None:
        ran("split")
        for i in (World.first, 1, 2):
            ctx.send_event(Item(i=i))
            await asyncio.sleep(0.002)
        return None

    @step(num_workers=4)
    async def work(self, ev: Item) -> Done:
        ran(f"work {ev.i}")
        return Done(i=ev.i)

    @step(num_workers=1)
    async def join(self, ctx: Context, ev: Done) -> StopEvent | None:
        got = ctx.collect_events(ev, [Done] * World.expected)
        return None if got is None else StopEvent(result=sorted(d.i for d in got))


def after_sends(life: Life, number: int) -> list[Write]:
    """The writes up to the record of the N-th send."""
    for at, write in enumerate(life.writes):
        if write.method == "append" and b'"em":' in write.args[1]:
            number -= 1
            if not number:
                return life.writes[: at + 1]
    raise AssertionError("there are not so many sends")


@pytest.mark.parametrize("sent", [1, 2, 3])
async def test_a_step_killed_between_its_sends(sent: int, tmp_path: Path, world: type[World]) -> None:
    """Killed after some of its sends, in a second life again, a step sends each event once in all."""
    whole = await live(tmp_path / "whole", lambda: Sends().run())
    assert whole.result == [0, 1, 2]
    kept = after_sends(whole, sent)
    for life in range(3):
        store = tmp_path / f"life {life}"
        put_back(store, kept)
        again = await live(store, lambda: Sends().run())
        assert again.result == [0, 1, 2], f"life {life}"
        assert again.ran["split"] == 1
        assert not [note for note in again.views[-1].notes if "sent another" in note]
        upto = next(i for i, w in enumerate(again.writes) if w.method == "append" and b'"k":"R"' in w.args[1])
        kept = kept + again.writes[:upto]


async def test_another_event_than_before_is_delivered_and_told(tmp_path: Path, world: type[World]) -> None:
    """Where the n-th send is another event than in the life before, both are delivered and the user is told;
    a third life that sends the same as the second adds nothing."""
    whole = await live(tmp_path / "whole", lambda: Sends().run())
    kept = after_sends(whole, 2)
    world.first, world.expected = 10, 4
    put_back(tmp_path / "second", kept)
    second = await live(tmp_path / "second", lambda: Sends().run())
    assert second.result == [0, 1, 2, 10]
    assert [note for note in second.views[-1].notes if "split[0] sent another event" in note]
    put_back(tmp_path / "third", kept + after_sends(second, 1))
    third = await live(tmp_path / "third", lambda: Sends().run())
    assert third.result == [0, 1, 2, 10]


class Nudge(HumanResponseEvent):
    i: int


class Nudged(Workflow):
    """Waits for three events that the body sends."""

    @step
    async def begin(self, ev: StartEvent) -> None:
        ran("begin")

    @step
    async def take(self, ctx: Context, ev: Nudge) -> StopEvent | None:
        ran(f"take {ev.i}")
        got = ctx.collect_events(ev, [Nudge] * World.expected)
        return None if got is None else StopEvent(result=sorted(n.i for n in got))


async def nudging() -> Any:
    handler = Nudged().run()
    for i in (World.first, 1, 2):
        handler.ctx.send_event(Nudge(i=i))
    return await handler


async def test_the_body_sends_once_over_all_lives(tmp_path: Path, world: type[World]) -> None:
    """What the body sent in an earlier life is not delivered again, wherever that life ended."""
    whole = await live(tmp_path / "whole", nudging)
    assert whole.result == [0, 1, 2]
    for cut in range(len(whole.writes) + 1):
        store = tmp_path / f"cut {cut}"
        put_back(store, whole.writes[:cut])
        again = await live(store, nudging)
        assert again.result == [0, 1, 2], f"after write {cut}: {again.error!r}"


async def test_the_body_sends_another_event_than_before(tmp_path: Path, world: type[World]) -> None:
    """Another event than in the life before is delivered too, and the user is told."""
    whole = await live(tmp_path / "whole", nudging)
    sent = next(i for i, w in enumerate(whole.writes) if w.method == "append" and b'"o":"body"' in w.args[1])
    world.first, world.expected = 10, 4
    put_back(tmp_path / "second", whole.writes[: sent + 1])
    second = await live(tmp_path / "second", nudging)
    assert second.result == [0, 1, 2, 10]
    assert [note for note in second.views[-1].notes if "the cell sent another Nudge" in note]
