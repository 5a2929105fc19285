"""A question with fields for its answer, as widgets."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets

from ..errors import WfresumeError
from ..records import QuestionView, RunView
from . import html
from .fields import answer_field

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


class Form:
    """One question, its fields and a button.

    Args:
        run_id: the run on whose board it stands.
        question: what is asked.
        on_answer: called once for a question that is answered, on whatever thread the click arrives.
        on_said: called when the answer is written down.
    """

    def __init__(
        self,
        run_id: str,
        question: QuestionView,
        on_answer: OnAnswer,
        on_said: Callable[[], None] = lambda: None,
    ) -> None:
        self._run_id = run_id
        self._question = question
        self._on_answer = on_answer
        self._on_said = on_said
        self.answered = False
        self._lock = threading.Lock()
        self._over = False
        alone = len(question.fields) == 1
        self._fields = [answer_field(field, alone) for field in question.fields]
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
        value = {field.name: field.value for field in self._fields if not field.is_empty}
        # One that must be said, and may be None, says so by being empty.
        value.update({field.name: None for field in self._fields if field.is_empty and field.required})
        try:
            self._on_answer(self._run_id, self._question, value)
        except WfresumeError as error:
            self._said.value = html.say(str(error))
            self._freeze(False)
            self._over = False
        else:
            said = ", ".join(str(one) for one in value.values())
            self._said.value = html.say(f"answered: {said}{self.after}")
            self.answered = True
            self._on_said()

    def _freeze(self, frozen: bool) -> None:
        for one in (self.button, *(field.control for field in self._fields)):
            one.disabled = frozen


class Forms:
    """The forms of one run's board.

    Args:
        on_answer: see `OnAnswer`.
        on_said: called when an answer is written down.
    """

    def __init__(self, on_answer: OnAnswer, on_said: Callable[[], None] = lambda: None) -> None:
        self._on_answer = on_answer
        self._on_said = on_said
        self._forms: dict[tuple[str, str, float], Form] = {}

    def show(self, view: RunView, *, live: bool) -> Sequence[ipywidgets.Widget]:
        """The widgets for the questions that a run asks now; one that stays keeps what was typed.

        Args:
            view: the run.
            live: whether its cell still runs.
        """
        asked = {(q.run_id, q.key, q.asked_at): q for q in view.questions[:FORMS]}
        self._forms = {
            key: self._forms.get(key) or Form(view.run_id, question, self._on_answer, self._on_said)
            for key, question in asked.items()
        }
        for form in self._forms.values():
            form.after = "" if live else " · run this cell again to go on"
        return [form.widget for form in self._forms.values()]

    @property
    def answered(self) -> int:
        """How many of the questions that are shown were answered here."""
        return sum(form.answered for form in self._forms.values())
