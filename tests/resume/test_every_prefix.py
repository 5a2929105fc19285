"""Killed after any write and started again, a run ends as if it had never been killed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.resume import features as ft
from tests.resume import workflows as wf
from tests.resume.lives import Life, Write, done_for_good, live, put_back, results_of

Body = Callable[[], Awaitable[Any]]


async def several() -> Any:
    """Two different calls, and two equal ones."""
    first = await wf.FanOut().run(n=1)
    second = await wf.FanOut().run(n=2)
    return [first, second, await ft.SkipsSome().run(n=3), await ft.SkipsSome().run(n=3)]


async def side_by_side() -> Any:
    """Two different runs at once."""
    return await asyncio.gather(wf.FanOut().run(n=2), ft.SkipsSome().run(n=3))


async def notes() -> Any:
    """The body reads the stream to its end."""
    handler = ft.Streams().run()
    async for _ in handler.stream_events():
        pass
    return await handler


async def final_state() -> Any:
    """The state after the end is part of what comes back."""
    handler = ft.LooseState().run()
    result = await handler
    return result, await handler.ctx.store.get("names")


CASES: dict[str, Body] = {
    "fan out": lambda: wf.FanOut().run(n=4),
    "empty fan out": lambda: wf.FanOut().run(n=0),
    "sync steps": lambda: wf.Sync().run(),
    "stream in a stream": lambda: wf.Nested().run(),
    "collect_events": lambda: wf.Collects().run(),
    "collect_events in parallel": lambda: wf.CollectsInParallel().run(),
    "several parameters": lambda: wf.SeveralParameters().run(),
    "sends": lambda: wf.Sends().run(),
    "targeted sends": lambda: wf.Targeted().run(),
    "waits": lambda: wf.answering(wf.Asks().run()),
    "question event": lambda: wf.answering(wf.AsksByEvent().run()),
    "retries": lambda: wf.Flaky().run(),
    "retries at once": lambda: wf.FlakyAtOnce().run(),
    "catch_error": lambda: wf.Caught().run(),
    "typed state": lambda: ft.TypedState().run(),
    "loose state": final_state,
    "set_state and clear": lambda: ft.Replaces().run(),
    "changed input": lambda: ft.ChangesInput().run(),
    "resource": lambda: ft.WithResource().run(),
    "free functions": lambda: ft.Free().run(n=3),
    "custom events": lambda: ft.Custom().run(start_event=ft.Order(number=3, tags={"x"})),
    "special stop": lambda: ft.SpecialStop().run(),
    "streams": notes,
    "skips": lambda: ft.SkipsSome().run(n=4),
    "several runs": several,
    "side by side": side_by_side,
    "inner runs": lambda: ft.Outer().run(),
    "inner run and retry": lambda: ft.OuterRetries().run(),
    "loop": lambda: ft.Loop().run(),
    "waits at random": lambda: wf.answering(ft.AsksAtRandom().run()),
    "nobody answers": lambda: ft.NobodyAnswers().run(),
    "carries a lambda": lambda: ft.CarriesALambda().run(),
}


def plainly(value: Any) -> Any:
    """A value that says what differs: events by type and fields."""
    return (type(value), value.model_dump()) if hasattr(value, "model_dump") else value


async def undisturbed(tmp_path: Path, body: Body) -> Life:
    """A first life that nothing kills."""
    life = await live(tmp_path / "whole", body)
    assert life.error is None, life.error
    return life


def check(life: Life, whole: Life, kept: list[Write], where: str) -> None:
    """A life after a kill ended as the undisturbed one, and repeated nothing that was on record."""
    assert life.error is None, f"{where}: {life.error!r}\n{life.told}"
    assert plainly(life.result) == plainly(whole.result), where
    repeated = sorted(set(life.ran) & done_for_good(kept))
    assert not repeated, f"{where}, executed again: {repeated}"
    begun = results_of(life.writes)
    more = {label: times for label, times in life.ran.items() if label in begun and times > begun[label]}
    assert not more, f"{where}, executed more often than there are results: {more}"


@pytest.mark.parametrize("case", CASES)
async def test_every_prefix(case: str, tmp_path: Path) -> None:
    """Killed after any write and resumed, a run ends with the same result, repeats nothing that is on
    record, and starts no execution without need."""
    body = CASES[case]
    whole = await undisturbed(tmp_path, body)
    for cut in range(len(whole.writes) + 1):
        kept = whole.writes[:cut]
        store = tmp_path / f"cut {cut}"
        put_back(store, kept)
        check(await live(store, body), whole, kept, f"killed after write {cut}")


@pytest.mark.parametrize("case", CASES)
async def test_three_lives(case: str, tmp_path: Path) -> None:
    """Killed a second and a third time, after any write, a run still ends as if it had never been."""
    body = CASES[case]
    whole = await undisturbed(tmp_path, body)
    order = random.Random(case)
    for trial in range(4):
        kept: list[Write] = []
        last = whole
        for life in range(2, 5):
            kept = kept + last.writes[: order.randrange(len(last.writes))]
            store = tmp_path / f"trial {trial} life {life}"
            put_back(store, kept)
            last = await live(store, body)
            check(last, whole, kept, f"trial {trial}, life {life}, after {len(kept)} writes")
