"""An effect that nobody awaits, or whose execution is not known, is neither lost nor done twice."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from workflows import Workflow, step
from workflows.events import StartEvent, StopEvent

from jupyter_wfresume import effect, idempotency_key
from jupyter_wfresume.effects import OPEN
from jupyter_wfresume.errors import UsageError
from jupyter_wfresume.records import Options
from jupyter_wfresume.session import Session
from tests.effects.shops import World, live, opened, world

REFUSED = (
    "effect 'charge' is called outside of a step, or in a thread that its step started by itself: call it "
    "through asyncio.to_thread, or run the thread's function in contextvars.copy_context()"
)
NOT_AWAITED = (
    "effect 'charge' was not awaited in pay[0]: write `await effect(...)`, or `effect.sync(...)` "
    "in a plain function"
)


def charge() -> Any:
    """Ask from wherever it is called, with the world of this test."""
    return effect.sync("charge", key=81, do=world().charge)


def in_thread(call: Callable[[], Any]) -> Any:
    """Call something in a thread without a context, and raise here what it raises."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(call())
        except UsageError as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if isinstance(found[0], UsageError):
        raise found[0]
    return found[0]


def in_pool(call: Callable[[], Any]) -> Any:
    """Call something in a thread of a pool."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()


def mapped(call: Callable[[], Any]) -> Any:
    """Call something by a pool's ``map``."""
    with ThreadPoolExecutor(1) as pool:
        return next(pool.map(lambda _: call(), [0]))


def in_loop_of_a_thread(call: Callable[[], Any]) -> Any:
    """Await an effect in a loop of a thread's own."""

    async def awaited() -> Any:
        return await effect("charge", key=81, do=lambda key: call())

    return in_pool(lambda: asyncio.run(awaited()))


class Plain(Workflow):
    """Hands its call to a thread of its own."""

    def __init__(self, way: Callable[..., Any], call: Callable[[], Any]) -> None:
        super().__init__(timeout=None)
        self._way = way
        self._call = call

    @step
    def pay(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=self._way(self._call))


@pytest.mark.parametrize("way", [in_thread, in_pool, mapped, in_loop_of_a_thread])
async def test_in_a_thread_that_a_step_started_by_itself_it_is_refused(
    way: Callable[..., Any], store_dir: Path
) -> None:
    """Nobody knows there which execution asks, so ``do`` is not called."""
    here = World()

    def call() -> Any:
        return effect.sync("charge", key=81, do=here.charge)

    life = await live(store_dir, here, lambda: Plain(way, call).run())
    assert isinstance(life.error, UsageError)
    assert str(life.error) == REFUSED
    assert not here.calls
    assert not opened(store_dir).effects


async def test_in_a_copied_context_such_a_thread_knows_its_execution(store_dir: Path) -> None:
    """What the refusal says to write keeps the effect: a second, fresh run gets the receipt."""
    here = World()

    def way(call: Callable[[], Any]) -> Any:
        context = contextvars.copy_context()
        return in_pool(lambda: context.run(call))

    for _ in range(2):
        life = await live(store_dir, here, lambda: Plain(way, charge).run(), fresh=2)
        assert life.result == "ch_81"
    assert here.calls == {81: 1}


async def test_in_a_cells_own_code_it_is_refused(store_dir: Path) -> None:
    """Between runs nothing is kept, though the cell is durable; after the cell it is a plain call."""
    here = World()

    async def body() -> Any:
        return await effect("charge", key=1, do=here.charge)

    life = await live(store_dir, here, body)
    assert str(life.error) == REFUSED
    assert not here.calls
    assert await body() == "ch_1"


async def test_an_idempotency_key_is_refused_there_too(store_dir: Path) -> None:
    """A key that is a new one each time would let a service charge twice."""
    life = await live(store_dir, World(), lambda: Plain(in_pool, idempotency_key).run())
    assert isinstance(life.error, UsageError)
    assert str(life.error).startswith("idempotency_key() is called outside of a step")


async def test_a_replay_refuses_it_as_well(store_dir: Path) -> None:
    """A replay does no side effects, in threads of the step neither."""
    here = World()
    ways: list[Callable[..., Any]] = [lambda call: call()]
    flow = Plain(lambda call: ways[-1](call), charge)
    life = await live(store_dir, here, flow.run)
    assert life.result == "ch_81"
    ways.append(in_pool)

    def asked() -> Any:
        return effect.sync("charge", key=81, do=here.charge)

    flow._call = asked
    outcome = await asyncio.to_thread(opened(store_dir).execution("pay", 0).replay, workflow=flow)
    assert REFUSED in str(outcome.new.error)
    assert here.calls == {81: 1}


class Forgets(Workflow):
    """Asks for an effect and never awaits it."""

    @step
    async def pay(self, ev: StartEvent) -> StopEvent:
        asked = effect("charge", key=81, do=world().charge)
        return StopEvent(result=str(type(asked)))


class PlainForgets(Workflow):
    """Takes what ``effect`` returns for the receipt."""

    @step
    def pay(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=effect("charge", key=81, do=world().charge))


@pytest.mark.parametrize("flow", [Forgets, PlainForgets])
async def test_an_effect_that_was_not_awaited_fails_the_execution(
    flow: type[Workflow], store_dir: Path
) -> None:
    """It was never done, so the step is not through; Python's own warning, an error here, does not come."""
    here = World()
    life = await live(store_dir, here, lambda: flow().run())
    assert isinstance(life.error, UsageError)
    assert str(life.error) == NOT_AWAITED
    assert not here.calls
    assert opened(store_dir).status == "failed"


@pytest.mark.parametrize("wrapped", [False, True])
async def test_an_effect_in_a_task_that_the_step_leaves_is_awaited(wrapped: bool, store_dir: Path) -> None:
    """A task has it, although it has not begun when the step returns."""
    here = World()
    tasks: list[asyncio.Task[Any]] = []

    class Leaves(Workflow):
        @step
        async def pay(self, ev: StartEvent) -> StopEvent:
            asked = effect("charge", key=81, do=here.charge)
            tasks.append(asyncio.create_task(asyncio.wait_for(asked, 60) if wrapped else asked))
            return StopEvent(result="left")

    async def body() -> Any:
        result = await Leaves().run()
        await tasks[0]
        return result

    life = await live(store_dir, here, body)
    assert (life.result, here.calls) == ("left", {81: 1})


async def test_effects_may_be_awaited_later_in_the_execution(store_dir: Path) -> None:
    """Any time before it ends will do, all at once too."""
    here = World()

    class Gathers(Workflow):
        @step
        async def pay(self, ev: StartEvent) -> StopEvent:
            asked = [effect("charge", key=key, do=here.charge) for key in range(3)]
            await asyncio.sleep(0)
            return StopEvent(result=await asyncio.gather(*asked))

    life = await live(store_dir, here, lambda: Gathers().run())
    assert life.result == ["ch_0", "ch_1", "ch_2"]


def test_no_session_is_left_open(store_dir: Path) -> None:
    """What counts sessions is back where it was when one has ended, also by an error."""
    before = bool(OPEN)
    session = Session("it", Options(store=str(store_dir)), on_view=print, on_close_view=print, tell=print)
    seen: list[bool] = []

    def body() -> None:
        with session:
            seen.append(bool(OPEN))
            raise KeyError

    with pytest.raises(KeyError):
        body()
    assert (before, seen) == (False, [True])
    assert not OPEN
