"""The fields of a question on the board: one answer for any number of clicks, on whatever thread."""

from __future__ import annotations

import threading
from typing import Any

import ipywidgets
import pytest

from jupyter_wfresume.board.form import FORMS, Form, Forms
from jupyter_wfresume.errors import UsageError
from jupyter_wfresume.records import FieldView, QuestionView, RunView

ALL = (
    FieldView("said", "any"),
    FieldView("copies", "int"),
    FieldView("share", "float"),
    FieldView("urgent", "bool"),
    FieldView("size", "choice", ("small", "large")),
    FieldView("pages", "json"),
    FieldView("note", "text", required=False),
    FieldView("paper", "int", required=False),
    FieldView("color", "bool", required=False),
)


def question(*fields: FieldView, index: int = 0) -> QuestionView:
    """A question with these fields."""
    return QuestionView(index, f"Question {index}?", "ask", 1.0, f"ask/{index}", fields)


def controls(widget: ipywidgets.Widget) -> list[Any]:
    """All that takes input inside a widget, in order."""
    kinds = (ipywidgets.Text, ipywidgets.Textarea, ipywidgets.Checkbox, ipywidgets.Dropdown)
    if isinstance(widget, (*kinds, ipywidgets.IntText, ipywidgets.FloatText)):
        return [widget]
    return [found for child in getattr(widget, "children", ()) for found in controls(child)]


def said(form: Form) -> str:
    """What the form says below its fields."""
    return str(form.widget.children[-1].value)


def test_clicks_on_many_threads_are_one_answer() -> None:
    """Whoever comes second, even at the same time, finds that it is being answered."""
    given: list[Any] = []
    begun = threading.Barrier(8)

    def on_answer(run_id: str, asked: QuestionView, value: Any) -> None:
        given.append((run_id, asked.key, value))

    form = Form("run", question(FieldView("text")), on_answer)
    controls(form.widget)[0].value = "yes"

    def click() -> None:
        begun.wait()
        form.button.click()

    threads = [threading.Thread(target=click) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert given == [("run", "ask/0", {"text": "yes"})]
    assert "answered: yes" in said(form)
    assert form.button.disabled


def test_a_field_that_may_be_none_says_so_by_being_empty() -> None:
    """It has no default, so that it cannot be left out; an empty text is a text."""
    given: list[Any] = []
    fields = (
        FieldView("copies", "int", none=True),
        FieldView("urgent", "bool", none=True),
        FieldView("size", "choice", ("small", "large"), none=True),
        FieldView("pages", "json", none=True),
        FieldView("note", "text", none=True),
    )
    form = Form("run", question(*fields), lambda _, __, value: given.append(value))
    form.button.click()
    assert given == [{"copies": None, "urgent": None, "size": None, "pages": None, "note": ""}]


def test_each_kind_has_its_control_and_what_is_left_empty_is_left_out() -> None:
    """Text, numbers, a box, choices; a field with a default may stay empty."""
    given: list[Any] = []
    form = Form("run", question(*ALL), lambda _, __, value: given.append(value))
    kinds = [type(control).__name__ for control in controls(form.widget)]
    assert kinds == [
        "Text",
        "IntText",
        "FloatText",
        "Checkbox",
        "Dropdown",
        "Textarea",
        "Text",
        "Text",
        "Dropdown",
    ]
    form.button.click()
    assert "choose size first" in said(form)
    for number, value in enumerate(["", 2, 0.5, True, "small", "[1]"]):
        controls(form.widget)[number].value = value
    form.button.click()
    assert given == [
        {"said": "", "copies": 2, "share": 0.5, "urgent": True, "size": "small", "pages": "[1]"},
    ]


def test_a_control_is_another_one_after_each_change() -> None:
    """A front end's second change of the same widget would not arrive while a cell runs."""
    form = Form("run", question(FieldView("text")), lambda *_: None)
    (first,) = controls(form.widget)
    first.value = "one"
    (second,) = controls(form.widget)
    assert (second.value, second is first) == ("one", False)


def test_an_answer_that_is_refused_can_be_given_again() -> None:
    """The sentence is shown, what was typed stays, and the button works again."""
    given: list[Any] = []

    def on_answer(_: str, __: QuestionView, value: Any) -> None:
        given.append(value)
        if value["n"] == "many":
            raise UsageError("n is a whole number, not <many>")

    form = Form("run", question(FieldView("n", "int", required=False), FieldView("t")), on_answer)
    controls(form.widget)[0].value = "many"
    form.button.click()
    assert "n is a whole number, not &lt;many&gt;" in said(form)
    controls(form.widget)[0].value = "3"
    form.button.click()
    assert given == [{"n": "many", "t": ""}, {"n": "3", "t": ""}]
    assert "answered" in said(form)


def test_a_question_without_fields_has_a_button_alone() -> None:
    """Where all that an answer says is decided, a click is the answer."""
    given: list[Any] = []
    form = Form("run", question(), lambda _, __, value: given.append(value))
    assert controls(form.widget) == []
    form.button.click()
    assert given == [{}]


@pytest.mark.parametrize("live", [True, False])
def test_only_so_many_questions_have_fields_and_the_others_follow(live: bool) -> None:
    """What was typed stays when others are answered; the next question takes the free place."""
    forms = Forms(lambda *_: None)
    asked = tuple(question(FieldView("text"), index=n) for n in range(FORMS + 2))

    def shown(*questions: QuestionView) -> list[ipywidgets.Widget]:
        return list(forms.show(RunView("run", "it", "It", "waiting", questions=questions), live=live))

    first = shown(*asked)
    assert len(first) == FORMS
    second = shown(*asked[1:])
    assert second[:-1] == first[1:]
    assert second[-1] not in first
