"""What differs between two values is found, named by path, and nothing is named that does not differ."""

from __future__ import annotations

import copy
import datetime as dt
import math
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from workflows.events import Event, StopEvent

from jupyter_wfresume.replay import as_html, as_text, differences


class Scored(Event):
    score: float
    text: str = ""
    parts: list[Any] = []


class Point(NamedTuple):
    x: int
    y: int


@dataclass
class Box:
    inside: Any


class Colour(Enum):
    RED = 1
    BLUE = 2


class Plain:
    def __init__(self, value: Any) -> None:
        self.value = value


def found(old: Any, new: Any) -> list[tuple[str, str, str]]:
    """Path, kind and text of each difference."""
    return [(one.path, one.kind, one.text) for one in differences(old, new)]


EQUAL = [
    None,
    math.nan,
    {"a": [1, (2, {3})], "b": math.nan},
    Scored(score=math.nan, text="x", extra=np.array([1.0, math.nan])),
    StopEvent(result={"frame": pd.DataFrame({"a": [1, None], "b": ["x", None]})}),
    pd.Series([1, pd.NA], dtype="Int64", name="n"),
    pd.Series(["a", None], dtype="category"),
    pd.DataFrame({"t": pd.to_datetime(["2020-01-01", None]), "o": [[1], {"k": math.nan}]}),
    np.array(["2020-01-01", "NaT"], dtype="M8[D]"),
    Box(Plain([Point(1, 2), Colour.RED, Decimal("NaN"), dt.timedelta(1)])),
    ValueError("same", 3),
]


@pytest.mark.parametrize("value", EQUAL, ids=lambda value: type(value).__name__)
def test_equal_values_have_no_difference(value: Any) -> None:
    """A copy of a value does not differ from it; NaN, NaT and NA equal themselves."""
    assert differences(value, copy.deepcopy(value)) == []


CASES = [
    (Scored(score=2.0), Scored(score=3.0), (".score", "changed", "2.0 → 3.0 (+1, +50 %)")),
    (4, 1, ("", "changed", "4 → 1 (-3, -75 %)")),
    (0, 3, ("", "changed", "0 → 3 (+3)")),
    (True, False, ("", "changed", "True → False")),
    (1, 1.0, ("", "type", "int 1 → float 1.0")),
    (1, True, ("", "type", "int 1 → bool True")),
    ("a", None, ("", "type", "str 'a' → None")),
    (np.float64(1), np.float64(2), ("", "changed", "1.0 → 2.0 (+1, +100 %)")),
    (Decimal("1.0"), Decimal("1.5"), ("", "changed", "Decimal('1.0') → Decimal('1.5') (+0.5, +50 %)")),
    (math.nan, 1.0, ("", "changed", "nan → 1.0")),
    (10**400, 10**400 + 1, ("", "changed", None)),
    (dt.date(2020, 1, 1), dt.date(2020, 1, 3), ("", "changed", None)),
    (StopEvent(result=[1]), StopEvent(result=[2]), (".result[0]", "changed", "1 → 2 (+1, +100 %)")),
    (Event(a=1), Event(a=1, b=2), (".b", "added", "2")),
    ({"a": {"b": 1}}, {"a": {}}, ("['a']['b']", "removed", "1")),
    ([1, 2, 3], [1, 9, 2, 3], ("[1]", "added", "9")),
    ([0, 1, 2, 3], [1, 2, 3], ("[0]", "removed", "0")),
    ((1, 2), (1, 3), ("[1]", "changed", "2 → 3 (+1, +50 %)")),
    ({1, 2}, {2}, ("{}", "removed", "1")),
    (Point(1, 2), Point(1, 4), (".y", "changed", "2 → 4 (+2, +100 %)")),
    (Box([1]), Box([2]), (".inside[0]", "changed", "1 → 2 (+1, +100 %)")),
    (Colour.RED, Colour.BLUE, ("", "changed", "<Colour.RED: 1> → <Colour.BLUE: 2>")),
    (Plain(1), Plain(2), (".value", "changed", "1 → 2 (+1, +100 %)")),
    (ValueError("a"), ValueError("b"), (".args[0]", "changed", "'a' → 'b'")),
    (np.zeros(3), np.zeros((3, 1)), (".shape", "changed", "(3,) → (3, 1)")),
    (np.zeros(2), np.zeros(2, int), (".dtype", "changed", "'float64' → 'int64'")),
    (
        np.array([1.0, math.nan, 3.0]),
        np.array([1.0, math.nan, 6.0]),
        ("", "changed", "1 of 3 cells differ: [2]: 3.0 → 6.0 (+3, +100 %)"),
    ),
    (pd.Series([1, 2], index=["a", "b"]), pd.Series([1, 4], index=["a", "b"]), ("", "changed", None)),
    (np.array(1.0), np.array(2.0), ("", "changed", "1 of 1 cells differ: 1.0 → 2.0 (+1, +100 %)")),
    (pd.Series([1], name="a"), pd.Series([1], name="b"), (".name", "changed", "'a' → 'b'")),
]


@pytest.mark.parametrize(("old", "new", "expected"), CASES, ids=lambda case: type(case).__name__)
def test_one_change_is_one_difference(old: Any, new: Any, expected: tuple[str, str, str | None]) -> None:
    """A single change is a single difference, with its path, its kind, and how far numbers moved."""
    (one,) = found(old, new)
    assert one[:2] == expected[:2]
    assert expected[2] is None or one[2] == expected[2]


