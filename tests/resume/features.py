"""More workflows that are killed and resumed: state, resources, free steps, inner runs, values not kept."""

from __future__ import annotations

import asyncio
import uuid
from typing import Annotated, Any

from pydantic import BaseModel, Field
from workflows import Context, Workflow, step
from workflows.events import Event, StartEvent, StopEvent
from workflows.resource import Resource
from workflows.retry_policy import retry_policy, stop_after_attempt, wait_fixed

from tests.resume.lives import ran
from tests.resume.workflows import Answered, Asked, Done, Item, Part


class Tally(BaseModel):
    count: int = 0
    names: list[str] = Field(default_factory=list)
    by_key: dict[str, int] = Field(default_factory=dict)


class TypedState(Workflow):
    @step
    async def begin(self, ctx: Context[Tally], ev: StartEvent) -> list[Item]:
        ran()
        async with ctx.store.edit_state() as state:
            state.names.append("begin")
        return [Item(i=i) for i in range(3)]

    @step(num_workers=1)
    async def work(self, ctx: Context[Tally], ev: Item) -> Done:
        ran()
        async with ctx.store.edit_state() as state:
            state.count += 1
            state.names.append(f"work {ev.i}")
            state.by_key[str(ev.i)] = ev.i
        return Done(i=ev.i)

    @step
    async def join(self, ctx: Context[Tally], ev: list[Done]) -> StopEvent:
        ran()
        state = await ctx.store.get_state()
        return StopEvent(result=[state.count, sorted(state.names), dict(sorted(state.by_key.items()))])


class LooseState(Workflow):
    """A list got from the store and appended to without a set, and nested keys (X3)."""

    @step
    async def begin(self, ctx: Context, ev: StartEvent) -> Item:
        ran()
        await ctx.store.set("names", ["begin"])
        await ctx.store.set("deep", {"a": {"b": [1]}, "gone": 1})
        return Item(i=1)

    @step
    async def one(self, ctx: Context, ev: Item) -> Part:
        ran()
        names = await ctx.store.get("names")
        names.append("one")
        deep = await ctx.store.get("deep")
        deep["a"]["b"].append(2)
        del deep["gone"]
        await ctx.store.set("deep.a.c", (1, {2}))
        return Part(i=1, j=2)

    @step
    async def two(self, ctx: Context, ev: Part) -> Done:
        ran()
        names = await ctx.store.get("names")
        names[0] = "began"
        names.append("two")
        (await ctx.store.get("deep.a"))["d"] = b"raw"
        return Done(i=1)

    @step
    async def end(self, ctx: Context, ev: Done) -> StopEvent:
        ran()
        return StopEvent(result=[await ctx.store.get("names"), await ctx.store.get("deep")])


class Replaces(Workflow):
    """``clear`` and ``set_state``."""

    @step
    async def begin(self, ctx: Context[Tally], ev: StartEvent) -> Item:
        ran()
        await ctx.store.set_state(Tally(count=5, names=["x"]))
        return Item(i=1)

    @step
    async def one(self, ctx: Context[Tally], ev: Item) -> Part:
        ran()
        before = await ctx.store.get_state()
        await ctx.store.clear()
        async with ctx.store.edit_state() as state:
            state.names = [*before.names, "y"]
        return Part(i=before.count, j=0)

    @step
    async def end(self, ctx: Context[Tally], ev: Part) -> StopEvent:
        ran()
        state = await ctx.store.get_state()
        return StopEvent(result=[ev.i, state.count, state.names])


class Bag(Event):
    things: list[str]


class ChangesInput(Workflow):
    """A step changes its own input, which a retry and a second step then see."""

    @step
    async def begin(self, ev: StartEvent) -> Bag:
        ran()
        return Bag(things=["begin"])

    @step(retry_policy=retry_policy(wait=wait_fixed(0), stop=stop_after_attempt(3)))
    async def work(self, ctx: Context, ev: Bag) -> StopEvent:
        ran()
        ev.things.append(f"try {ctx.retry_info().retry_number}")
        if ctx.retry_info().retry_number < 2:
            raise ValueError("again")
        return StopEvent(result=ev.things)


class Client:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()

    def call(self, i: int) -> str:
        return f"called {i}"


def make_client() -> Client:
    return Client()


class WithResource(Workflow):
    @step
    async def begin(self, ev: StartEvent, client: Annotated[Client, Resource(make_client)]) -> Item:
        ran()
        return Item(i=len(client.call(1)))

    @step
    async def end(self, ev: Item, client: Annotated[Client, Resource(make_client)]) -> StopEvent:
        ran()
        return StopEvent(result=client.call(ev.i))


class Free(Workflow):
    """Its steps are plain functions."""


@step(workflow=Free)
async def free_begin(ev: StartEvent) -> Item:
    ran()
    return Item(i=ev.n)


@step(workflow=Free)
async def free_middle(ctx: Context, ev: Item) -> Done:
    ran()
    await ctx.store.set("seen", ev.i)
    return Done(i=ev.i + 1)


