"""With ``keep_going``, an execution in doubt is set aside, and all else goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from workflows import Workflow, step
from workflows.events import StartEvent, StopEvent

from jupyter_wfresume.effects import Doubt
from tests.effects.shops import Order, Paid, Shop, Threads, World, cut, live, opened


def answer(key: Any, call: int) -> Any:
    """The first call for order 0 is interrupted; order 3 is refused."""
    if key == 0:
        return cut(key, call)
    if key == 3:
        raise ConnectionError("no route")
    return f"ch_{key}"


@pytest.mark.parametrize("flow", [Shop, Threads])
async def test_all_else_is_done_and_the_run_waits(flow: type[Workflow], store_dir: Path) -> None:
    """It holds no worker, no fan-in fires without it; the sentence has the doubt, then the failures."""
    here = World(answer)

    def body() -> Any:
        return flow(timeout=None).run(orders=list(range(8)))

    await live(store_dir, here, lambda: flow(timeout=None).run(orders=[0]), name="shop")
    life = await live(store_dir, here, body, keep_going=True)
    assert isinstance(life.error, Doubt)
    run = opened(store_dir)
    assert life.error.sentence.startswith("charge[0] may have happened at ")
    assert "`%wfresolve shop charge[0] " in life.error.sentence
    assert "; shop: 6 done, 1 failed: fix the cause" in life.error.sentence
    assert (run.status, run.header.sentence) == ("waiting", life.error.sentence)
    states = {one.index: one.status for one in run.executions if one.step == "pay"}
    assert states == {index: "failed" if index in (0, 3) else "done" for index in range(8)}
    assert not [one for one in run.executions if one.step == "close"]
    errors = {str(one.error) for one in run.executions if one.error is not None}
    assert "no route" in errors
    assert here.calls == dict.fromkeys(range(8), 1)
    run.resolve("charge", 0, "retry")
    here.answer = lambda key, call: f"ch_{key}"
    last = await live(store_dir, here, body, keep_going=True)
    assert last.result == [(key, f"ch_{key}") for key in range(8)]
    assert here.calls == {key: 2 if key in (0, 3) else 1 for key in range(8)}


async def test_several_doubts_are_said_together(store_dir: Path) -> None:
    """Each execution in doubt is set aside, and a person is asked for all of them at once."""
    here = World(cut)
    for key in (0, 1):
        await live(store_dir, here, lambda key=key: Shop(timeout=None).run(orders=[key]))
    here.answer = lambda key, call: f"ch_{key}"

    def body() -> Any:
        return Shop(timeout=None).run(orders=[0, 1, 2])

    life = await live(store_dir, here, body, keep_going=True)
    assert isinstance(life.error, Doubt)
    assert sorted(one.entry.name for one in life.error.doubts) == ["charge[0]", "charge[1]"]
    assert life.error.sentence.startswith("2 side effects wait for a person: charge[")
    assert here.calls == {0: 1, 1: 1, 2: 1}
    again = await live(store_dir, here, body)
    assert isinstance(again.error, Doubt)
    for key in (0, 1):
        opened(store_dir).resolve("charge", key, "done", f"mine {key}")
    last = await live(store_dir, here, body)
    assert last.result == [(0, "mine 0"), (1, "mine 1"), (2, "ch_2")]


class Branches(Workflow):
    """Each order is a run of its own."""

    @step
    async def split(self, ev: StartEvent) -> list[Order]:
        return [Order(i=i) for i in ev.orders]

    @step(num_workers=4)
    async def pay(self, ev: Order) -> Paid:
        return Paid(i=ev.i, receipt=await Shop(timeout=None).run(orders=[ev.i]))

    @step
    async def close(self, evs: list[Paid]) -> StopEvent:
        return StopEvent(result=sorted((ev.i, ev.receipt) for ev in evs))


async def test_a_doubt_in_a_nested_run_sets_the_execution_above_aside(store_dir: Path) -> None:
    """The other executions finish, with the runs that they run."""
    here = World(cut)
    await live(store_dir, here, lambda: Shop(timeout=None).run(orders=[0]))
    here.answer = lambda key, call: f"ch_{key}"

    def body() -> Any:
        return Branches(timeout=None).run(orders=[0, 1, 2])

    life = await live(store_dir, here, body, keep_going=True)
    assert isinstance(life.error, Doubt)
    assert life.error.sentence.startswith("charge[0] may have happened at ")
    states = {one.index: one.status for one in opened(store_dir).executions if one.step == "pay"}
    assert states == {0: "failed", 1: "done", 2: "done"}
    opened(store_dir).resolve("charge", 0, "done", "mine")
    last = await live(store_dir, here, body, keep_going=True)
    assert last.result == [(key, [(key, "mine" if key == 0 else f"ch_{key}")]) for key in range(3)]
    assert here.calls == {0: 1, 1: 1, 2: 1}