def test_a_long_text_shows_words_around_the_change() -> None:
    """Of a long line only the changed words are shown, with a few around them and a sign on each."""
    old = " ".join(f"w{i}" for i in range(200))
    (one,) = differences(old, old.replace("w100", "new"))
    assert "[-w100-] {+new+}" in one.text
    assert "w99" in one.text
    assert "w50" not in one.text
    assert len(one.text) < 200


def test_a_text_of_lines_shows_the_changed_lines() -> None:
    """Of a text of lines only the changed lines are shown, with the line around them, signed."""
    old = "\n".join(f"line {i}" for i in range(50))
    (one,) = differences(old, old.replace("line 25\n", "other\n"))
    assert one.text.splitlines()[1:-1] == ["  line 24", "- line 25", "+ other", "  line 26"]


def test_a_text_of_many_changed_lines_is_not_compared_for_ever() -> None:
    """A text with thousands of changed lines is counted, since comparing costs their square."""
    old, new = ("\n".join(f"{word} {i}" for i in range(5_000)) for word in ("old", "new"))
    (one,) = differences(old, new)
    assert one.text == "- 5000 parts, too many to compare\n+ 5000 parts"


def test_a_frame_names_columns_rows_dtypes_and_cells() -> None:
    """A DataFrame's difference says which columns and rows came and went, and cells by their labels."""
    old = pd.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"], "gone": 0}, index=["r1", "r2", "r3"])
    new = pd.DataFrame({"a": [1, 5, 3.5], "b": ["x", None, "y"], "come": 0}, index=["r1", "r2", "r4"])
    assert found(old, new) == [
        (".columns", "removed", "'gone'"),
        (".columns", "added", "'come'"),
        (".rows", "removed", "'r3'"),
        (".rows", "added", "'r4'"),
        ("['a'].dtype", "changed", "'int64' → 'float64'"),
        ("", "changed", "1 of 4 cells differ: ['r2', 'a']: 2 → 5.0 (+3, +150 %)"),
    ]


def test_a_frame_with_labels_twice_is_compared_by_position() -> None:
    """Columns of one name are told apart by their place."""
    (one,) = differences(
        pd.DataFrame([[1, 2]], columns=["a", "a"]), pd.DataFrame([[1, 3]], columns=["a", "a"])
    )
    assert one.text == "1 of 2 cells differ: [0, 'a']: 2 → 3 (+1, +50 %)"


def test_a_frame_shows_the_first_cells_only() -> None:
    """Of many cells five are shown, and the number of all."""
    (one,) = differences(pd.DataFrame({"a": range(100)}), pd.DataFrame({"a": range(1, 101)}))
    assert one.text.startswith("100 of 100 cells differ: [0, 'a']: 0 → 1")
    assert one.text.endswith("; … and 95 more")


def test_a_class_defined_again_is_the_same_class() -> None:
    """A cell that is run again makes its classes anew; their instances are compared by their parts."""

    def define() -> Any:
        class Again(Event):
            i: int

        return Again

    assert differences(define()(i=1), define()(i=1)) == []
    assert found(define()(i=1), define()(i=2)) == [(".i", "changed", "1 → 2 (+1, +100 %)")]


def test_values_that_hold_themselves_end() -> None:
    """A list that holds itself is compared once."""
    old: list[Any] = [1]
    new: list[Any] = [2]
    old.append(old)
    new.append(new)
    assert found(old, new) == [("[0]", "changed", "1 → 2 (+1, +100 %)")]


def test_what_cannot_be_compared_or_shown_is_still_named() -> None:
    """A value whose ``==`` and ``repr`` raise is named by its type, and nothing is raised."""

    class Hostile:
        def __eq__(self, other: object) -> bool:
            raise RuntimeError("no")

        def __hash__(self) -> int:
            return 1

        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert differences([Hostile()], [Hostile()]) == []
    (one,) = differences([Hostile()], [])
    assert "Hostile" in one.text


def test_text_has_a_sign_on_each_line_and_counts_what_it_leaves_out() -> None:
    """As text, each difference is a line with its sign; what is beyond the limit is counted."""
    text = as_text(differences({"a": 1, "b": 2, "c": 3}, {"a": 2, "c": 4, "d": 5}))
    assert text.splitlines() == [
        "~ ['a']: 1 → 2 (+1, +100 %)",
        "- ['b']: 2",
        "~ ['c']: 3 → 4 (+1, +33.3 %)",
        "+ ['d']: 5",
    ]
    assert as_text(differences([1] * 9, [2] * 9), limit=2).splitlines()[-1] == "… and 7 more"
    assert as_text([]) == "no difference"


def test_html_is_escaped_and_signed() -> None:
    """As HTML, values are escaped, and what came and went is marked by a sign, not by colour alone."""
    page = as_html(differences({"<k>": "<script>"}, {"<k>": "<b>"}))
    assert "<script>" not in page
    assert "<k>" not in page
    assert "- &#x27;&lt;script&gt;&#x27;</del>" in page
    assert "+ &#x27;&lt;b&gt;&#x27;</ins>" in page
    assert "no difference" in as_html([])
    assert "… and 7 more" in as_html(differences([1] * 9, [2] * 9), limit=2)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=12,
)


@given(VALUES, VALUES)
def test_any_two_values(old: Any, new: Any) -> None:
    """Whatever the values, a value equals its copy, and a difference can be drawn and is found both ways."""
    assert differences(old, copy.deepcopy(old)) == []
    there, back = differences(old, new), differences(new, old)
    assert bool(there) == bool(back)
    assert as_text(there).count("\n") >= min(len(there), 100) - 1
    assert as_html(there)
