"""An edit is checked against the record: what it changed has to be a field and a value of its class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ConfigDict
from workflows.events import Event

from jupyter_wfresume.errors import UsageError
from jupyter_wfresume.replay.edits import check_changes
from tests.replay.flows import Fan, Item, Recorded


class Doc(Event):
    """An event with a declared field; it takes others, too."""

    n: int
    tags: list[str] = []


class Open(Event):
    """An event that declares nothing."""


class Frozen(Event):
    """An event that cannot be changed in place."""

    model_config = ConfigDict(frozen=True)

    n: int


def put(**fields: Any) -> Any:
    """An edit that assigns, as a cell's body does."""

    def edit(event: Event) -> None:
        for name, value in fields.items():
            setattr(event, name, value)

    return edit


async def fan(path: Path) -> Recorded:
    return await Recorded(path / "store", Fan(timeout=None)).run(lambda workflow: workflow.run(n=2))


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (put(txt="x"), "work[0]: Item has no field 'txt'; its fields are i, text"),
        (put(text=5), "work[0]: Item.text cannot be 5: Input should be a valid string"),
        (
            lambda event: event.model_copy(update={"text": 5}),
            "work[0]: Item.text cannot be 5: Input should be a valid string",
        ),
        (Item(i=0, txt="x"), "work[0]: Item has no field 'txt'; its fields are i, text"),
    ],
    ids=["typo", "type", "copy", "event"],
)
async def test_what_a_function_sets_is_checked_as_fields_are(
    tmp_path: Path, edit: Any, sentence: str
) -> None:
    """A misspelt field and a value of another type are refused before anything runs."""
    recorded = await fan(tmp_path)
    with pytest.raises(UsageError) as refused:
        await recorded.replay("work", 0, edit=edit)
    assert str(refused.value) == sentence


async def test_what_the_class_reads_is_what_the_step_gets(tmp_path: Path) -> None:
    """An assigned value becomes what the class makes of it."""
    recorded = await fan(tmp_path)
    done = await recorded.replay("work", 0, edit=put(i="7"))
    assert done.input == [Item(i=7, text="text 0")]


async def test_each_event_of_a_fan_in_is_checked(tmp_path: Path) -> None:
    """An edit of a list is checked event by event, also where some were taken out."""
    recorded = await fan(tmp_path)

    def edit(events: list[Event]) -> None:
        del events[0]
        events[0].v = 5

    with pytest.raises(UsageError, match=r"join\[0\]: Done.v cannot be 5"):
        await recorded.replay("join", 0, edit=edit)


def checked(recorded: Event, left: Event) -> Event:
    check_changes([recorded], [recorded], [left], "work[0]")
    return left


def test_recorded_values_stay_allowed() -> None:
    """What was never valid is no fault of an edit that leaves it alone."""
    wrong: Any = Doc.model_construct(n="many", tags=[])
    assert checked(wrong, Doc.model_construct(n="many", tags=["a"])).tags == ["a"]
    with pytest.raises(UsageError, match=r"Doc.n cannot be 'more'"):
        checked(wrong, Doc.model_construct(n="more", tags=[]))


def test_a_change_inside_a_value_is_checked() -> None:
    """A list that was changed in place is read by its class again."""
    with pytest.raises(UsageError, match=r"Doc.tags cannot be \['a', 5\]: Input should be a valid string"):
        checked(Doc(n=1, tags=["a"]), Doc.model_construct(n=1, tags=["a", 5]))


def test_dynamic_fields() -> None:
    """A field that is on record, or of a class that declares none, takes any value."""
    checked(Doc(n=1, more=1), Doc(n=1, more="x"))
    checked(Open(a=1), Open(b=2))
    with pytest.raises(UsageError, match=r"Doc has no field 'moore'; its fields are n, tags, more$"):
        checked(Doc(n=1, more=1), Doc(n=1, more=1, moore=2))


def test_an_event_that_cannot_be_changed_is_made_anew() -> None:
    """Its class has read the values, so there is nothing against it."""
    assert checked(Frozen(n=1), Frozen(n=2)).n == 2