@step(workflow=Free)
def free_end(ev: Done) -> StopEvent:
    ran()
    return StopEvent(result=ev.i)


class Order(StartEvent):
    number: int
    tags: set[str] = Field(default_factory=set)


class Shipped(StopEvent):
    number: int
    tags: set[str]


class Custom(Workflow):
    @step
    async def begin(self, ev: Order) -> Item:
        ran()
        return Item(i=ev.number)

    @step
    async def end(self, ev: Item) -> Shipped:
        ran()
        return Shipped(number=ev.i, tags={"a", "b"})


class Special(StopEvent):
    """A stop event's subclass that only one step returns."""

    extra: tuple[int, ...] = ()


class SpecialStop(Workflow):
    @step
    async def begin(self, ev: StartEvent) -> Special:
        ran()
        return Special(extra=(1, 2), result={"k": (1, None)})


class Note(Event):
    text: str


class Streams(Workflow):
    @step
    async def begin(self, ctx: Context, ev: StartEvent) -> Item:
        ran()
        ctx.write_event_to_stream(Note(text="begin"))
        return Item(i=2)

    @step
    async def end(self, ctx: Context, ev: Item) -> StopEvent:
        ran()
        ctx.write_event_to_stream(Note(text="end"))
        return StopEvent(result=ev.i)


class SkipsSome(Workflow):
    """A step that answers None for some of a fan-out."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        ran()
        return [Item(i=i) for i in range(ev.n)]

    @step
    async def work(self, ev: Item) -> Done | None:
        ran()
        return None if ev.i % 2 else Done(i=ev.i)

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        ran()
        return StopEvent(result=[d.i for d in ev])


class Inner(Workflow):
    @step
    async def inner_begin(self, ev: StartEvent) -> Part:
        ran(f"inner_begin {ev.n}")
        return Part(i=ev.n, j=1)

    @step
    async def inner_end(self, ev: Part) -> StopEvent:
        ran(f"inner_end {ev.i}")
        return StopEvent(result=ev.i * 10)


class Outer(Workflow):
    """Each of its items runs a workflow of its own, item 1 two equal ones."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        ran()
        return [Item(i=i) for i in range(2)]

    @step(num_workers=2)
    async def work(self, ev: Item) -> Done:
        total = 0
        for _ in range(1 + ev.i):
            total += await Inner().run(n=ev.i + 1)
        return Done(i=total)

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        ran()
        return StopEvent(result=sorted(d.i for d in ev))


class OuterRetries(Workflow):
    """A retry of the outer step starts a new inner run."""

    @step(retry_policy=retry_policy(wait=wait_fixed(0), stop=stop_after_attempt(2)))
    async def work(self, ctx: Context, ev: StartEvent) -> StopEvent:
        got = await Inner().run(n=4)
        if ctx.retry_info().retry_number == 0:
            raise ValueError("once")
        return StopEvent(result=got)


class Loop(Workflow):
    """A step that feeds itself."""

    @step
    async def work(self, ctx: Context, ev: StartEvent | Item) -> Item | StopEvent:
        ran()
        i = ev.i if isinstance(ev, Item) else 0
        async with ctx.store.edit_state() as state:
            state["sum"] = state.get("sum", 0) + i
        if i < 4:
            return Item(i=i + 1)
        return StopEvent(result=await ctx.store.get("sum"))


class AsksAtRandom(Workflow):
    """Pays, then asks twice under ids that are other ones each time (C03)."""

    @step
    async def ask(self, ctx: Context, ev: StartEvent) -> StopEvent:
        answers = []
        for i in range(2):
            got = await ctx.wait_for_event(
                Answered,
                waiter_event=Asked(question=f"{i}?"),
                waiter_id=str(uuid.uuid4()),
                requirements={"key": i},
            )
            answers.append(got.answer)
        ran()
        return StopEvent(result=answers)


class NobodyAnswers(Workflow):
    """A waiter's own timeout ends the wait."""

    @step
    async def ask(self, ctx: Context, ev: StartEvent) -> Item:
        try:
            await ctx.wait_for_event(Answered, waiter_event=Asked(question="0?"), timeout=0.03)
        except asyncio.TimeoutError:
            ran()
            return Item(i=0)
        return Item(i=1)

    @step
    async def end(self, ev: Item) -> StopEvent:
        ran()
        return StopEvent(result=ev.i)


class Job(Event):
    call: Any


class Tool(Event):
    i: int
    made_by: Any = None


class CarriesALambda(Workflow):
    """An event that cannot be written down: the step that made it runs again, alone (C13)."""

    @step
    async def begin(self, ev: StartEvent) -> Item:
        ran()
        return Item(i=4)

    @step
    async def make(self, ev: Item) -> Job:
        i = ev.i
        return Job(call=lambda: i * 10)

    @step
    async def use(self, ev: Job) -> Done:
        ran()
        return Done(i=ev.call())

    @step
    async def end(self, ev: Done) -> StopEvent:
        ran()
        return StopEvent(result=ev.i)
