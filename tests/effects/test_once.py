"""A side effect is done once for a name, whoever asks for it, and however an attempt ends."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from workflows import Workflow, step
from workflows.events import StartEvent, StopEvent

from jupyter_wfresume import effect
from jupyter_wfresume.effects import Doubt
from jupyter_wfresume.errors import UsageError
from jupyter_wfresume.session.interrupt import step_in
from jupyter_wfresume.store import Store
from tests.effects.shops import (
    Shop,
    Stubborn,
    Threads,
    World,
    live,
    opened,
    world,
)


async def test_outside_of_a_durable_run_an_effect_is_a_plain_call() -> None:
    """Without the magic nothing is kept: ``do`` is called each time, and ``verify`` never."""
    here = World()
    here.verify = lambda key: "known"
    for _ in range(2):
        assert await effect("charge", key=1, do=here.charge, verify=here.verifier) == "ch_1"
    assert here.calls[1] == 2
    assert not here.asked


@pytest.mark.parametrize("flow", [Shop, Threads])
async def test_a_receipt_belongs_to_the_name(flow: type[Workflow], store_dir: Path) -> None:
    """A second run, a fresh one and another workflow of the name get the receipts; another name does not."""
    here = World()
    first = await live(store_dir, here, lambda: flow(timeout=None).run(orders=[1, 2, 3]))
    assert first.result == [(1, "ch_1"), (2, "ch_2"), (3, "ch_3")]
    more = await live(store_dir, here, lambda: flow(timeout=None).run(orders=[2, 3, 4]))
    fresh = await live(store_dir, here, lambda: flow(timeout=None).run(orders=[1, 2, 3]), fresh=2)
    other = await live(
        store_dir, here, lambda: (Threads if flow is Shop else Shop)(timeout=None).run(orders=[4])
    )
    assert (more.result, fresh.result, other.result) == (
        [(2, "ch_2"), (3, "ch_3"), (4, "ch_4")],
        first.result,
        [(4, "ch_4")],
    )
    assert here.calls == {1: 1, 2: 1, 3: 1, 4: 1}
    await live(store_dir, here, lambda: flow(timeout=None).run(orders=[4]), name="another")
    assert here.calls[4] == 2


async def test_keys_of_another_type_are_other_effects(store_dir: Path) -> None:
    """1 and "1" are two orders."""
    here = World()
    await live(store_dir, here, lambda: Shop(timeout=None).run(orders=[1]))

    class Text(Workflow):
        @step
        async def pay(self, ev: StartEvent) -> StopEvent:
            return StopEvent(result=await effect("charge", key="1", do=world().charge))

    await live(store_dir, here, lambda: Text().run())
    assert here.calls == {1: 1, "1": 1}


@pytest.mark.parametrize("flow", [Shop, Threads])
async def test_equal_keys_at_the_same_time_are_one_effect(flow: type[Workflow], store_dir: Path) -> None:
    """Of executions that ask at once, one does it, and the others get its receipt."""

    def answer(key: Any, call: int) -> Any:
        if flow is Threads:
            time.sleep(0.05)
            return call
        return asyncio.sleep(0.05, call)

    here = World(answer)
    life = await live(store_dir, here, lambda: flow(timeout=None).run(orders=[7] * 6))
    assert life.result == [(7, 1)] * 6
    assert here.calls == {7: 1}


async def test_a_clean_failure_is_tried_again(store_dir: Path) -> None:
    """What ``do`` raises goes to the retry policy, and the next attempt calls it again."""

    def answer(key: Any, call: int) -> Any:
        if call < 3:
            raise ConnectionError("no route")
        return call

    here = World(answer)
    life = await live(store_dir, here, lambda: Stubborn().run())
    assert life.result == 3
    assert here.receipts == ["ConnectionError"] * 2
    assert len(set(here.keys)) == 1
    (entry,) = opened(store_dir).effects
    assert (entry.state, entry.calls, entry.receipt()) == ("done", 3, 3)


async def test_a_failure_for_good_leaves_its_text(store_dir: Path) -> None:
    """When the attempts are used up, the run fails with the user's own exception, and the record says why."""

    def answer(key: Any, call: int) -> Any:
        raise ConnectionError("no route")

    life = await live(store_dir, World(answer), lambda: Stubborn().run())
    assert type(life.error) is ConnectionError
    (entry,) = opened(store_dir).effects
    assert (entry.state, entry.said) == ("failed", "ConnectionError: no route")
    again = await live(store_dir, World(), lambda: Stubborn().run())
    assert again.result == "ch_81"


async def test_after_a_failure_verify_may_know_better(store_dir: Path) -> None:
    """A call that raised and yet arrived is not made again, where ``verify`` has its receipt."""

    def answer(key: Any, call: int) -> Any:
        raise TimeoutError("no answer")

    here = World(answer)
    here.verify = lambda key: "arrived"
    life = await live(store_dir, here, lambda: Stubborn().run())
    assert (life.result, here.calls[81], here.asked[81]) == ("arrived", 1, 1)
    assert opened(store_dir).effects[0].by == "verify"


