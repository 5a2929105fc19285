"""Workflows that ask a person, each in a way of its own."""

from __future__ import annotations

import asyncio
from enum import Enum
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from workflows import Context, Workflow, step
from workflows.events import Event, HumanResponseEvent, InputRequiredEvent, StartEvent, StopEvent

LOG = Path("log")
GO = asyncio.Event()


class Ask(InputRequiredEvent):
    """A question."""

    about: str


class Said(HumanResponseEvent):
    """An answer in words."""

    text: str


class Colour(Enum):
    """An answer may be one of these."""

    RED = 1
    BLUE = 2


class Form(HumanResponseEvent):
    """An answer of several kinds."""

    copies: int
    share: float
    urgent: bool
    size: Literal["small", "large"]
    colour: Colour
    pages: list[int]
    note: str = ""


class Item(Event):
    """One work item."""

    n: int


class Done(Event):
    """Its result."""

    text: str


def note(line: str) -> None:
    """Write down that something was executed."""
    with LOG.open("a") as log:
        log.write(f"{line}\n")


class Once(Workflow):
    """Pays, then asks in the same step."""

    @step
    async def first(self, ev: StartEvent) -> Item:
        note("first")
        return Item(n=1)

    @step
    async def ask(self, ctx: Context, ev: Item) -> StopEvent:
        note("paid")
        said = await ctx.wait_for_event(Said, waiter_event=Ask(about="Who?"))
        return StopEvent(result=said.text)


class Several(Workflow):
    """Asks a question for each of three work items."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(n=n) for n in range(3)]

    @step
    async def ask(self, ctx: Context, ev: Item) -> Done:
        said = await ctx.wait_for_event(Said, waiter_event=Ask(about=f"Who wrote {ev.n}?"))
        note(f"{ev.n} {said.text}")
        return Done(text=f"{ev.n} {said.text}")

    @step
    async def join(self, evs: list[Done]) -> StopEvent:
        return StopEvent(result=sorted(ev.text for ev in evs))


class Typed(Workflow):
    """Asks for several values of several kinds."""

    @step
    async def ask(self, ctx: Context, ev: StartEvent) -> StopEvent:
        said = await ctx.wait_for_event(Form, waiter_event=Ask(about="How?"))
        return StopEvent(result=said)


class Chance(Workflow):
    """Makes its waiter's id anew each time."""

    @step
    async def ask(self, ctx: Context, ev: StartEvent) -> StopEvent:
        note("paid")
        said = await ctx.wait_for_event(Said, waiter_event=Ask(about="Who?"), waiter_id=str(uuid4()))
        return StopEvent(result=said.text)


class Demanding(Workflow):
    """Two questions, each for an answer by another user."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(n=n) for n in range(2)]

    @step
    async def ask(self, ctx: Context, ev: Item) -> Done:
        ask = Ask(about=f"User {ev.n}?")
        said = await ctx.wait_for_event(Said, ask, waiter_id=f"user {ev.n}", requirements={"user": ev.n})
        return Done(text=f"{ev.n} {said.user} {said.text}")

    @step
    async def join(self, evs: list[Done]) -> StopEvent:
        return StopEvent(result=sorted(ev.text for ev in evs))


class Agreed(HumanResponseEvent):
    """An answer with one field, which is declared."""

    number: int


class Consent(Workflow):
    """Requires a declared field, at which the engine never looks."""

    @step
    async def ask(self, ctx: Context, ev: StartEvent) -> StopEvent:
        said = await ctx.wait_for_event(Agreed, Ask(about="Go on?"), requirements={"number": 7})
        return StopEvent(result=said.number)


class Unlinked(Workflow):
    """Asks with events that carry no link to their answers."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(n=n) for n in range(3)]

    @step(num_workers=1)
    async def ask(self, ev: Item) -> InputRequiredEvent:
        return Ask(about=f"Number {ev.n}?")

    @step
    async def heard(self, ctx: Context, ev: HumanResponseEvent) -> StopEvent | None:
        note(str(ev.response))
        heard = [*await ctx.store.get("heard", default=[]), ev.response]
        await ctx.store.set("heard", heard)
        return StopEvent(result=heard) if len(heard) == 3 else None


class Streamed(Workflow):
    """Asks by way of the stream, then waits."""

    @step
    async def ask(self, ctx: Context, ev: StartEvent) -> StopEvent:
        ctx.write_event_to_stream(InputRequiredEvent(prefix="What is your name?"))
        said = await ctx.wait_for_event(HumanResponseEvent)
        return StopEvent(result=said.response)


class StreamedOnly(Workflow):
    """Asks by way of the stream; another step takes the answer."""

    @step
    async def ask(self, ctx: Context, ev: StartEvent) -> None:
        ctx.write_event_to_stream(InputRequiredEvent(prefix="What is your name?"))

    @step
    async def heard(self, ev: HumanResponseEvent) -> StopEvent:
        return StopEvent(result=ev.response)


class Loop(Workflow):
    """Asks again under the same waiter's id until it hears ``yes``."""

    @step
    async def ask(self, ctx: Context, ev: StartEvent | Item) -> Item | StopEvent:
        n = ev.n if isinstance(ev, Item) else 0
        said = await ctx.wait_for_event(Said, waiter_event=Ask(about=f"Round {n}?"), waiter_id="round")
        return StopEvent(result=n) if said.text == "yes" else Item(n=n + 1)


class Outer(Workflow):
    """Runs a workflow that asks, one for each work item."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(n=n) for n in range(2)]

    @step
    async def inner(self, ev: Item) -> Done:
        return Done(text=await Inner(timeout=None).run(n=ev.n))

    @step
    async def join(self, evs: list[Done]) -> StopEvent:
        return StopEvent(result=sorted(ev.text for ev in evs))


class Inner(Workflow):
    """Asks, from within a step of another workflow."""

    @step
    async def ask(self, ctx: Context, ev: StartEvent) -> StopEvent:
        said = await ctx.wait_for_event(Said, waiter_event=Ask(about=f"Inner {ev.n}?"))
        return StopEvent(result=f"{ev.n} {said.text}")


class Beside(Workflow):
    """Asks while another work item is under way, until `GO` is set."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(n=n) for n in range(2)]

    @step
    async def work(self, ctx: Context, ev: Item) -> Done:
        if ev.n == 0:
            said = await ctx.wait_for_event(Said, waiter_event=Ask(about="Who?"))
            return Done(text=said.text)
        await GO.wait()
        return Done(text="worked")

    @step
    async def join(self, evs: list[Done]) -> StopEvent:
        return StopEvent(result=sorted(ev.text for ev in evs))


def everything() -> dict[str, Any]:
    """A right answer to what `Typed` asks, as a form or a magic gives it."""
    return {"copies": "3", "share": "0.5", "urgent": "yes", "size": "large", "colour": "2", "pages": "[1, 2]"}
