"""An execution that began a side effect without an outcome is not left out before a person has spoken."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from workflows import Workflow, step
from workflows.events import StartEvent, StopEvent

from jupyter_wfresume import durable, effect, open_run
from jupyter_wfresume.durable import view_of
from jupyter_wfresume.errors import UsageError
from jupyter_wfresume.show import look_at
from tests.effects.shops import Order, Paid


async def too_slow(key: Any) -> None:
    """Begin, and never come back."""
    await asyncio.Event().wait()


class Hasty(Workflow):
    """Waits for each payment for so long only; the second order begins no side effect."""

    @step
    async def split(self, ev: StartEvent) -> list[Order]:
        return [Order(i=i) for i in range(2)]

    @step
    async def pay(self, ev: Order) -> Paid:
        if ev.i:
            raise ValueError("no such order")
        await asyncio.wait_for(effect("charge", key=ev.i, do=too_slow), 0.05)
        raise AssertionError("it never comes back")

    @step
    async def close(self, evs: list[Paid]) -> StopEvent:
        return StopEvent(result=len(evs))


async def lived(store: Path) -> Any:
    """One life that sets both orders aside; return the run's id."""
    with pytest.raises((asyncio.TimeoutError, ValueError)):
        async with durable("shop", store=store, keep_going=True, board="none"):
            await Hasty(timeout=None).run()
    return open_run("shop", store).id[:8]


async def test_it_is_refused_with_what_to_type_first(store_dir: Path) -> None:
    """The sentence names the side effect and its command; once it is settled the execution is left out."""
    short = await lived(store_dir)
    run = open_run("shop", store_dir)
    with pytest.raises(UsageError) as refused:
        run.skip("pay", 0, 1)
    assert str(refused.value) == (
        "pay[0] began charge[0], and nobody knows whether it happened: say first what is so with "
        f"`%wfresolve {short} charge[0] --store {store_dir} done RECEIPT | retry`, then leave it out"
    )
    assert run.left_out == {}
    run.skip("pay", 1)
    run.resolve("charge", 0, "done", "ch_0")
    run.skip("pay", 0)
    assert sorted(run.left_out) == ["pay[0]", "pay[1]"]


async def test_the_list_of_failures_names_it_first(store_dir: Path) -> None:
    """Beside such a failure ``%wfresolve`` comes before all else, until it is settled; beside others not."""
    short = await lived(store_dir)
    first = (
        f"say first what became of charge[0]: %wfresolve {short} charge[0] --store {store_dir} done RECEIPT"
    )
    shown = repr(look_at("shop", store=str(store_dir)))
    assert f"{first} | retry · look: %wfshow {short} pay[0]" in shown
    assert f"then leave it out: %wfskip {short} pay[0] --store {store_dir}" in shown
    assert f"· leave it out: %wfskip {short} pay[1] --store {store_dir}" in shown
    run = open_run("shop", store_dir)
    run.resolve("charge", 0, "retry")
    assert all(not error.unclear for group in view_of(run).failures for error in group.errors)
    assert "%wfresolve" not in repr(look_at("shop", store=str(store_dir)))