async def test_after_a_failure_a_verify_that_raises_asks_a_person(store_dir: Path) -> None:
    """A call that raised may have arrived: where ``verify`` cannot tell, no attempt makes it again."""

    def answer(key: Any, call: int) -> Any:
        raise TimeoutError("no answer")

    def verify(key: Any) -> Any:
        raise OSError("down")

    here = World(answer)
    here.verify = verify
    life = await live(store_dir, here, lambda: Stubborn().run())
    assert isinstance(life.error, Doubt)
    assert re.fullmatch(
        r"charge\[81\] may have happened at [\d:]+, and verify cannot tell \(OSError: down\): say what is so "
        r"with `%wfresolve shop charge\[81\] .*",
        life.error.sentence,
    )
    assert (here.calls[81], opened(store_dir).status) == (1, "waiting")
    opened(store_dir).resolve("charge", 81, "retry")
    here.answer = lambda key, call: call
    last = await live(store_dir, here, lambda: Stubborn().run())
    assert last.result == 2


async def test_an_effect_cannot_ask_for_itself(store_dir: Path) -> None:
    """A ``do`` that asks for its own effect would wait for itself without end."""

    class Round(Workflow):
        @step
        async def pay(self, ev: StartEvent) -> StopEvent:
            async def again(key: int) -> Any:
                return await effect("charge", key=key, do=again)

            return StopEvent(result=await effect("charge", key=1, do=again))

    life = await live(store_dir, World(), lambda: Round().run())
    assert isinstance(life.error, UsageError)
    assert "asks for itself" in str(life.error)


async def test_one_effect_within_another(store_dir: Path) -> None:
    """A ``do`` may use other effects, and each has its own idempotency key."""
    here = World()

    class Both(Workflow):
        @step
        async def pay(self, ev: StartEvent) -> StopEvent:
            async def both(key: int) -> Any:
                here.charge(key)
                return [await effect("fee", key=key, do=here.charge), here.charge(key)]

            return StopEvent(result=await effect("charge", key=1, do=both))

    life = await live(store_dir, here, lambda: Both().run())
    assert life.result == ["ch_1", "ch_1"]
    assert here.keys[0] == here.keys[2] != here.keys[1]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no key": ({"key": None}, "charge has the key None"),
    "empty key": ({"key": ""}, "charge has the key ''"),
    "a key that is no value": ({"key": lambda: 1}, "the key of charge cannot be used"),
    "no function": ({"do": "charge"}, "do is a function of the key"),
    "no verify": ({"verify": 3}, "verify is a function of the key"),
    "brackets": ({"effect": "charge[1]"}, "one word without brackets"),
    "blanks": ({"effect": "charge card"}, "one word without brackets"),
    "long": ({"effect": "c" * 81}, "short text"),
    "no name": ({"effect": ""}, "short text"),
}


@pytest.mark.parametrize(("given", "said"), WRONG.values(), ids=WRONG.keys())
async def test_what_cannot_be_an_effect_is_named(given: dict[str, Any], said: str) -> None:
    """A name, key or function that does not fit is refused before anything happens, durable or not."""
    here = World()
    wanted: dict[str, Any] = {"effect": "charge", "key": 1, "do": here.charge} | given
    name = wanted.pop("effect")
    with pytest.raises(UsageError, match=re.escape(said)):
        await effect(name, **wanted)
    assert not here.calls


async def test_in_an_async_step_the_plain_way_is_refused() -> None:
    """``effect.sync`` would block the loop, so it says what to write instead."""
    with pytest.raises(UsageError, match=r'write `await effect\("charge", ...\)` here'):
        effect.sync("charge", key=1, do=str)


async def test_a_plain_function_may_have_a_coroutine_for_do(store_dir: Path) -> None:
    """In a thread, an ``async`` client runs to its end on a loop of its own."""

    async def answer(key: Any) -> Any:
        await asyncio.sleep(0)
        return key

    here = World(lambda key, call: answer(key))
    life = await live(store_dir, here, lambda: Threads(timeout=None).run(orders=[1]))
    assert life.result == [(1, 1)]


async def test_a_step_that_blocks_in_do_can_be_interrupted(store_dir: Path) -> None:
    """The interrupt's handler may raise in the user's ``do``, and never in what writes intent and receipt."""
    found: list[Any] = []

    def look(key: Any, call: int) -> Any:
        found.append(step_in(sys._getframe()))
        return "ch"

    here = World(look)
    swap = Store.swap_note

    def write(self: Store, *args: Any, **more: Any) -> bool:
        found.append(step_in(sys._getframe()))
        return swap(self, *args, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "swap_note", write)
        await live(store_dir, here, lambda: Shop(timeout=None).run(orders=[1]))
    intent, call, receipt = found
    assert (intent, receipt) == (None, None)
    assert call is not None
    assert call.label == "pay[0]"


@pytest.mark.parametrize("way", ["to_thread", "run_in_executor"])
async def test_an_effect_in_a_thread_of_a_step_is_kept(way: str, store_dir: Path) -> None:
    """A step may hand the call to a thread, and it stays this execution's effect."""
    here = World()

    class Hands(Workflow):
        @step
        async def pay(self, ev: StartEvent) -> StopEvent:
            call = partial(effect.sync, "charge", key=81, do=here.charge)
            if way == "to_thread":
                return StopEvent(result=await asyncio.to_thread(call))
            return StopEvent(result=await asyncio.get_running_loop().run_in_executor(None, call))

    for _ in range(2):
        life = await live(store_dir, here, lambda: Hands().run(), fresh=2)
        assert life.result == "ch_81"
    assert here.calls == {81: 1}
    assert len({entry.name for entry in opened(store_dir).effects}) == 1
