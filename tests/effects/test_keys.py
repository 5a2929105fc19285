"""Idempotency keys for clients that take one."""

from __future__ import annotations

from pathlib import Path

from workflows import Context, Workflow, step
from workflows.events import StartEvent, StopEvent
from workflows.retry_policy import retry_policy, stop_after_attempt, wait_fixed

from jupyter_wfresume import effect, idempotency_key
from jupyter_wfresume.effects.entries import key_digest
from tests.effects.shops import Order, Paid, World, cut, live, opened, world


class Keys(Workflow):
    """Each order calls a client that takes a key, and fails once after it."""

    @step
    async def split(self, ev: StartEvent) -> list[Order]:
        return [Order(i=i) for i in ev.orders]

    @step(retry_policy=retry_policy(wait=wait_fixed(0), stop=stop_after_attempt(2)))
    async def pay(self, ctx: Context, ev: Order) -> Paid:
        world().keys.append(idempotency_key())
        world().keys.append(idempotency_key("refund", ev.i))
        if ctx.retry_info().retry_number == 0:
            raise TimeoutError
        return Paid(i=ev.i, receipt=None)

    @step
    async def close(self, evs: list[Paid]) -> StopEvent:
        return StopEvent(result=len(evs))


async def test_a_key_is_the_same_over_attempts_and_runs(store_dir: Path) -> None:
    """Equal work has an equal key, in a retry, a fresh run, and another store; other work, parts and names
    have others."""
    here = World()
    await live(store_dir, here, lambda: Keys(timeout=None).run(orders=[1, 2]))
    assert len(here.keys) == 8
    assert len(set(here.keys)) == 4
    assert all(len(key) == 32 for key in here.keys)
    fresh = World()
    await live(store_dir.parent / "other", fresh, lambda: Keys(timeout=None).run(orders=[2, 1, 3]))
    assert set(here.keys) < set(fresh.keys)
    renamed = World()
    await live(store_dir, renamed, lambda: Keys(timeout=None).run(orders=[1, 2]), name="another")
    assert not set(here.keys) & set(renamed.keys)


def test_outside_of_a_durable_run_each_key_is_new() -> None:
    """Nothing tells two calls apart there, so they are never taken for one."""
    assert idempotency_key("a") != idempotency_key("a")


def test_the_order_of_a_keys_fields_is_none_of_the_key() -> None:
    """A key that is a dict is one key in whatever order it was written: nobody is charged twice for that."""
    assert key_digest("charge", {"of": 1, "as": 2}) == key_digest("charge", {"as": 2, "of": 1})
    assert key_digest("charge", {"of": 1, "as": 2}) != key_digest("charge", {"of": 2, "as": 1})


class Pays(Workflow):
    @step
    async def pay(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=await effect("charge", key=81, do=world().charge))


async def test_only_what_had_happened_gets_a_new_key_when_it_is_done_again(store_dir: Path) -> None:
    """After a doubt the old key finds the old charge; after a charge that is known, only a new key makes
    another one."""
    here = World(cut)
    await live(store_dir, here, lambda: Pays().run())
    opened(store_dir).resolve("charge", 81, "retry")
    await live(store_dir, here, lambda: Pays().run())
    assert here.keys[0] == here.keys[1]
    opened(store_dir).resolve("charge", 81, "undone")
    opened(store_dir).resolve("charge", 81, "retry")
    await live(store_dir, here, lambda: Pays().run(), fresh=2)
    assert len(set(here.keys)) == 2
    assert here.calls[81] == 3
