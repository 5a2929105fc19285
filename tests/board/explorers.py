"""A run to explore that is made up, and what finds widgets."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import ipywidgets

from jupyter_wfresume.board import Edits, ExecutionPage, Going, Line, Lines, Sheet
from jupyter_wfresume.errors import UsageError
from jupyter_wfresume.records import FieldView, InputField

FIELDS = (
    InputField(FieldView("n", "int"), 3),
    InputField(FieldView("text"), "one\ntwo"),
    InputField(FieldView("share", "float"), 0.5),
    InputField(FieldView("urgent", "bool"), True),
    InputField(FieldView("size", "choice", ("small", "large")), "small"),
    InputField(FieldView("note"), None, optional=True),
    InputField(FieldView("tags", "json"), '["a"]'),
    InputField(FieldView("table", "json"), fixed="DataFrame: 3 rows"),
)


class Made:
    """A run of ``size`` executions of ``work`` and one of ``join``; what is asked of it is kept in ``asked``.

    Args:
        size: executions of ``work``; each tenth has failed.
    """

    def __init__(self, size: int = 30) -> None:
        self.asked: list[Any] = []
        self.faults: dict[tuple[int, str], str] = {}
        self.fails: Exception | None = None
        status = {0: "failed"}
        self._rows = [Line("work", n, status.get(n % 10, "done"), 0.1, f"Item(n={n})") for n in range(size)]
        self._rows.append(Line("join", 0, "done", 0.1, f"{size} events: Done(n=0), …"))

    def heal(self) -> None:
        """All that has failed is done: the run has gone on."""
        self._rows = [replace(row, status="done") for row in self._rows]

    def lines(self, step: str, status: str, first: int, count: int) -> Lines:
        found = [row for row in self._rows if step in ("", row.step) and status in ("", row.status)]
        return Lines(
            tuple(found[first : first + count]),
            first,
            len(found),
            tuple(Counter(row.step for row in self._rows).items()),
            tuple(Counter(row.status for row in self._rows).items()),
            len(self._rows),
        )

    def sheet(self, step: str, index: int, event: int) -> Sheet:
        self.asked.append(("sheet", step, index, event))
        if step == "gone":
            raise UsageError("no step 'gone' in this run")
        page = ExecutionPage(f"{step}[{index}]", "run 7f3a of it", "done", 0.1)
        if index == 29:
            return Sheet(page, refused="cannot find Item: run the cell that defines it")
        return Sheet(page, FIELDS, event, 3 if step == "join" else 1, "Item")

    def misfits(self, step: str, index: int, edits: Edits) -> dict[tuple[int, str], str]:
        return {place: said for place, said in self.faults.items() if place in edits}

    def replay(self, step: str, index: int, edits: Edits) -> str:
        self.asked.append(("replay", step, index, dict(edits)))
        if self.fails is not None:
            raise self.fails
        return f"<p>replayed {step}[{index}]</p>"

    def go_on(self, step: str, index: int, edits: Edits, going: Going) -> str:
        self.asked.append(("go on", step, index, dict(edits)))
        return "run 1a2b left run 7f3a"


def buttons(widget: Any, name: str) -> list[ipywidgets.Button]:
    """The buttons inside a widget whose text begins so."""
    if isinstance(widget, ipywidgets.Button):
        return [widget] if widget.description.startswith(name) else []
    return [found for child in getattr(widget, "children", ()) for found in buttons(child, name)]


def said(widget: Any) -> str:
    """All HTML inside a widget."""
    if isinstance(widget, ipywidgets.HTML):
        return str(widget.value)
    return " ".join(said(child) for child in getattr(widget, "children", ()))


def controls(widget: Any) -> dict[str, Any]:
    """All that takes input inside a widget, by its label."""
    found: dict[str, Any] = {}
    children = list(getattr(widget, "children", ()))
    for label, child in zip([None, *children], children, strict=False):
        if isinstance(child, ipywidgets.Checkbox):
            found[child.description] = child
        elif isinstance(label, ipywidgets.Label):
            found[label.value] = child
        else:
            found.update(controls(child))
    return found
