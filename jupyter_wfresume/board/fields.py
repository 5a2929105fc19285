"""One field of a form as widgets: of an answer to a question, or of a recorded input."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import ipywidgets

from ..records import FieldView, InputField
from . import html

_CHOOSE = "choose…"
_LONG = 60
"""Characters of a text from which on it gets several lines."""
_LINES = 10


class Field:
    """One field.

    A front end sends a further change of a widget only when the kernel has said that it is done with the
    one before, and a kernel says nothing of what it handles beside a running cell (ipykernel 7.4). So each
    control is heard once: then another one, with the same value, stands in its place.

    Args:
        field: what is asked for.
        start: what stands in it at first; None leaves it empty.
        empty: what it means to leave it empty, or None where something must be said.
        hint: what stands in an empty field.
        labelled: whether its name stands before it.
    """

    def __init__(
        self, field: FieldView, start: Any = None, *, empty: str | None, hint: str, labelled: bool = True
    ) -> None:
        self.name = field.name
        self.required = field.required
        self.start = start
        self._field = field
        self._empty = empty
        self._hint = hint
        self._labelled = labelled
        self.widget = ipywidgets.HBox()
        self._place(start)

    def _place(self, value: Any) -> None:
        self.control = self._control()
        if value is not None:
            self.control.value = value
        self.control.observe(lambda change: self._place(change["new"]), "value")
        shown = [self.control]
        if self._labelled and not isinstance(self.control, ipywidgets.Checkbox):
            shown.insert(0, ipywidgets.Label(self.name))
        self.widget.children = shown

    @property
    def value(self) -> Any:
        """What stands in it."""
        return self.control.value

    def put(self, value: Any) -> None:
        """Put a value into it, as if a person had done so."""
        self._place(value)

    @property
    def missing(self) -> bool:
        """It must be chosen, and is not."""
        return self._empty is None and self.value is None

    @property
    def is_empty(self) -> bool:
        """Nothing stands in it, and that means something."""
        return self._empty is not None and self.value in ("", None)

    def _control(self) -> Any:
        # Typed text is sent when the field is left, in one message that arrives before the click. Sent key
        # by key it would be held back while the kernel is busy, and a click would overtake its end.
        late = {"continuous_update": False}
        kind, optional = self._field.kind, self._empty is not None
        if kind == "choice":
            choices: list[tuple[str, str | None]] = [(one, one) for one in self._field.choices]
            if optional or self.start is None:
                choices.insert(0, (self._empty or _CHOOSE, None))
            return ipywidgets.Dropdown(options=choices)
        if kind == "bool" and optional:
            return ipywidgets.Dropdown(options=[(self._empty, None), ("yes", True), ("no", False)])
        if kind == "bool":
            return ipywidgets.Checkbox(value=False, description=self.name, indent=False)
        if kind == "int" and not optional:
            return ipywidgets.IntText(**late)
        if kind == "float" and not optional:
            return ipywidgets.FloatText(**late)
        start = str(self.start or "")
        if kind == "json" or len(start) > _LONG or "\n" in start:
            rows = max(2, min(_LINES, start.count("\n") + 1 + len(start) // 80))
            return ipywidgets.Textarea(placeholder=self._hint, rows=rows, **late)
        return ipywidgets.Text(placeholder=self._hint, **late)


def answer_field(field: FieldView, alone: bool) -> Field:
    """A field of an answer.

    Args:
        field: what is asked for.
        alone: there is no other.
    """
    hint = field.name if field.required and not field.none else f"{field.name}, or nothing"
    if field.kind == "any":
        hint = "answer"
    elif field.kind == "json":
        hint += ": JSON, or as in Python"
    labelled = not alone or field.kind not in ("text", "any")
    empty = None if field.required else "as it is by default"
    if field.required and field.none and field.kind != "text":
        empty = "None"
    return Field(field, empty=empty, hint=hint, labelled=labelled)


def discard(widgets: Iterable[ipywidgets.Widget]) -> None:
    """Let go of widgets that are not shown any more, with all inside them.

    Args:
        widgets: the widgets, here and in the front end.
    """
    for widget in widgets:
        discard(getattr(widget, "children", ()))
        for part in (getattr(widget, "layout", None), getattr(widget, "style", None), widget):
            if isinstance(part, ipywidgets.Widget):
                part.close()


class InputControl:
    """A field of a recorded input, with room for a sentence on what was put into it.

    Args:
        one: the field and what is recorded in it.
        edited: in a tuple of one what a person had put there before; else empty.
    """

    def __init__(self, one: InputField, edited: tuple[Any, ...] = ()) -> None:
        self.name = one.field.name
        self._recorded = one
        self._said = ipywidgets.HTML()
        self._field: Field | None = None
        if one.fixed:
            shown: ipywidgets.Widget = ipywidgets.HTML(html.fixed_field(self.name, one.fixed))
        else:
            hint = "None" if one.optional else "JSON" if one.field.kind == "json" else ""
            self._field = Field(one.field, one.value, empty="None" if one.optional else None, hint=hint)
            for value in edited:
                self._field.put(value)
            shown = self._field.widget
        self.widget = ipywidgets.VBox([shown, self._said])

    @property
    def control(self) -> Any | None:
        """What takes input, or None."""
        return None if self._field is None else self._field.control

    @property
    def changed(self) -> bool:
        """Something else stands in it than what is recorded."""
        if self._field is None:
            return False
        now, then = self._field.value, self._recorded.value
        return bool(now != then) and not (now in ("", None) and then is None)

    @property
    def value(self) -> Any:
        """What stands in it."""
        return None if self._field is None else self._field.value

    def say(self, sentence: str) -> None:
        """What is wrong with it; empty for nothing."""
        self._said.value = html.fault(sentence) if sentence else ""
