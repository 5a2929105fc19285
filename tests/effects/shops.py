"""Workflows with side effects, the world that they touch, and one life of a run."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workflows import Workflow, step
from workflows.events import Event, StartEvent, StopEvent
from workflows.retry_policy import retry_policy, stop_after_attempt, wait_fixed

from jupyter_wfresume import effect, idempotency_key, open_run
from jupyter_wfresume.records import Options, RunView
from jupyter_wfresume.session import Run, Session

LIFE_S = 30.0
"""A life that takes longer hangs."""

NAME = "shop"


class World:
    """What is outside: what was charged, and how it answers.

    Args:
        answer: makes the receipt of the N-th call for a key, or raises.
    """

    def __init__(self, answer: Callable[[Any, int], Any] | None = None) -> None:
        self.calls: Counter[Any] = Counter()
        self.asked: Counter[Any] = Counter()
        self.keys: list[str] = []
        self.seen: dict[Any, Any] = {}
        self.receipts: list[Any] = []
        self.verify: Callable[[Any], Any] | None = None
        self.answer = answer or (lambda key, call: f"ch_{key}")
        self.lock = threading.Lock()

    def charge(self, key: Any) -> Any:
        """Happen once more."""
        with self.lock:
            self.calls[key] += 1
            self.keys.append(idempotency_key())
            call = self.calls[key]
        return self.answer(key, call)

    @property
    def verifier(self) -> Callable[[Any], Any] | None:
        """What a step passes as ``verify``."""
        if self.verify is None:
            return None
        known = self.verify

        def verify(key: Any) -> Any:
            self.asked[key] += 1
            return known(key)

        return verify


# No plain global: a step's code is told apart by the values that it reads, and this differs with each test.
WORLD: ContextVar[World] = ContextVar("world")


def world() -> World:
    """The world of this test."""
    return WORLD.get()


class Order(Event):
    i: Any


class Paid(Event):
    i: Any
    receipt: Any


class Shop(Workflow):
    """Some orders are paid, several at a time."""

    @step
    async def split(self, ev: StartEvent) -> list[Order]:
        return [Order(i=i) for i in ev.orders]

    @step(num_workers=4)
    async def pay(self, ev: Order) -> Paid:
        receipt = await effect("charge", key=ev.i, do=world().charge, verify=world().verifier)
        world().receipts.append(receipt)
        return Paid(i=ev.i, receipt=receipt)

    @step
    async def close(self, evs: list[Paid]) -> StopEvent:
        return StopEvent(result=sorted((ev.i, ev.receipt) for ev in evs))


class Threads(Workflow):
    """The same in plain functions."""

    @step
    def split(self, ev: StartEvent) -> list[Order]:
        return [Order(i=i) for i in ev.orders]

    @step(num_workers=4)
    def pay(self, ev: Order) -> Paid:
        receipt = effect.sync("charge", key=ev.i, do=world().charge, verify=world().verifier)
        return Paid(i=ev.i, receipt=receipt)

    @step
    def close(self, evs: list[Paid]) -> StopEvent:
        return StopEvent(result=sorted((ev.i, ev.receipt) for ev in evs))


class Stubborn(Workflow):
    """One order, with three attempts; the step swallows every ``Exception`` but raises it again."""

    @step(retry_policy=retry_policy(wait=wait_fixed(0), stop=stop_after_attempt(3)))
    async def pay(self, ev: StartEvent) -> StopEvent:
        try:
            receipt = await effect("charge", key=81, do=world().charge, verify=world().verifier)
        except Exception as error:
            world().receipts.append(type(error).__name__)
            raise
        return StopEvent(result=receipt)


class Impatient(Workflow):
    """It gives the service no time, and tries once more."""

    @step(retry_policy=retry_policy(wait=wait_fixed(0), stop=stop_after_attempt(2)))
    async def pay(self, ev: StartEvent) -> StopEvent:
        async def slow(key: int) -> Any:
            receipt = world().charge(key)
            if world().calls[key] == 1:
                await asyncio.Event().wait()
            return receipt

        paying = effect("charge", key=81, do=slow, verify=world().verifier)
        return StopEvent(result=await asyncio.wait_for(paying, 0.05))


class Outer(Workflow):
    """Its step runs another workflow."""

    @step
    async def inner(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=await Shop(timeout=None).run(orders=[81]))


@dataclass
class Life:
    """What one life did."""

    result: Any = None
    error: BaseException | None = None
    views: list[RunView] = field(default_factory=list)


async def live(store: Path, here: World, body: Callable[[], Awaitable[Any]], **options: Any) -> Life:
    """Run a body in a session to its end."""
    life = Life()
    token = WORLD.set(here)
    session = Session(
        options.pop("name", NAME),
        Options(store=str(store), **options),
        on_view=lambda view: None,
        on_close_view=life.views.append,
        tell=lambda line: None,
    )
    try:
        with session:
            life.result = await asyncio.wait_for(body(), LIFE_S)
    except BaseException as error:  # noqa: BLE001  # how a life ends is what is looked at
        life.error = error
    finally:
        WORLD.reset(token)
    return life


def opened(store: Path, name: str = NAME) -> Run:
    """The latest run."""
    return open_run(name, store)


def cut(key: Any, call: int) -> Any:
    """An answer that never comes the first time: the process is interrupted meanwhile."""
    if call == 1:
        raise KeyboardInterrupt
    return f"ch_{key}"
