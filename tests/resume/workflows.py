"""The workflows that are killed and resumed: one of each way in which the engine moves events."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from workflows import Context, Workflow, catch_error, step
from workflows.events import (
    Event,
    HumanResponseEvent,
    InputRequiredEvent,
    StartEvent,
    StepFailedEvent,
    StopEvent,
)
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


async def answering(handler: Any) -> Any:
    """Answer each streamed question with its text, and return the result."""
    async for event in handler.stream_events():
        if isinstance(event, Asked):
            key = int(event.question.rstrip("?"))
            handler.ctx.send_event(Answered(answer=f"answer {key}", key=key))
    return await handler
