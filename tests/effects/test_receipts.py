"""Receipts come back as they were; what cannot be written down is said, and nothing is lost or done twice."""

from __future__ import annotations

import dataclasses
import json
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from workflows import Context, Workflow, step
from workflows.events import StartEvent, StopEvent

from jupyter_wfresume import effect
from jupyter_wfresume.effects import Doubt
from jupyter_wfresume.effects.entries import dump, load
from jupyter_wfresume.errors import RunEnded, StoreError
from jupyter_wfresume.store import Store, this_process
from tests.effects.shops import (
    Paid,
    Shop,
    Stubborn,
    World,
    live,
    opened,
    world,
)


@dataclasses.dataclass
class Bill:
    """A receipt of a class of the user's."""

    number: int
    lines: list[Decimal]


RECEIPTS: dict[str, Any] = {
    "nothing": None,
    "text": "ch_1",
    "a class": Bill(3, [Decimal("1.10")]),
    "large": b"x" * 100_000,
    "an array": np.arange(5000.0),
}


@pytest.mark.parametrize("receipt", RECEIPTS.values(), ids=RECEIPTS.keys())
async def test_a_receipt_comes_back_as_it_was(receipt: Any, store_dir: Path) -> None:
    """Whoever gets a receipt from the record gets the value that ``do`` returned, also where that is None."""
    here = World(lambda key, call: receipt)
    for _ in range(2):
        await live(store_dir, here, lambda: Shop(timeout=None).run(orders=[1]), fresh=2)
    first, second = here.receipts
    assert here.calls[1] == 1
    assert first is receipt
    assert type(second) is type(receipt)
    np.testing.assert_equal(second, receipt)


async def test_a_receipt_that_cannot_be_kept_is_named_at_once(store_dir: Path) -> None:
    """The run that has it goes on; the next one does not do it again, and asks a person for a receipt."""
    here = World(lambda key, call: lambda: 3)
    body = lambda: Stubborn().run()  # noqa: E731  # the same call in each life
    life = await live(store_dir, here, body)
    assert life.result() == 3
    (note,) = [note for note in life.views[-1].notes if "charge[81]" in note]
    assert note.startswith("the receipt of charge[81] cannot be kept: it (function): ")
    (entry,) = opened(store_dir).effects
    assert (entry.state, entry.kept, "lambda" in entry.said) == ("done", False, True)
    again = await live(store_dir, here, body, fresh=2)
    assert isinstance(again.error, Doubt)
    assert "but its receipt <function" in again.error.sentence
    here.verify = lambda key: "a text"
    last = await live(store_dir, here, body)
    assert (last.result, here.calls[81]) == ("a text", 1)


async def test_nothing_is_done_without_the_right_to_write(
    store_dir: Path,
) -> None:
    """A run that was taken over meanwhile does no side effect."""
    here = World()

    class Late(Workflow):
        @step
        async def pay(self, ev: StartEvent) -> StopEvent:
            with Store.open(store_dir) as store:
                (run_id,) = [run_id for run_id, _ in store.runs()]
                store.acquire(run_id, this_process(), now=time.time(), alive=lambda owner: False)
            return StopEvent(result=await effect("charge", key=81, do=world().charge))

    life = await live(store_dir, here, lambda: Late().run())
    assert life.error is not None
    assert "no longer drives" in str(life.error)
    assert not here.calls


async def test_a_receipt_that_is_not_on_disk_is_in_the_sentence(
    store_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk after the call loses neither the receipt's text nor the doubt."""
    swap = Store.swap_note

    def full(self: Store, run_id: str, slot: str, data: bytes, **more: Any) -> bool:
        if json.loads(data)["state"] == "done":
            raise StoreError("the disk is full")
        return swap(self, run_id, slot, data, **more)

    monkeypatch.setattr(Store, "swap_note", full)
    here = World()
    life = await live(store_dir, here, lambda: Shop(timeout=None).run(orders=[1]))
    assert isinstance(life.error, StoreError)
    assert str(life.error) == (
        "charge[1] happened, but its receipt 'ch_1' could not be written down: the disk is full"
    )
    monkeypatch.undo()
    again = await live(store_dir, here, lambda: Shop(timeout=None).run(orders=[1]))
    assert isinstance(again.error, Doubt)
    assert here.calls == {1: 1}


async def test_somebody_who_was_quicker_is_not_written_over(
    store_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another process wrote between look and intent is looked at again, and its receipt is given."""
    here = World()
    swap, beaten = Store.swap_note, []

    def late(self: Store, run_id: str, slot: str, data: bytes, **more: Any) -> bool:
        if not beaten:
            beaten.append(slot)
            theirs = load(data).done("theirs", "do", time.time())
            swap(self, run_id, slot, dump(theirs), seen=None)
        return swap(self, run_id, slot, data, **more)

    monkeypatch.setattr(Store, "swap_note", late)
    life = await live(store_dir, here, lambda: Shop(timeout=None).run(orders=[1]))
    assert life.result == [(1, "theirs")]
    assert not here.calls


async def test_an_input_that_is_made_again_does_nothing_again(store_dir: Path) -> None:
    """An execution that runs again only for what it had returned gets its receipts, and does nothing."""
    here = World(lambda key, call: f"{key} {call}")

    class Unkept(Workflow):
        @step
        async def make(self, ev: StartEvent) -> Paid:
            receipt = await effect("charge", key=1, do=world().charge)
            return Paid(i=1, receipt=lambda: receipt)

        @step
        async def use(self, ctx: Context, ev: Paid) -> StopEvent:
            if not here.seen:
                here.seen[1] = True
                raise KeyboardInterrupt
            return StopEvent(result=ev.receipt())

    first = await live(store_dir, here, lambda: Unkept().run())
    assert isinstance(first.error, RunEnded)
    second = await live(store_dir, here, lambda: Unkept().run())
    assert (second.result, here.calls) == ("1 1", {1: 1})
