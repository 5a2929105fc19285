"""Between two lives the user changes the workflow: what is finished stays, or the user is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from workflows import Context, Workflow, step
from workflows.events import StartEvent, StopEvent
from workflows.retry_policy import retry_policy, stop_after_attempt, wait_fixed

from jupyter_wfresume.errors import RunEnded
from tests.resume.lives import done_for_good, live, put_back, ran
from tests.resume.workflows import Done, Group, Item

POLICY = retry_policy(wait=wait_fixed(0), stop=stop_after_attempt(3))


def with_workers(workers: int) -> type[Workflow]:
    """The same workflow, but for how many items it works on at once."""

    class Pool(Workflow):
        @step
        async def split(self, ev: StartEvent) -> list[Item]:
            ran()
            return [Item(i=i) for i in range(6)]

        @step(num_workers=workers, retry_policy=POLICY)
        async def work(self, ctx: Context, ev: Item) -> Done:
            ran()
            if ev.i % 2 and ctx.retry_info().retry_number == 0:
                raise ValueError("once")
            return Done(i=ev.i, v=f"done {ev.i}")

        @step
        async def join(self, ev: list[Done]) -> StopEvent:
            ran()
            return StopEvent(result=sorted((d.i, d.v) for d in ev))

    return Pool


@pytest.mark.parametrize(("first", "then"), [(1, 4), (2, 3), (4, 1), (3, 6)])
async def test_another_number_of_workers(first: int, then: int, tmp_path: Path) -> None:
    """With another ``num_workers`` than before, each finished execution stays with its own item."""
    whole = await live(tmp_path / "whole", lambda: with_workers(first)().run())
    assert whole.result == [(i, f"done {i}") for i in range(6)]
    for cut in range(0, len(whole.writes), 2):
        kept = whole.writes[:cut]
        put_back(tmp_path / f"second {cut}", kept)
        second = await live(tmp_path / f"second {cut}", lambda: with_workers(then)().run())
        assert second.result == whole.result, f"after write {cut}: {second.error!r}"
        assert not set(second.ran) & done_for_good(kept)
        more = kept + second.writes[: len(second.writes) // 2]
        put_back(tmp_path / f"third {cut}", more)
        third = await live(tmp_path / f"third {cut}", lambda: with_workers(first)().run())
        assert third.result == whole.result, f"after write {cut} and half a life: {third.error!r}"
        assert not set(third.ran) & done_for_good(more)


def plain_chain() -> type[Workflow]:
    """Two steps."""

    class Chain(Workflow):
        @step
        async def one(self, ev: StartEvent) -> Item:
            ran()
            return Item(i=1)

        @step
        async def two(self, ev: Item) -> Done:
            ran()
            return Done(i=ev.i)

        @step
        async def three(self, ev: Done) -> StopEvent:
            ran()
            raise ValueError("not yet")

    return Chain


def longer_chain() -> type[Workflow]:
    """The failing step is taken apart into two."""

    class Chain(Workflow):
        @step
        async def one(self, ev: StartEvent) -> Item:
            ran()
            return Item(i=1)

        @step
        async def two(self, ev: Item) -> Done:
            ran()
            return Done(i=ev.i)

        @step
        async def three(self, ev: Done) -> Group:
            ran("three")
            return Group(i=ev.i, total=1)

        @step
        async def four(self, ev: Group) -> StopEvent:
            ran("four")
            return StopEvent(result=ev.i + ev.total)

    return Chain


async def test_the_failed_step_is_taken_apart(tmp_path: Path) -> None:
    """What had not run uses today's code, new steps included; what is finished is not executed again."""
    store = tmp_path / "store"
    first = await live(store, lambda: plain_chain()().run())
    assert isinstance(first.error, ValueError)
    second = await live(store, lambda: longer_chain()().run())
    assert second.result == 2
    assert dict(second.ran) == {"three": 1, "four": 1}


def without_a_step() -> type[Workflow]:
    """A step that has a result on record is gone."""

    class Chain(Workflow):
        @step
        async def one(self, ev: StartEvent) -> Done:
            ran()
            return Done(i=1)

        @step
        async def three(self, ev: Done) -> StopEvent:
            ran()
            return StopEvent(result=1)

    return Chain


def with_a_watcher() -> type[Workflow]:
    """A step is new that takes an event which was delivered long ago."""

    class Chain(Workflow):
        @step
        async def one(self, ev: StartEvent) -> Item:
            ran()
            return Item(i=1)

        @step
        async def a_watcher(self, ev: Item) -> None:
            ran()

        @step
        async def two(self, ev: Item) -> Done:
            ran()
            return Done(i=ev.i)

        @step
        async def three(self, ev: Done) -> StopEvent:
            ran()
            return StopEvent(result=1)

    return Chain


@pytest.mark.parametrize("changed", [without_a_step, with_a_watcher])
async def test_a_journal_that_does_not_fit_is_refused(changed: Any, tmp_path: Path) -> None:
    """A change that takes the ground from a finished execution is refused, and nothing is executed."""
    store = tmp_path / "store"
    await live(store, lambda: plain_chain()().run())
    second = await live(store, lambda: changed()().run())
    assert isinstance(second.error, RunEnded)
    sentence = second.error.sentence
    assert "cannot resume run" in sentence
    assert "--fresh" in sentence
    assert dict(second.ran) == {}
    third = await live(store, lambda: longer_chain()().run())
    assert third.result == 2, "the refusal has changed the journal"
