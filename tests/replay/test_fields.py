"""A recorded input as a form: which field gets which control, and that nothing is changed unasked."""

from __future__ import annotations

import datetime
import decimal
import enum
import math
import uuid
from typing import Any, Literal

import pandas as pd
import pytest
from pydantic import BaseModel, field_validator
from workflows.events import Event

from jupyter_wfresume.codec import digest
from jupyter_wfresume.records import InputField
from jupyter_wfresume.replay.fields import LONGEST, Edits, edit_of, input_fields, misfits


class Color(enum.Enum):
    RED = "red"
    BLUE = 2


class Part(BaseModel):
    size: int
    made: datetime.date


class Doc(Event):
    text: str = "a"
    count: int = 1
    share: float = 0.5
    urgent: bool = True
    size: Literal["small", 3] = "small"
    color: Color = Color.RED
    note: str | None = None
    paper: int | None = 3
    maybe: bool | None = None
    tint: Color | None = Color.BLUE
    part: Part = Part(size=1, made=datetime.date(2020, 1, 2))
    tags: tuple[str, ...] = ("x",)
    found: set[int] = {1, 2}
    price: decimal.Decimal = decimal.Decimal("1.20")
    key: uuid.UUID = uuid.UUID(int=7)
    by_number: dict[int, str] = {1: "one"}
    anything: Any = None
    either: str | int = "1"

    @field_validator("count")
    @classmethod
    def _is_small(cls, value: int) -> int:
        if value > 100:
            raise ValueError("at most 100")
        return value


def fields(event: Event) -> dict[str, InputField]:
    """The fields of an event by their names."""
    return {one.field.name: one for one in input_fields(event)}


def edited(event: Event, edits: Edits) -> Event:
    """A copy of an event with edits made."""
    copy = event.model_copy(deep=True)
    edit = edit_of(edits, "work[0]")
    assert edit is not None
    edit(copy)
    return copy


def test_each_type_has_its_control() -> None:
    """Text, numbers, a box, choices, and JSON for the rest, with what is recorded in each."""
    found = {
        name: (one.field.kind, one.value, one.optional, one.fixed) for name, one in fields(Doc()).items()
    }
    assert found == {
        "text": ("text", "a", False, ""),
        "count": ("int", 1, False, ""),
        "share": ("float", 0.5, False, ""),
        "urgent": ("bool", True, False, ""),
        "size": ("choice", "small", False, ""),
        "color": ("choice", "red", False, ""),
        "note": ("text", None, True, ""),
        "paper": ("int", 3, True, ""),
        "maybe": ("bool", None, True, ""),
        "tint": ("choice", "2", True, ""),
        "part": ("json", '{"size": 1, "made": "2020-01-02"}', False, ""),
        "tags": ("json", '["x"]', False, ""),
        "found": ("json", "[1, 2]", False, ""),
        "price": ("json", '"1.20"', False, ""),
        "key": ("json", '"00000000-0000-0000-0000-000000000007"', False, ""),
        "by_number": ("json", '{"1": "one"}', False, ""),
        "anything": ("json", "null", False, ""),
        "either": ("json", '"1"', False, ""),
    }


def test_what_stands_in_a_field_gives_the_recorded_value_back() -> None:
    """A form that is sent as it was filled changes nothing."""
    event = Doc(count=7, note="n", maybe=False, found={3}, extra=[1, {"a": None}], title="late")
    said = {(0, one.field.name): one.value for one in input_fields(event)}
    assert misfits([event], said, "work[0]") == {}
    assert digest(edited(event, said)) == digest(event)


