"""Workflows that run workflows, one life in a process: ``python -m tests.agents.nested NAME``.

Files in the working folder say what goes wrong: ``kill``, ``fail``, ``slow``.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import Any

from workflows import Context, Workflow, step
from workflows.events import Event, HumanResponseEvent, InputRequiredEvent, StartEvent, StopEvent
from workflows.retry_policy import retry_policy, stop_after_attempt, wait_fixed

from jupyter_wfresume import durable
from tests.counting import bump

LOG = "log"


def there(name: str) -> bool:
    """Whether the test has made a file."""
    return os.path.exists(name)


class Item(Event):
    n: int


class Inner(Workflow):
    """Two steps; the second does what the files say."""

    @step
    async def one(self, ev: StartEvent) -> Item:
        bump(LOG, f"one {ev.n}")
        return Item(n=ev.n)

    @step
    async def two(self, ev: Item) -> StopEvent:
        bump(LOG, f"two {ev.n}")
        if there("kill"):
            os.unlink("kill")
            os.kill(os.getpid(), signal.SIGKILL)
        if there("fail"):
            raise ValueError("inner is bad")
        if there("slow"):
            await asyncio.sleep(3600)
        return StopEvent(result=ev.n * 10)


class Asks(Workflow):
    """Waits for a person."""

    @step
    async def only(self, ctx: Context, ev: StartEvent) -> StopEvent:
        question = InputRequiredEvent(prefix="inner?")
        answer = await ctx.wait_for_event(HumanResponseEvent, waiter_event=question, waiter_id="inner")
        return StopEvent(result=answer.response)


class Outer(Workflow):
    """A first step, and a second one that runs other workflows."""

    @step
    async def first(self, ev: StartEvent) -> Item:
        bump(LOG, "first")
        return Item(n=1)

    @step
    async def second(self, ev: Item) -> StopEvent:
        raise NotImplementedError


class Single(Outer):
    @step
    async def second(self, ev: Item) -> StopEvent:
        bump(LOG, "second")
        return StopEvent(result=await Inner(timeout=None).run(n=ev.n))


class Sync(Outer):
    @step
    def second(self, ev: Item) -> StopEvent:
        bump(LOG, "second")

        async def inner() -> Any:
            return await Inner(timeout=None).run(n=ev.n)

        return StopEvent(result=asyncio.run(inner()))


class Equal(Outer):
    @step
    async def second(self, ev: Item) -> StopEvent:
        bump(LOG, "second")
        return StopEvent(result=await asyncio.gather(*(Inner(timeout=None).run(n=i // 2) for i in range(4))))


SHARED = Inner(timeout=None)


class Shared(Outer):
    @step
    async def second(self, ev: Item) -> StopEvent:
        bump(LOG, "second")
        return StopEvent(result=await asyncio.gather(*(SHARED.run(n=i) for i in range(3))))


class Retried(Outer):
    @step(retry_policy=retry_policy(wait=wait_fixed(0.01), stop=stop_after_attempt(2)))
    async def second(self, ev: Item) -> StopEvent:
        bump(LOG, "second")
        return StopEvent(result=await Inner(timeout=None).run(n=ev.n))


class Catches(Outer):
    @step
    async def second(self, ev: Item) -> StopEvent:
        bump(LOG, "second")
        try:
            return StopEvent(result=await Inner(timeout=None).run(n=ev.n))
        except ValueError as error:
            return StopEvent(result=f"caught: {error}")


class Hurried(Outer):
    @step
    async def second(self, ev: Item) -> StopEvent:
        bump(LOG, "second")
        return StopEvent(result=await Inner(timeout=0.3).run(n=ev.n))


class Waits(Outer):
    @step
    async def second(self, ev: Item) -> StopEvent:
        bump(LOG, "second")
        return StopEvent(result=await Asks(timeout=None).run())


async def main(name: str) -> None:
    """Run one workflow, and say how it ended."""
    try:
        async with durable("outer", board="none", wait=0):
            result = await globals()[name](timeout=None).run()
            print(f"result {result}")
    except BaseException as error:
        print(f"{type(error).__name__} {error}")
        if not isinstance(error, Exception) and type(error).__name__ != "RunEnded":
            raise


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
