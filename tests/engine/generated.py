"""Workflows that hypothesis makes up, and a way to compare the engine's states."""

from __future__ import annotations

import asyncio
import dataclasses
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from hypothesis import strategies as st
from workflows import Context, Workflow, catch_error, step
from workflows.collect import Collect, Take
from workflows.events import Event, StartEvent, StepFailedEvent, StopEvent
from workflows.retry_policy import retry_policy, stop_after_attempt, wait_fixed
from workflows.runtime.types.internal_state import BrokerState


class Token(Event):
    """What travels through a generated workflow."""

    i: int = 0


@dataclass(frozen=True)
class Map:
    """One event in, one out, after some failures."""

    workers: int
    fails: int
    delay: float
    skips: bool = False


@dataclass(frozen=True)
class Caught:
    """Fails for good; a handler takes its place."""

    workers: int


@dataclass(frozen=True)
class Fan:
    """A list out, steps for each item, a list in."""

    size: int
    inside: tuple[Any, ...]
    take: int | None


@dataclass(frozen=True)
class Send:
    """``ctx.send_event`` out, ``collect_events`` in."""

    size: int
    workers: int
    targeted: bool


@dataclass(frozen=True)
class Pair:
    """Two steps take the event; a step of two parameters takes what they make."""


WORKERS = st.integers(1, 4)
MAPS = st.builds(
    Map, workers=WORKERS, fails=st.integers(0, 2), delay=st.sampled_from([0, 0.001]), skips=st.booleans()
)


def fans(inside: st.SearchStrategy[Any]) -> st.SearchStrategy[Fan]:
    return st.builds(
        Fan,
        size=st.integers(0, 4),
        inside=st.lists(inside, max_size=2).map(tuple),
        take=st.none() | st.integers(1, 3),
    )


IN_STREAM = st.recursive(MAPS | st.builds(Caught, workers=WORKERS), fans, max_leaves=3)
BLOCKS = (
    st.builds(Map, workers=WORKERS, fails=st.integers(0, 2), delay=st.sampled_from([0, 0.001]))
    | st.builds(Caught, workers=WORKERS)
    | fans(IN_STREAM)
    | st.builds(Send, size=st.integers(1, 4), workers=WORKERS, targeted=st.booleans())
    | st.just(Pair())
)
SPECS = st.lists(BLOCKS, min_size=1, max_size=4).map(tuple)
EVERYTHING = (
    Send(size=3, workers=3, targeted=True),
    Fan(size=3, inside=(Map(workers=2, fails=1, delay=0.001), Fan(size=2, inside=(), take=1)), take=None),
    Pair(),
    Caught(workers=1),
)
"""One of each block."""


