"""Workflows for kernels that are killed; what they do depends on files in the working folder."""

from __future__ import annotations

import asyncio
import os

from workflows import Workflow, step
from workflows.events import Event, StartEvent, StopEvent
from workflows.retry_policy import retry_policy, stop_after_attempt, wait_fixed

from tests.counting import bump, counts

LOG = "log"
N = 100
BAD = (3, 17, 40, 41, 99)
HELD = 60
"""From this item on, work waits for a file ``go``."""
WORKERS = 4
FIRST_S = 0.4


class Item(Event):
    i: int


class Done(Event):
    i: int


def there(name: str) -> bool:
    """Whether a file is in the working folder."""
    return os.path.exists(name)


async def until_there(name: str) -> None:
    """Wait for a file."""
    while not there(name):  # noqa: ASYNC110  # another process makes it
        await asyncio.sleep(0.01)


class Enrich(Workflow):
    """A hundred documents, five of them bad until a file ``fixed`` is there; each is tried twice."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        bump(LOG, "split")
        return [Item(i=i) for i in range(N)]

    @step(num_workers=WORKERS, retry_policy=retry_policy(wait=wait_fixed(0), stop=stop_after_attempt(2)))
    async def work(self, ev: Item) -> Done:
        bump(LOG, f"work {ev.i}")
        if ev.i in BAD and not there("fixed"):
            raise ValueError("bad document")
        if ev.i >= HELD:
            await until_there("go")
        return Done(i=ev.i)

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        bump(LOG, f"join {len(ev)}")
        return StopEvent(result=len(ev))


class Tries(Workflow):
    """A first step that takes its time, and one that may be tried three times and never comes right."""

    @step
    async def first(self, ev: StartEvent) -> Item:
        bump(LOG, "first")
        await asyncio.sleep(FIRST_S)
        return Item(i=0)

    @step(retry_policy=retry_policy(wait=wait_fixed(0), stop=stop_after_attempt(3)))
    async def work(self, ev: Item) -> StopEvent:
        bump(LOG, "work")
        if counts(LOG)["work"] == 2:
            await until_there("never")
        raise ValueError("bad document")
