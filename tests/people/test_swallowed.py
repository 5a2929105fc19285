"""A step that swallows an ending without a result is not recorded with what it made of it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from workflows import Context, Workflow, step
from workflows.events import Event, HumanResponseEvent, InputRequiredEvent, StartEvent, StopEvent

from jupyter_wfresume import effect
from jupyter_wfresume.errors import RunEnded
from jupyter_wfresume.session.runs import open_run
from tests.resume.lives import Life, live, ran

REPAIRED = {"now": False}


class Half(Event):
    """Between the two steps."""

    n: int


class Inner(Workflow):
    """Item 1 asks, or goes nowhere."""

    @step
    async def first(self, ctx: Context, ev: StartEvent) -> Half:
        ran(f"first {ev.n}")
        return Half(n=ev.n)

    @step
    async def second(self, ctx: Context, ev: Half) -> StopEvent | None:
        if ev.n == 1 and not REPAIRED["now"]:
            if self.asks:
                await ctx.wait_for_event(HumanResponseEvent, waiter_event=InputRequiredEvent(prefix="n?"))
            else:
                return None
        ran(f"second {ev.n}")
        return StopEvent(result=ev.n)

    def __init__(self, asks: bool) -> None:
        super().__init__(timeout=None)
        self.asks = asks


async def _gathered(asks: bool) -> list[Any]:
    runs = (Inner(asks).run(n=n) for n in range(3))
    return await asyncio.gather(*runs, return_exceptions=True)


async def _caught(asks: bool) -> list[Any]:
    found: list[Any] = []
    for n in range(3):
        try:
            found.append(await Inner(asks).run(n=n))
        except BaseException as error:  # noqa: BLE001  # what is tested: a step that catches all
            found.append(error)
    return found


class Outer(Workflow):
    """Swallows how the runs of its step end."""

    @step
    async def all_of_them(self, ev: StartEvent) -> StopEvent:
        found = await self.ways[ev.way](ev.asks)
        return StopEvent(
            result=[type(one).__name__ if isinstance(one, BaseException) else one for one in found]
        )

    ways = {"gathered": _gathered, "caught": _caught}


async def _outer(store: Path, way: str, asks: bool) -> Life:
    return await live(store, lambda: Outer(timeout=None).run(way=way, asks=asks), name="m", wait_s=0.0)


@pytest.mark.parametrize("way", ["gathered", "caught"])
async def test_a_question_below(way: str, tmp_path: Path) -> None:
    """The run waits with the question of the run below, and goes on with its answer."""
    store = tmp_path / "store"
    first = await _outer(store, way, True)
    assert isinstance(first.error, RunEnded)
    assert first.error.status == "waiting"
    run = open_run("m", store)
    assert [str(one) for one in run.questions] == ["n?"]
    run.answer("yes")
    second = await _outer(store, way, True)
    assert second.result == [0, 1, 2]
    whole = first.ran + second.ran
    assert {label: whole[label] for label in whole if label.startswith("first")} == {
        "first 0": 1,
        "first 1": 1,
        "first 2": 1,
    }


@pytest.mark.parametrize("way", ["gathered", "caught"])
async def test_a_stuck_run_below(way: str, tmp_path: Path) -> None:
    """The run is stuck with the run below, and is not recorded as done."""
    first = await _outer(tmp_path / "store", way, False)
    assert isinstance(first.error, RunEnded)
    assert first.error.status == "stuck"
    assert open_run("m", tmp_path / "store").status == "stuck"


async def _slow(key: Any) -> str:
    ran(f"do {key}")
    await asyncio.sleep(30)
    return "receipt"


async def _try(tries: Callable[[], Any]) -> Any:
    try:
        return await tries()
    except BaseException:  # noqa: BLE001  # what is tested: a step that catches all
        return "swallowed"


async def test_a_doubt_that_is_swallowed(tmp_path: Path) -> None:
    """An effect of which nobody knows whether it happened stops the run, though its step goes on."""
    attempts = itertools.count()

    class Charge(Workflow):
        @step
        async def pay(self, ev: StartEvent) -> StopEvent:
            next(attempts)
            await _try(lambda: asyncio.wait_for(effect("charge", key=1, do=_slow), 0.05))
            return StopEvent(result=await _try(lambda: effect("charge", key=1, do=_slow)))

    life = await live(tmp_path / "store", lambda: Charge(timeout=None).run(), name="m", wait_s=0.0)
    assert isinstance(life.error, RunEnded)
    assert life.error.status == "waiting"
    assert "charge[1] may have happened" in life.error.sentence
    assert dict(life.ran) == {"do 1": 1}
