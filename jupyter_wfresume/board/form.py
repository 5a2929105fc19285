"""A question with fields for its answer, as widgets."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets

from ..errors import WfresumeError
from ..records import FieldView, QuestionView, RunView
from . import html

OnAnswer = Callable[[str, QuestionView, Any], None]
"""Given the run, the question and what was said; writes the answer down, or raises a `WfresumeError`."""

FORMS = 8
"""Questions of one run that get fields at a time; the next one takes the place of one that was answered."""

STYLE = (
    ".wfr-form{border-left:3px solid #0072b2;padding:0 0 2px 10px;margin:4px 0 2px;overflow:visible}"
    ".wfr-form .widget-hbox{align-items:flex-end;overflow:visible;gap:8px}"
    ".wfr-form .widget-vbox{overflow:visible;gap:4px;flex:1 1 auto;min-width:0}"
    ".wfr-form .widget-text,.wfr-form .widget-textarea,.wfr-form .widget-dropdown"
    "{margin:0;width:min(100%,32rem)}"
    ".wfr-form .widget-checkbox{margin:0;width:auto;height:28px}"
    ".wfr-form .widget-label{min-width:7em;text-align:left}"
    ".wfr-form .jupyter-button{margin:0;width:88px;flex:none}"
)
"""Goes with the board's stylesheet."""

_CHOOSE = "choose…"


class Form:
    """One question, its fields and a button.

    Args:
        run_id: the run on whose board it stands.
        question: what is asked.
        on_answer: called once for a question that is answered, on whatever thread the click arrives.
    """

    def __init__(self, run_id: str, question: QuestionView, on_answer: OnAnswer) -> None:
        self._run_id = run_id
        self._question = question
        self._on_answer = on_answer
        self._lock = threading.Lock()
        self._over = False
        alone = len(question.fields) == 1
        self._fields = [_Field(field, alone) for field in question.fields]
        self._text = ipywidgets.HTML(html.question(question))
        self._said = ipywidgets.HTML()
        self.button = ipywidgets.Button(description="Answer", tooltip="Write the answer down")
        self.button.on_click(lambda _: self._send())
        rows = ipywidgets.VBox([field.widget for field in self._fields])
        line = ipywidgets.HBox([rows, self.button] if self._fields else [self.button])
        self.widget = ipywidgets.VBox([self._text, line, self._said])
        self.widget.add_class("wfr-form")
        self.after = ""

    def _send(self) -> None:
        with self._lock:
            if self._over:
                return
            missing = next((field.name for field in self._fields if field.missing), None)
            if missing is not None:
                self._said.value = html.say(f"choose {missing} first")
                return
            self._over = True
        self._freeze(True)
        value = {field.name: field.value for field in self._fields if not field.left_out}
        try:
            self._on_answer(self._run_id, self._question, value)
        except WfresumeError as error:
            self._said.value = html.say(str(error))
            self._freeze(False)
            self._over = False
        else:
            said = ", ".join(str(one) for one in value.values())
            self._said.value = html.say(f"answered: {said}{self.after}")

    def _freeze(self, frozen: bool) -> None:
        for one in (self.button, *(field.control for field in self._fields)):
            one.disabled = frozen


class _Field:
    """One field of an answer.

    A front end sends a further change of a widget only when the kernel has said that it is done with the
    one before, and a kernel says nothing of what it handles beside a running cell (ipykernel 7.4). So each
    control is heard once: then another one, with the same value, stands in its place.
    """

    def __init__(self, field: FieldView, alone: bool) -> None:
        self.name = field.name
        self._field = field
        self._labelled = field.kind not in ("text", "any") if alone else True
        self.widget = ipywidgets.HBox()
        self._place(None)

    def _place(self, value: Any) -> None:
        self.control = _control(self._field)
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

    @property
    def missing(self) -> bool:
        """It must be chosen, and is not."""
        return self._field.required and self.value is None

    @property
    def left_out(self) -> bool:
        """It has a default, which stands."""
        return not self._field.required and self.value in ("", None)


def _control(field: FieldView) -> Any:
    # Typed text is sent when the field is left, in one message that arrives before the click. Sent key by
    # key it would be held back while the kernel is busy, and a click would overtake its end.
    late = {"continuous_update": False}
    hint = field.name if field.required else f"{field.name}, or nothing"
    if field.kind == "choice":
        return ipywidgets.Dropdown(options=[(_CHOOSE, None), *((one, one) for one in field.choices)])
    if field.kind == "bool" and not field.required:
        return ipywidgets.Dropdown(options=[("as it is by default", None), ("yes", True), ("no", False)])
    if field.kind == "bool":
        return ipywidgets.Checkbox(value=False, description=field.name, indent=False)
    if field.kind == "int" and field.required:
        return ipywidgets.IntText(**late)
    if field.kind == "float" and field.required:
        return ipywidgets.FloatText(**late)
    if field.kind == "json":
        return ipywidgets.Textarea(placeholder=f"{hint}: JSON, or as in Python", rows=2, **late)
    return ipywidgets.Text(placeholder="answer" if field.kind == "any" else hint, **late)


class Forms:
    """The forms of one run's board.

    Args:
        on_answer: see `OnAnswer`.
    """

    def __init__(self, on_answer: OnAnswer) -> None:
        self._on_answer = on_answer
        self._forms: dict[tuple[str, str, float], Form] = {}

    def show(self, view: RunView, *, live: bool) -> Sequence[ipywidgets.Widget]:
        """The widgets for the questions that a run asks now; one that stays keeps what was typed.

        Args:
            view: the run.
            live: whether its cell still runs.
        """
        asked = {(q.run_id, q.key, q.asked_at): q for q in view.questions[:FORMS]}
        self._forms = {
            key: self._forms.get(key) or Form(view.run_id, question, self._on_answer)
            for key, question in asked.items()
        }
        for form in self._forms.values():
            form.after = "" if live else " · run this cell again to go on"
        return [form.widget for form in self._forms.values()]
