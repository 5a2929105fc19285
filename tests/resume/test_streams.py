"""A body that reads a run's stream sees what it would see without the restart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workflows import Context, Workflow, step
from workflows.events import Event, HumanResponseEvent, InputRequiredEvent, StartEvent, StopEvent

from tests.resume.lives import live, ran
from tests.resume.workflows import Done, Item

READY = {"now": False}


class Said(Event):
    """Progress, as a body shows it."""

    text: str


class Chatty(Workflow):
    """Streams from three steps; the last one fails until it is ready."""

    @step
    async def one(self, ctx: Context, ev: StartEvent) -> Item:
        ran("one")
        for text in ("a", "b"):
            ctx.write_event_to_stream(Said(text=text))
        return Item(i=1)

    @step
    async def two(self, ctx: Context, ev: Item) -> Done:
        ran("two")
        ctx.write_event_to_stream(Said(text="c"))
        return Done(i=2)

    @step
    async def three(self, ctx: Context, ev: Done) -> StopEvent:
        ran("three")
        if not READY["now"]:
            raise ValueError("not yet")
        ctx.write_event_to_stream(Said(text="d"))
        return StopEvent(result="whole")


async def _read(flow: Workflow) -> tuple[str, Any]:
    handler = flow.run()
    texts = [event.text async for event in handler.stream_events() if isinstance(event, Said)]
    return "".join(texts), await handler


async def test_a_resumed_and_a_recorded_run(tmp_path: Path) -> None:
    """What finished executions had streamed comes first in a resumed run, and again from a recorded one."""
    store = tmp_path / "store"
    READY["now"] = False
    first = await live(store, lambda: _read(Chatty()))
    assert isinstance(first.error, ValueError)
    READY["now"] = True
    second = await live(store, lambda: _read(Chatty()))
    assert second.result == ("abcd", "whole")
    assert dict(second.ran) == {"three": 1}
    third = await live(store, lambda: _read(Chatty()))
    assert third.result == second.result
    assert dict(third.ran) == {}


class Asked(InputRequiredEvent):
    """A question."""


class Answer(HumanResponseEvent):
    """Its answer."""


class Asking(Workflow):
    """Streams, asks, and fails behind the answer until it is ready."""

    @step
    async def ask(self, ctx: Context, ev: StartEvent) -> Asked:
        ran("ask")
        ctx.write_event_to_stream(Said(text="a"))
        return Asked()

    @step
    async def heard(self, ev: Answer) -> Done:
        ran("heard")
        return Done(i=1)

    @step
    async def last(self, ev: Done) -> StopEvent:
        ran("last")
        if not READY["now"]:
            raise ValueError("not yet")
        return StopEvent(result="whole")


async def _answering() -> tuple[list[str], Any]:
    seen, handler = [], Asking().run()
    async for event in handler.stream_events():
        seen.append(type(event).__name__)
        if isinstance(event, Said):
            assert handler.ctx is not None
            handler.ctx.send_event(Answer())
    return seen, await handler


async def test_a_body_that_sends_what_it_reads_for(tmp_path: Path) -> None:
    """A body that sends events for what it reads does not read the same again: nothing is sent twice."""
    store = tmp_path / "store"
    READY["now"] = False
    first = await live(store, _answering)
    assert isinstance(first.error, ValueError)
    assert first.ran["heard"] == 1
    READY["now"] = True
    second = await live(store, _answering)
    assert second.result == (["StopEvent"], "whole")
    assert dict(second.ran) == {"last": 1}
    third = await live(store, _answering)
    assert third.result == (["Said", "StopEvent"], "whole")
    assert dict(third.ran) == {}
