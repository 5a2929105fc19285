"""Which execution of a resumed fork gets the edited input."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from workflows.events import Event

from jupyter_wfresume.codec import digest
from jupyter_wfresume.engine import DictState
from jupyter_wfresume.journal import inputs_of
from jupyter_wfresume.runtime import Flight
from jupyter_wfresume.session.fork import Fork
from jupyter_wfresume.session.match import Taken
from jupyter_wfresume.session.reuse import Reuse


class Item(Event):
    n: int


def flight(work_item_id: str, index: int) -> Flight:
    event = Item(n=1)
    return Flight(
        invocation_id=work_item_id,
        step="work",
        index=index,
        work_item_id=work_item_id,
        attempt=0,
        event=event,
        inputs=[event],
        sync=False,
    )


async def test_a_migrated_input_beside_its_place_is_no_edit() -> None:
    """A fork's edit is on record without a place; an input that a migration made has one, and is no edit."""
    recorded = Item(n=1)
    key = inputs_of([recorded])
    assert key is not None
    fork = Fork("run", "work", 1, key, [digest(recorded, opaque=True)], [Item(n=7)], DictState())
    nothing: Any = SimpleNamespace(match=lambda *asked: None)
    reuse = Reuse(nothing, Taken(), fork)
    reuse.drive = SimpleNamespace(content=None)  # type: ignore[assignment]  # the matcher above asks nothing of it
    records = [
        {"k": "R", "s": "work", "i": 0, "in": [1, 0], "ie": [{}]},
        {"k": "F", "s": "work", "i": 1, "ie": [{}]},
    ]
    reuse.goes_on(records, {"work": {"first": 0, "second": 1}})
    first, second = flight("first", 0), flight("second", 1)
    for one in (first, second):
        assert await reuse.answer(one) is None
    assert [one.event for one in (first, second)] == [Item(n=1), Item(n=7)]
