"""Replays and forks: receipts are given, and nothing is done."""

from __future__ import annotations

from pathlib import Path

import pytest
from workflows import Workflow, step
from workflows.events import StartEvent, StopEvent

from jupyter_wfresume import effect, idempotency_key
from jupyter_wfresume.effects.place import HERE
from jupyter_wfresume.engine import default_state, run_alone
from jupyter_wfresume.errors import UsageError
from tests.effects.shops import WORLD, Order, Shop, Threads, World, cut, live, opened, world


@pytest.fixture
def here() -> World:
    """The world, also for replays, which run outside of a life."""
    made = World()
    WORLD.set(made)
    return made


@pytest.mark.parametrize("flow", [Shop, Threads])
async def test_a_replay_gives_the_receipt(flow: type[Workflow], here: World, store_dir: Path) -> None:
    """The step runs again, and its effect does not."""
    shop = flow(timeout=None)
    await live(store_dir, here, lambda: shop.run(orders=[1, 2]))
    done = opened(store_dir).execution("pay", 1).replay(workflow=shop)
    assert done.new.error is None
    assert done.new_output[0].receipt == "ch_2"
    assert here.calls == {1: 1, 2: 1}


async def test_a_replay_without_a_receipt_says_so(here: World, store_dir: Path) -> None:
    """A replay does not charge an edited key; told to, it does, and records nothing of it."""
    shop = Shop(timeout=None)
    await live(store_dir, here, lambda: shop.run(orders=[1]))
    run = opened(store_dir)
    done = run.execution("pay", 0).replay(edit={"i": 9}, workflow=shop)
    assert isinstance(done.new.error, UsageError)
    assert str(done.new.error).startswith(
        "a replay does no side effects, and charge[9] has never been done: replay(effects=True)"
    )
    assert here.calls == {1: 1}
    told = run.execution("pay", 0).replay(edit={"i": 9}, workflow=shop, effects=True)
    assert told.new_output[0].receipt == "ch_9"
    really = "replayed alone; its side effects were really done, and nothing of them was written"
    assert really in repr(told)
    assert really in told._repr_html_()
    assert "replayed alone, nothing was written" in repr(done)
    assert here.calls == {1: 1, 9: 1}
    assert [entry.name for entry in run.effects] == ["charge[1]"]


@pytest.mark.parametrize("flow", [Shop, Threads])
async def test_a_replay_leaves_a_doubt_as_it_is(flow: type[Workflow], store_dir: Path) -> None:
    """What was cut off between intent and receipt a replay neither does nor asks about."""
    here = World(lambda key, call: cut(key, call) if key == 2 else f"ch_{key}")
    here.verify = lambda key: "known"
    WORLD.set(here)
    shop = flow(timeout=None)
    await live(store_dir, here, lambda: shop.run(orders=[1]))
    run = opened(store_dir)
    await live(store_dir, here, lambda: shop.run(orders=[2]))
    done = run.execution("pay", 0).replay(edit={"i": 2}, workflow=shop)
    assert isinstance(done.new.error, UsageError)
    assert "charge[2] has no receipt (begun at " in str(done.new.error)
    assert (here.calls, here.asked) == ({1: 1, 2: 1}, {})
    assert [(entry.name, entry.state) for entry in run.effects] == [
        ("charge[2]", "begun"),
        ("charge[1]", "done"),
    ]


async def test_a_fork_gets_the_receipts(here: World, store_dir: Path) -> None:
    """A run that goes on from an edited step does only what was never done."""
    shop = Shop(timeout=None)
    await live(store_dir, here, lambda: shop.run(orders=[1, 2]))
    result = (
        opened(store_dir).execution("split", 0).replay(edit={"orders": [2, 3]}, continue_=True, workflow=shop)
    )
    assert result == [(2, "ch_2"), (3, "ch_3")]
    assert here.calls == {1: 1, 2: 1, 3: 1}


async def test_a_step_alone_without_a_record_does_nothing(here: World) -> None:
    """Whoever runs a step alone, its effects are not done."""
    assert HERE.get() is None
    flow = Shop(timeout=None)
    done = await run_alone(flow, "pay", [Order(i=1)], default_state(flow))
    assert isinstance(done.error, UsageError)
    assert not here.calls


class Tells(Workflow):
    @step
    async def pay(self, ev: StartEvent) -> StopEvent:
        world().keys.append(idempotency_key())
        return StopEvent(result=await effect("charge", key=1, do=world().charge))


async def test_a_replay_has_the_idempotency_key_of_its_execution(here: World, store_dir: Path) -> None:
    """The same input has the same key; an edited one has another."""
    flow = Tells()
    await live(store_dir, here, lambda: flow.run(n=1))
    opened(store_dir).execution("pay", 0).replay(workflow=flow)
    opened(store_dir).execution("pay", 0).replay(edit={"n": 2}, workflow=flow)
    first, _inside, again, edited = here.keys
    assert first == again != edited