class Builder:
    """Makes a workflow class of a spec; ``order`` decides who finishes first."""

    def __init__(self, order: random.Random) -> None:
        self._order = order
        self._names = 0
        self.body: dict[str, Any] = {"__module__": __name__}

    def event(self) -> type[Token]:
        self._names += 1
        return type(f"Token{self._names}", (Token,), {"__module__": __name__})

    def add(self, function: Callable[..., Any], takes: dict[str, Any], gives: Any, **options: Any) -> str:
        self._names += 1
        name = f"step{self._names}"
        function.__name__, function.__qualname__ = name, f"Generated.{name}"
        function.__annotations__ = {**takes, "return": gives}
        self.body[name] = step(**options)(function)
        return name

    async def pause(self) -> None:
        for _ in range(self._order.randrange(4)):
            await asyncio.sleep(0)

    def block(self, spec: Any, takes: Any) -> Any:
        return getattr(self, f"_{type(spec).__name__.lower()}")(spec, takes)

    def _map(self, spec: Map, takes: Any) -> Any:
        gives, pause = self.event(), self.pause

        async def work(self: Any, ctx: Any, ev: Any) -> Any:
            await pause()
            if ctx.retry_info().retry_number < spec.fails:
                raise ValueError(ctx.retry_info().retry_number)
            i = getattr(ev, "i", 0)
            return None if spec.skips and i % 3 == 2 else gives(i=i)

        policy = retry_policy(wait=wait_fixed(spec.delay), stop=stop_after_attempt(spec.fails + 1))
        returns = gives | None if spec.skips else gives
        self.add(work, {"ctx": Context, "ev": takes}, returns, num_workers=spec.workers, retry_policy=policy)
        return gives

    def _caught(self, spec: Caught, takes: Any) -> Any:
        gives, pause = self.event(), self.pause

        async def work(self: Any, ev: Any) -> Any:
            await pause()
            raise LookupError(getattr(ev, "i", 0))

        async def mend(self: Any, ev: Any) -> Any:
            await pause()
            return gives(i=getattr(ev.input_event, "i", 0))

        name = self.add(work, {"ev": takes}, gives, num_workers=spec.workers)
        self._names += 1
        mend.__name__, mend.__qualname__ = f"mend{self._names}", f"Generated.mend{self._names}"
        mend.__annotations__ = {"ev": StepFailedEvent, "return": gives}
        self.body[mend.__name__] = catch_error(for_steps=[name], max_recoveries=9)(mend)
        return gives

    def _fan(self, spec: Fan, takes: Any) -> Any:
        first, last, pause = self.event(), self.event(), self.pause

        async def split(self: Any, ev: Any) -> Any:
            await pause()
            return [first(i=i) for i in range(spec.size)]

        async def join(self: Any, events: Any) -> Any:
            await pause()
            return last(i=len(events))

        self.add(split, {"ev": takes}, list[first], num_workers=2)  # type: ignore[valid-type]  # made here
        inner = first
        for block in spec.inside:
            inner = self.block(block, inner)
        batch: Any = list[inner]  # type: ignore[valid-type]  # made here
        if spec.take is not None:
            batch = Annotated[batch, Collect(Take(spec.take))]
        self.add(join, {"events": batch}, last)
        return last

    def _send(self, spec: Send, takes: Any) -> Any:
        part, last, pause = self.event(), self.event(), self.pause
        target: list[str] = []

        async def split(self: Any, ctx: Any, ev: Any) -> Any:
            for i in range(spec.size):
                ctx.send_event(part(i=i), step=target[0] if spec.targeted else None)
                await pause()
            return None

        async def join(self: Any, ctx: Any, ev: Any) -> Any:
            await pause()
            got = ctx.collect_events(ev, [part] * spec.size)
            return None if got is None else last(i=len(got))

        self.add(split, {"ctx": Context, "ev": takes}, part | None)
        target.append(self.add(join, {"ctx": Context, "ev": part}, last | None, num_workers=spec.workers))
        return last

    def _pair(self, spec: Pair, takes: Any) -> Any:
        one, two, last, pause = self.event(), self.event(), self.event(), self.pause

        async def left(self: Any, ev: Any) -> Any:
            await pause()
            return one(i=getattr(ev, "i", 0))

        async def right(self: Any, ev: Any) -> Any:
            await pause()
            return two(i=getattr(ev, "i", 0))

        async def both(self: Any, a: Any, b: Any) -> Any:
            await pause()
            return last(i=a.i + b.i)

        self.add(left, {"ev": takes}, one)
        self.add(right, {"ev": takes}, two)
        self.add(both, {"a": one, "b": two}, last)
        return last


def workflow_of(spec: tuple[Any, ...], seed: int) -> type[Workflow]:
    """A workflow class of this shape; ``seed`` decides the order in which executions finish."""
    builder = Builder(random.Random(seed))
    event: Any = StartEvent
    for block in spec:
        event = builder.block(block, event)

    async def end(self: Any, ev: Any) -> Any:
        return StopEvent(result=ev.i)

    builder.add(end, {"ev": event}, StopEvent)
    return type("Generated", (Workflow,), builder.body)


def laid_out(value: Any) -> Any:
    """A state, or a part of one, as plain values that can be compared and read."""
    if isinstance(value, BrokerState):
        names = [f.name for f in dataclasses.fields(BrokerState) if f.name != "config"]
        return {name: laid_out(getattr(value, name)) for name in names}
    if isinstance(value, BaseException):
        return (type(value).__name__, laid_out(value.args))
    if isinstance(value, Event):
        return (type(value).__qualname__, laid_out(value.__dict__), laid_out(dict(value.items())))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in dataclasses.fields(value) if f.name != "config"]
        return {name: laid_out(getattr(value, name)) for name in names}
    if isinstance(value, dict):
        return {repr(laid_out(key)): laid_out(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [laid_out(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(repr(laid_out(item)) for item in value)
    return value
