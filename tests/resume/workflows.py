"""The workflows that are killed and resumed: one of each way in which the engine moves events."""

from __future__ import annotations

import asyncio
import time
import uuid
from typing import Annotated, Any

from pydantic import BaseModel, Field
from workflows import Context, Workflow, catch_error, step
from workflows.events import (
    Event,
    HumanResponseEvent,
    InputRequiredEvent,
    StartEvent,
    StepFailedEvent,
    StopEvent,
)
from workflows.resource import Resource
from workflows.retry_policy import retry_policy, stop_after_attempt, wait_fixed

from tests.resume.lives import ran


class Item(Event):
    i: int


class Part(Event):
    i: int
    j: int


class Done(Event):
    i: int
    v: str = ""


class Group(Event):
    i: int
    total: int


class Left(Event):
    i: int


class Right(Event):
    i: int


class Asked(InputRequiredEvent):
    question: str


class Answered(HumanResponseEvent):
    answer: str
    key: int = 0


class FanOut(Workflow):
    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        ran()
        return [Item(i=i) for i in range(ev.n)]

    @step(num_workers=2)
    async def work(self, ev: Item) -> Done:
        ran()
        await asyncio.sleep(0)
        return Done(i=ev.i, v=f"done {ev.i}")

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        ran()
        return StopEvent(result=sorted((d.i, d.v) for d in ev))


class Sync(Workflow):
    @step
    def split(self, ev: StartEvent) -> list[Item]:
        ran()
        return [Item(i=i) for i in range(3)]

    @step(num_workers=2)
    def work(self, ev: Item) -> Done:
        ran()
        time.sleep(0.001)
        return Done(i=ev.i)

    @step
    def join(self, ev: list[Done]) -> StopEvent:
        ran()
        return StopEvent(result=sorted(d.i for d in ev))


class Nested(Workflow):
    """A stream in a stream."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        ran()
        return [Item(i=i) for i in range(3)]

    @step
    async def split_again(self, ev: Item) -> list[Part]:
        ran()
        return [Part(i=ev.i, j=j) for j in range(ev.i)]

    @step(num_workers=2)
    async def work(self, ev: Part) -> Done:
        ran()
        return Done(i=ev.i * 10 + ev.j)

    @step
    async def join_parts(self, ev: list[Done]) -> Group:
        ran()
        return Group(i=len(ev), total=sum(d.i for d in ev))

    @step
    async def join(self, ev: list[Group]) -> StopEvent:
        ran()
        return StopEvent(result=sorted((g.i, g.total) for g in ev))


class Collects(Workflow):
    """``collect_events``, with two kinds of events."""

    @step
    async def split(self, ctx: Context, ev: StartEvent) -> Left | Right | None:
        ran()
        for i in range(3):
            ctx.send_event(Left(i=i))
        ctx.send_event(Right(i=7))
        return None

    @step(num_workers=1)
    async def join(self, ctx: Context, ev: Left | Right) -> StopEvent | None:
        ran()
        got = ctx.collect_events(ev, [Left, Left, Left, Right])
        if got is None:
            return None
        return StopEvent(result=sorted(e.i for e in got))


class CollectsInParallel(Workflow):
    """``collect_events`` by four workers at once, so that the engine runs stale ones again."""

    @step
    async def split(self, ctx: Context, ev: StartEvent) -> Item | None:
        ran()
        for i in range(4):
            ctx.send_event(Item(i=i))
        return None

    @step(num_workers=4)
    async def join(self, ctx: Context, ev: Item) -> StopEvent | None:
        await asyncio.sleep(0.001 * ev.i)
        got = ctx.collect_events(ev, [Item] * 4)
        return None if got is None else StopEvent(result=sorted(e.i for e in got))


class SeveralParameters(Workflow):
    @step
    async def begin(self, ev: StartEvent) -> Item:
        ran()
        return Item(i=1)

    @step
    async def left(self, ev: Item) -> Left:
        ran()
        return Left(i=ev.i)

    @step
    async def right(self, ev: Item) -> Right:
        ran()
        return Right(i=ev.i + 1)

    @step
    async def join(self, left: Left, right: Right) -> StopEvent:
        ran()
        return StopEvent(result=(left.i, right.i))


class Sends(Workflow):
    """A step that sends, then goes on: killed in between it must not send twice (X1)."""

    @step
    async def split(self, ctx: Context, ev: StartEvent) -> Item | None:
        ran()
        for i in range(3):
            ctx.send_event(Item(i=i))
            await asyncio.sleep(0.002)
        return None

    @step(num_workers=4)
    async def work(self, ev: Item) -> Done:
        ran()
        return Done(i=ev.i)

    @step(num_workers=1)
    async def join(self, ctx: Context, ev: Done) -> StopEvent | None:
        got = ctx.collect_events(ev, [Done] * 3)
        return None if got is None else StopEvent(result=sorted(d.i for d in got))


class Targeted(Workflow):
    """Sends with a target, among them one to a step that others would take too."""

    @step
    async def split(self, ctx: Context, ev: StartEvent) -> Item | None:
        ran()
        ctx.send_event(Item(i=1), step="one")
        ctx.send_event(Item(i=2), step="two")
        return None

    @step
    async def one(self, ev: Item) -> Left:
        ran()
        return Left(i=ev.i)

    @step
    async def two(self, ev: Item) -> Right:
        ran()
        return Right(i=ev.i)

    @step
    async def join(self, ctx: Context, ev: Left | Right) -> StopEvent | None:
        got = ctx.collect_events(ev, [Left, Right])
        return None if got is None else StopEvent(result=[e.i for e in got])


class Asks(Workflow):
    """Two executions ask at once, told apart by a requirement."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        ran()
        return [Item(i=i) for i in range(2)]

    @step(num_workers=2)
    async def ask(self, ctx: Context, ev: Item) -> Done:
        answer = await ctx.wait_for_event(
            Answered, waiter_event=Asked(question=f"{ev.i}?"), requirements={"key": ev.i}
        )
        ran()
        return Done(i=ev.i, v=answer.answer)

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        ran()
        return StopEvent(result=sorted((d.i, d.v) for d in ev))