@pytest.mark.parametrize(
    ("name", "said", "value"),
    [
        ("text", "", ""),
        ("note", "", None),
        ("note", "new", "new"),
        ("paper", "", None),
        ("paper", "4", 4),
        ("maybe", True, True),
        ("size", "3", 3),
        ("color", "2", Color.BLUE),
        ("tint", None, None),
        ("part", '{"size": 2, "made": "2021-03-04"}', Part(size=2, made=datetime.date(2021, 3, 4))),
        ("tags", '["p", "q"]', ("p", "q")),
        ("found", "[5]", {5}),
        ("by_number", '{"2": "two"}', {2: "two"}),
        ("price", '"3.50"', decimal.Decimal("3.50")),
        ("anything", '{"a": [1]}', {"a": [1]}),
        ("either", "2", 2),
        ("title", "later", "later"),
    ],
)
def test_an_edit_becomes_a_value_of_the_fields_type(name: str, said: object, value: object) -> None:
    """The class reads what was typed, so that the step receives what it would have received."""
    made = getattr(edited(Doc(title="late"), {(0, name): said}), name)
    assert (type(made), made) == (type(value), value)


@pytest.mark.parametrize(
    ("name", "said", "sentence"),
    [
        ("tags", "[1,", "tags is not JSON: Expecting value"),
        ("paper", "many", "paper is not a number: 'many'"),
        ("count", 101, "Doc.count cannot be 101: Value error, at most 100"),
        ("part", '{"size": "x"}', "Doc.part cannot be"),
        ("tags", "", "Doc.tags cannot be None"),
    ],
)
def test_an_edit_that_does_not_fit_is_named_and_changes_nothing(
    name: str, said: object, sentence: str
) -> None:
    """One sentence for each field, and the others are not spoiled by it."""
    event = Doc()
    before = digest(event)
    found = misfits([event], {(0, name): said, (0, "text"): "fits"}, "work[0]")
    assert list(found) == [(0, name)]
    assert found[0, name].startswith(sentence)
    assert digest(event) == before


@pytest.mark.parametrize(
    "value",
    [
        pd.DataFrame({"a": [1]}),
        (1, 2),
        {1: "one"},
        datetime.date(2020, 1, 1),
        b"bytes",
        object(),
        ["x" * LONGEST],
    ],
    ids=["frame", "tuple", "keys", "date", "bytes", "object", "long"],
)
def test_what_json_would_change_stays_as_recorded(value: object) -> None:
    """Where no type is declared, only what JSON gives back in type and value can be edited."""
    one = fields(Doc(anything=value))["anything"]
    assert one.fixed.startswith(("DataFrame", "(", "{", "date", "bytes", "object", "["))
    assert fields(Doc(extra=value))["extra"].fixed


@pytest.mark.parametrize(("value", "text"), [(2**60, str(2**60)), (-(2**53), str(-(2**53)))])
def test_a_number_that_a_browser_would_round_is_text(value: int, text: str) -> None:
    """A browser's numbers are exact up to 2**53."""
    one = fields(Doc(count=1, extra=value))["extra"]
    assert (one.field.kind, one.value) == ("json", text)
    assert edited(Doc(extra=value), {(0, "extra"): str(value + 1)}).extra == value + 1


def test_a_float_that_is_no_number_is_text() -> None:
    """A number field can hold neither infinity nor nan."""
    assert fields(Doc(share=math.inf))["share"].field.kind == "json"


def test_line_ends_stay_of_their_kind() -> None:
    """A browser turns line ends into one kind; those of the record are put back."""
    event = Doc(text="a\r\nb")
    assert fields(event)["text"].value == "a\r\nb"
    assert edited(event, {(0, "text"): "a\nb\nc"}).text == "a\r\nb\r\nc"
    assert edited(Doc(text="a\nb"), {(0, "text"): "a\nc"}).text == "a\nc"


def test_edits_of_a_list_go_to_their_events() -> None:
    """A fan-in's events are named by their numbers; without an edit there is nothing to do."""
    events = [Doc(count=1), Doc(count=2)]
    edit = edit_of({(1, "count"): 5}, "join[0]")
    assert edit is not None
    edit(events)
    assert [event.count for event in events] == [1, 5]
    assert edit_of({}, "join[0]") is None
