"""Values in a few lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest
from workflows.events import Event, StartEvent

from jupyter_wfresume.codec import MemoryBlobs, Outline, encode, outline
from jupyter_wfresume.replay import brief, pretty


class Doc(Event):
    text: str = ""
    more: Any = None


@dataclass
class Node:
    name: str
    below: list[Node] = field(default_factory=list)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        ((1,), "(1,)"),
        (set(), "set()"),
        ({}, "{}"),
        ({"a": [1, None]}, "{'a': [1, None]}"),
        (StartEvent(size=4), "StartEvent(size=4)"),
        (Node("a", [Node("b")]), "Node(name='a', below=[Node(name='b', below=[])])"),
        (ValueError("bad"), "ValueError('bad')"),
        (Outline("Gone", [1], {"n": 2}), "Gone(1, n=2)"),
    ],
)
def test_what_fits_is_one_line(value: object, text: str) -> None:
    """A short value stands in one line, an event with the fields that its own repr leaves out."""
    assert pretty(value) == brief(value) == text


def test_a_long_event_has_a_line_for_each_field_and_its_text_whole() -> None:
    """A text that is longer than a line is wrapped, not cut."""
    words = " ".join(f"word{n}" for n in range(30))
    shown = pretty(Doc(text=words, more=list(range(5))))
    assert shown.startswith("Doc(\n  text='''\n    word0 word1")
    assert " ".join(shown.partition("'''")[2].partition("'''")[0].split()) == words
    assert shown.endswith("\n  more=[0, 1, 2, 3, 4]\n)")


def test_a_tables_columns_stand_below_each_other() -> None:
    """A frame in a field begins on a line of its own, and its further lines are counted."""
    shown = pretty(Doc(more=pd.DataFrame({"a": range(40), "b": range(40)}))).splitlines()
    at = shown.index("  more=")
    assert shown[at + 1].split() == ["a", "b"]
    assert shown[at + 1].index("a") == shown[at + 2].rindex("0", 0, -4)
    assert "more lines" in shown[-2]


def test_nothing_makes_it_long_or_endless() -> None:
    """Large, deep and self-containing values end within the lines that were asked for."""
    loop: list[Any] = []
    loop.append(loop)
    deep: Any = 1
    for _ in range(50):
        deep = [deep]
    for value in (
        loop,
        deep,
        list(range(10**5)),
        np.zeros((500, 500)),
        "x\n" * 10**4,
        [Doc(text="t" * 99)] * 99,
    ):
        assert len(pretty(value, lines=24).splitlines()) <= 24
        assert len(brief(value, 80)) <= 80


def test_a_value_is_outlined_where_its_class_is_missing() -> None:
    """Names and fields are read back without the class, in containers and in large values too."""
    blobs = MemoryBlobs()
    node = encode([Doc(text="long " * 2000, more=(Node("a"), {"k": Doc(text="in")}))], blobs)
    gone = _renamed(node)
    (found,) = outline(gone, blobs)
    assert found.name == "Gone"
    assert found.parts["text"] == "long " * 2000
    assert pretty(found.parts["more"]).startswith(
        "[Node(name='a', below=[]), {'k': Gone(text='in', more=None)}]"
    )
    assert outline(node, blobs) == [Doc(text="long " * 2000, more=(Node("a"), {"k": Doc(text="in")}))]


def _renamed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_renamed(item) for item in value]
    return value.replace(":Doc", ":Gone") if isinstance(value, str) else value