class AsksByEvent(Workflow):
    """A question that a step returns, and a step that takes the answer."""

    @step
    async def begin(self, ev: StartEvent) -> Asked:
        ran()
        return Asked(question="0?")

    @step
    async def take(self, ev: Answered) -> StopEvent:
        ran()
        return StopEvent(result=ev.answer)


class Flaky(Workflow):
    """Fails twice, then works; the delay makes the retry come by a timer."""

    @step
    async def begin(self, ev: StartEvent) -> list[Item]:
        ran()
        return [Item(i=i) for i in range(2)]

    @step(retry_policy=retry_policy(wait=wait_fixed(0.01), stop=stop_after_attempt(5)), num_workers=2)
    async def work(self, ctx: Context, ev: Item) -> Done:
        ran()
        info = ctx.retry_info()
        if info.retry_number < 2:
            raise LookupError(f"try {info.retry_number}")
        assert type(info.last_exception) is LookupError
        return Done(i=ev.i, v=f"{info.retry_number} {info.last_exception}")

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        ran()
        return StopEvent(result=sorted((d.i, d.v) for d in ev))


class FlakyAtOnce(Workflow):
    """Retries without a delay."""

    @step(retry_policy=retry_policy(wait=wait_fixed(0), stop=stop_after_attempt(4)))
    async def work(self, ctx: Context, ev: StartEvent) -> StopEvent:
        ran()
        info = ctx.retry_info()
        if info.retry_number < 3:
            raise ValueError(info.retry_number)
        return StopEvent(result=info.retry_number)


class Caught(Workflow):
    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        ran()
        return [Item(i=i) for i in range(3)]

    @step(num_workers=2)
    async def work(self, ev: Item) -> Done:
        ran()
        if ev.i == 1:
            raise KeyError("no document", ev.i)
        return Done(i=ev.i)

    @catch_error(for_steps=["work"], max_recoveries=2)
    async def mend(self, ev: StepFailedEvent) -> Done:
        ran()
        assert isinstance(ev.input_event, Item)
        return Done(i=ev.input_event.i, v=repr(ev.exception))

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        ran()
        return StopEvent(result=sorted((d.i, d.v) for d in ev))


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


async def answering(handler: Any) -> Any:
    """Answer each streamed question with its text, and return the result."""
    async for event in handler.stream_events():
        if isinstance(event, Asked):
            key = int(event.question.rstrip("?"))
            handler.ctx.send_event(Answered(answer=f"answer {key}", key=key))
    return await handler


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
