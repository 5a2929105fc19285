"""Workflows of which something should be known before they are paid for, and some that are fine."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from workflows import Context, Workflow, step
from workflows.events import Event, HumanResponseEvent, StartEvent, StopEvent

GO = asyncio.Event()
"""Lets `Held` go on."""

HEARD = threading.Event()
"""The step that blocks the loop was noticed."""

PATIENCE_S = 60.0


class Item(Event):
    """One work item."""

    n: int


class Special(Item):
    """A work item of another class."""


class Done(Event):
    """Its result."""

    n: int


class Left(Event):
    """One of two that belong together."""


class Right(Event):
    """The other."""


class Hello(Event):
    """For the stream."""


class Go(HumanResponseEvent):
    """What only the cell sends."""

    text: str


class Mute(Workflow):
    """Makes, out of sight, an event of a class that no step accepts."""

    def make(self) -> Item:
        """Make it."""
        return Special(n=1)

    @step
    async def split(self, ev: StartEvent) -> Item:
        return self.make()

    @step
    async def work(self, ev: Item) -> StopEvent:
        return StopEvent(result=type(ev).__name__)


class Plainly(Workflow):
    """Makes such an event right where it is returned, among others."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(n=0), Special(n=1)]

    @step
    async def work(self, ev: Item) -> Done:
        return Done(n=ev.n)

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        return StopEvent(result=len(ev))


class Sends(Workflow):
    """Sends such an event."""

    @step
    async def split(self, ctx: Context, ev: StartEvent) -> Item | None:
        ctx.send_event(Special(n=1))
        return Item(n=0) if ev.get("n", 1) else None

    @step
    async def work(self, ev: Item) -> StopEvent:
        return StopEvent(result=ev.n)


class Takes(Workflow):
    """Makes such an event, and takes subclasses."""

    @step
    async def split(self, ev: StartEvent) -> Item:
        return Special(n=1)

    @step(accept_event_subclasses=True)
    async def work(self, ev: Item) -> StopEvent:
        return StopEvent(result=ev.n)


class Pair(Workflow):
    """Two of one, none of the other."""

    @step
    async def split(self, ctx: Context, ev: StartEvent) -> Left | Right | None:
        ctx.send_event(Left())
        ctx.send_event(Left())
        return None

    @step
    async def join(self, left: Left, right: Right) -> StopEvent:
        return StopEvent(result=1)


class Few(Workflow):
    """Sends two, and collects three."""

    @step
    async def split(self, ctx: Context, ev: StartEvent) -> Item | None:
        for n in range(2):
            ctx.send_event(Item(n=n))
        return None

    @step
    async def join(self, ctx: Context, ev: Item) -> StopEvent | None:
        got = ctx.collect_events(ev, [Item] * 3)
        return None if got is None else StopEvent(result=len(got))


class Nothing(Workflow):
    """Ends without a result."""

    @step
    async def only(self, ev: StartEvent) -> StopEvent | None:
        return None


class Open(Workflow):
    """Says hello in the stream; goes on if the cell sends something."""

    @step
    async def first(self, ctx: Context, ev: StartEvent) -> StopEvent | None:
        ctx.write_event_to_stream(Hello())
        return None

    @step
    async def last(self, ev: Go) -> StopEvent:
        return StopEvent(result=ev.text)


class Runs(Workflow):
    """Runs a workflow that gets stuck, beside a step of its own that goes on until it is let go."""

    def __init__(self, inner: Workflow, sends: bool = False, **more: Any) -> None:
        super().__init__(**more)
        self.inner = inner
        self.sends = sends

    @step
    async def first(self, ev: StartEvent) -> StopEvent:
        handler = self.inner.run()
        if self.sends:
            await GO.wait()
            handler.ctx.send_event(Go(text="from the step"))
        return StopEvent(result=await handler)


class Held(Workflow):
    """A fan-out whose executions are held."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(n=n) for n in range(ev.n)]

    @step
    async def work(self, ev: Item) -> Done:
        await GO.wait()
        return Done(n=ev.n)

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        return StopEvent(result=len(ev))


class OneByOne(Workflow):
    """A fan-out whose executions take a while, one at a time."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(n=n) for n in range(ev.n)]

    @step(num_workers=1)
    async def work(self, ev: Item) -> Done:
        await asyncio.sleep(0.2)
        return Done(n=ev.n)

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        return StopEvent(result=len(ev))


class Late(Workflow):
    """Accepts what no step makes."""

    @step
    async def first(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=1)

    @step
    async def late(self, ev: Hello) -> StopEvent:
        return StopEvent(result=2)


class ByAHelper(Late):
    """The same, but a helper of a step makes it."""

    @step
    async def first(self, ev: StartEvent) -> StopEvent:
        helper()
        return StopEvent(result=1)


def helper() -> Event:
    """Make what `late` accepts."""
    return Hello()


def wait_until_heard() -> None:
    """Block, as a call to a slow service would."""
    HEARD.wait(PATIENCE_S)


class Blocks(Workflow):
    """An ``async`` step whose helper blocks the loop, for each of three work items."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(n=n) for n in range(3)]

    @step
    async def work(self, ev: Item) -> Done:
        wait_until_heard()
        return Done(n=ev.n)

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        return StopEvent(result=len(ev))
