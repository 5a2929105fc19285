"""Workflows that a test holds and lets go through files, and that count what they do in one.

All paths are in the working folder, which a test's first cell sets.
"""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any

from workflows import Workflow, step
from workflows.events import Event, HumanResponseEvent, InputRequiredEvent, StartEvent, StopEvent
from workflows.retry_policy import retry_policy, stop_after_attempt, wait_fixed

from tests.counting import bump, counts

LOG = "log"
GO = "go"


class Item(Event):
    n: int


class Done(Event):
    n: int


def there(name: str) -> bool:
    """Whether the test has made a file."""
    return os.path.exists(name)


def go() -> bool:
    """Whether the test lets held steps go on."""
    return there(GO)


async def held(label: str) -> None:
    """Wait until the test lets go; count the begin, the end and a cancel."""
    bump(LOG, f"{label} begins")
    try:
        while not go():  # noqa: ASYNC110  # the test is another process, so a file stands for the event
            await asyncio.sleep(0.01)
    except asyncio.CancelledError:
        bump(LOG, f"{label} cancelled")
        raise
    bump(LOG, f"{label} ends")


async def reached(line: str) -> None:
    """Wait until a line is in the log."""
    while line not in counts(LOG):  # noqa: ASYNC110  # a file that other processes write has no event
        await asyncio.sleep(0.01)


def held_in_thread(label: str) -> None:
    """The same without a loop."""
    bump(LOG, f"{label} begins")
    while not go():
        time.sleep(0.01)
    bump(LOG, f"{label} ends")


class Batch(Workflow):
    """A fan-out over items that are held."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        bump(LOG, "split")
        return [Item(n=n) for n in range(ev.size)]

    @step(num_workers=4)
    async def work(self, ev: Item) -> Done:
        await held(f"work {ev.n}")
        return Done(n=ev.n)

    @step
    async def join(self, evs: list[Done]) -> StopEvent:
        return StopEvent(result=sum(ev.n for ev in evs))


class Three(Workflow):
    """Three steps, of which the second is the interesting one."""

    @step
    async def first(self, ev: StartEvent) -> Item:
        bump(LOG, "first")
        return Item(n=1)

    @step
    async def second(self, ev: Item) -> Done:
        raise NotImplementedError

    @step
    async def third(self, ev: Done) -> StopEvent:
        bump(LOG, "third")
        return StopEvent(result="through")


class Blocks(Three):
    """Keeps the event loop busy."""

    @step
    async def second(self, ev: Item) -> Done:
        held_in_thread("second")
        return Done(n=2)


class Swallows(Three):
    """Takes no notice of being cancelled."""

    @step
    async def second(self, ev: Item) -> Done:
        bump(LOG, "second begins")
        while not go():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                bump(LOG, "second swallows")
        bump(LOG, "second ends")
        return Done(n=2)


class Threaded(Three):
    """A synchronous step."""

    @step
    def second(self, ev: Item) -> Done:
        held_in_thread("second")
        return Done(n=2)


class Family(Three):
    """A step with children: awaited ones, one that nobody awaits, and a thread."""

    @step
    async def second(self, ev: Item) -> Done:
        bump(LOG, "second begins")
        self.loner = asyncio.create_task(held("loner"))
        await asyncio.gather(held("kid 0"), held("kid 1"), asyncio.to_thread(held_in_thread, "thread"))
        bump(LOG, "second ends")
        return Done(n=2)


class Inner(Workflow):
    """One held step, the last of its run."""

    @step
    async def only(self, ev: StartEvent) -> StopEvent:
        await held("inner")
        return StopEvent(result="inner result")


class Outer(Three):
    """A step that runs a workflow itself."""

    @step
    async def second(self, ev: Item) -> Done:
        bump(LOG, "outer begins")
        result = await Inner(timeout=None).run()
        bump(LOG, f"outer got {result}")
        return Done(n=2)


class Held(Three):
    """A held step between two others."""

    @step
    async def second(self, ev: Item) -> Done:
        await held("second")
        return Done(n=2)


class Fails(Workflow):
    """Fails as a file says, once the other run's second step has begun."""

    @step
    async def only(self, ev: StartEvent) -> StopEvent:
        await reached("second begins")
        bump(LOG, "only")
        if there("fail"):
            raise ValueError("bad")
        return StopEvent(result="only")


class Asks(Workflow):
    """Asks a person."""

    @step
    async def asks(self, ev: StartEvent) -> InputRequiredEvent:
        bump(LOG, "asks")
        return InputRequiredEvent(prefix="sure?")

    @step
    async def ends(self, ev: HumanResponseEvent) -> StopEvent:
        bump(LOG, "ends")
        return StopEvent(result=ev.response)


class Retries(Three):
    """Fails at first and waits an hour before it tries again."""

    @step(retry_policy=retry_policy(wait=wait_fixed(3600), stop=stop_after_attempt(3)))
    async def second(self, ev: Item) -> Done:
        bump(LOG, "second fails")
        raise ValueError("not yet")


class Ends(BaseException):
    """The user's own, and no ``Exception``."""


RAISED: dict[str, BaseException] = {
    "KeyboardInterrupt": KeyboardInterrupt(),
    "SystemExit": SystemExit(3),
    "Ends": Ends(),
    "CancelledError": asyncio.CancelledError(),
}


def raise_asked() -> None:
    """Raise what the test asks for in a file, if anything."""
    bump(LOG, "second")
    if os.path.exists("raise"):
        with open("raise", encoding="utf-8") as asked:
            raise RAISED[asked.read()]


class Raises(Three):
    """Raises what should not leave a step."""

    @step
    async def second(self, ev: Item) -> Done:
        raise_asked()
        return Done(n=2)


class RaisesInThread(Three):
    """The same from a thread."""

    @step
    def second(self, ev: Item) -> Done:
        raise_asked()
        return Done(n=2)


def run(workflow: type[Workflow], **start: Any) -> Any:
    """Start a workflow without a time budget."""
    return workflow(timeout=None).run(**start)
