"""The section on executions: a list of any length, one execution as a form, and its two buttons."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ipywidgets
import pytest

from jupyter_wfresume.board.executions import ROWS, Section
from jupyter_wfresume.board.panel import Panel
from jupyter_wfresume.board.widget import OPEN_S, WidgetBoard
from jupyter_wfresume.errors import UsageError
from jupyter_wfresume.records import FailureView

from .explorers import Made, buttons, controls, said
from .samples import DONE, ERROR, FAILED, RUNNING, Clock, Display

_WIDGETS: dict[str, Any] = ipywidgets.widgets.widget._instances


def at_once(job: Callable[[], None]) -> None:
    """Do on this thread, now, what the board does elsewhere."""
    job()


def section(run: Made, start: Callable[[Callable[[], None]], None] = at_once) -> Section:
    """A section on a run that was made up."""
    return Section(run, lambda: Panel("", None), start=start)


def rows(shown: Section) -> list[str]:
    """The lines of the list."""
    found = []
    for button in buttons(shown.widget, ""):
        if "wfr-row" in button._dom_classes:
            found.append(button.description)
    return found


def press(shown: Section, name: str) -> None:
    """Click the one button of the section whose text begins so."""
    (button,) = buttons(shown.widget, name)
    button.click()


def choose(shown: Section, label: str) -> dict[str, Any]:
    """Choose an execution from the list; its controls by their labels."""
    press(shown, f"{label} ")
    return controls(shown.widget)


def test_folded_it_asks_for_nothing_and_holds_one_button() -> None:
    """A board with a section nobody opens costs a button."""

    class Silent(Made):
        def lines(self, *_: Any) -> Any:
            raise AssertionError("nobody has asked")

    shown = section(Silent())
    shown.look()
    assert shown.widget.children == (shown.fold,)


def test_ten_thousand_executions_are_pages_of_ten() -> None:
    """The number of widgets does not grow with the run, nor with the pages that are turned."""
    shown = section(Made(10_000))
    shown.fold.click()
    assert len(rows(shown)) == ROWS
    assert "1–10 of 10,001" in said(shown.widget)
    before, began = len(_WIDGETS), time.process_time()
    for _ in range(50):
        press(shown, "▸")
    assert (time.process_time() - began) / 50 < 0.1
    assert len(_WIDGETS) == before
    assert "501–510 of 10,001" in said(shown.widget)
    press(shown, "◂")
    assert rows(shown)[0].startswith("work[490]  ✕ failed")


def test_filters_by_step_and_status_count_and_begin_at_the_first_page() -> None:
    """Both filters hold together; the pages are counted anew."""
    shown = section(Made())
    shown.fold.click()
    press(shown, "▸")
    for number, chosen in ((0, "work"), (1, "failed")):
        shown.widget.children[1].children[number].value = chosen
    assert [row.split()[0] for row in rows(shown)] == ["work[0]", "work[10]", "work[20]"]
    assert "1–3 of 3" in said(shown.widget)
    shown.widget.children[1].children[0].value = "join"
    assert rows(shown) == []
    assert "none of these" in said(shown.widget)


def test_each_kind_of_field_has_its_control_with_what_is_recorded() -> None:
    """Text, numbers, a box, choices, JSON; what no form can carry is shown, and stays."""
    shown = section(Made())
    shown.fold.click()
    found = choose(shown, "work[1]")
    assert {name: (type(one).__name__, one.value) for name, one in found.items()} == {
        "n": ("IntText", 3),
        "text": ("Textarea", "one\ntwo"),
        "share": ("FloatText", 0.5),
        "urgent": ("Checkbox", True),
        "size": ("Dropdown", "small"),
        "note": ("Text", ""),
        "tags": ("Textarea", '["a"]'),
    }
    assert "DataFrame: 3 rows" in said(shown.widget)
    assert "stays as recorded" in said(shown.widget)


def test_only_what_was_changed_is_an_edit() -> None:
    """A field that is put back as it was is none."""
    run = Made()
    shown = section(run)
    shown.fold.click()
    found = choose(shown, "work[1]")
    found["n"].value = 40
    found["note"].value = "new"
    found["share"].value = 0.7
    controls(shown.widget)["share"].value = 0.5
    press(shown, "Replay")
    assert run.asked[-1] == ("replay", "work", 1, {(0, "n"): 40, (0, "note"): "new"})
    assert "replayed work[1]" in said(shown.widget)


def test_a_click_while_it_replays_does_nothing() -> None:
    """The button says so, takes no second click, and is free again afterwards."""
    jobs: list[Callable[[], None]] = []
    run = Made()
    shown = section(run, jobs.append)

    def work() -> None:
        while jobs:
            jobs.pop(0)()

    shown.fold.click()
    work()
    press(shown, "work[1] ")
    work()
    (button,) = buttons(shown.widget, "Replay")
    button.click()
    button.click()
    assert (button.description, button.disabled, len(jobs)) == ("Replaying…", True, 1)
    work()
    assert (button.description, button.disabled) == ("Replay", False)
    assert [one[0] for one in run.asked] == ["sheet", "replay"]


def test_an_edit_that_does_not_fit_is_said_beside_its_field() -> None:
    """Nothing is executed, and all that was typed stays where it is."""
    run = Made()
    run.faults[0, "tags"] = "tags is not JSON: <Expecting value>"
    shown = section(run)
    shown.fold.click()
    found = choose(shown, "work[1]")
    found["tags"].value = "[1,"
    found["n"].value = 5
    press(shown, "Replay")
    assert "tags is not JSON: &lt;Expecting value&gt;" in said(shown.widget)
    assert {name: one.value for name, one in controls(shown.widget).items()}["tags"] == "[1,"
    assert [one[0] for one in run.asked] == ["sheet"]
    run.faults.clear()
    controls(shown.widget)["tags"].value = '["b"]'
    press(shown, "Replay")
    assert run.asked[-1][-1] == {(0, "tags"): '["b"]', (0, "n"): 5}
    assert "not JSON" not in said(shown.widget)


@pytest.mark.parametrize("error", [UsageError("it has no input"), RuntimeError("it has no input")])
def test_what_fails_is_said_and_the_buttons_are_free(error: Exception) -> None:
    """A thread that dies would leave a board that says nothing for ever."""
    run = Made()
    run.fails = error
    shown = section(run)
    shown.fold.click()
    choose(shown, "work[1]")
    press(shown, "Replay")
    assert "it has no input" in said(shown.widget)
    assert not buttons(shown.widget, "Replay")[0].disabled
    assert buttons(shown.widget, "Continue")[0].disabled


def test_to_go_on_is_to_go_on_from_what_was_replayed() -> None:
    """Continue is free after a replay, and takes no input that nobody has seen the outcome of."""
    run = Made()
    shown = section(run)
    shown.fold.click()
    choose(shown, "work[1]")["n"].value = 40
    assert buttons(shown.widget, "Continue")[0].disabled
    press(shown, "Replay")
    controls(shown.widget)["n"].value = 41
    press(shown, "Continue")
    assert "replay it first" in said(shown.widget)
    controls(shown.widget)["n"].value = 40
    press(shown, "Continue")
    assert run.asked[-1] == ("go on", "work", 1, {(0, "n"): 40})
    assert "run 1a2b left run 7f3a" in said(shown.widget)
    choose(shown, "work[2]")
    assert buttons(shown.widget, "Continue")[0].disabled
    assert "run 1a2b" not in said(shown.widget)


def test_a_fan_ins_events_are_edited_one_after_the_other() -> None:
    """Edits of an event stay while another one is on show, and all of them are replayed."""
    run = Made(3)
    shown = section(run)
    shown.fold.click()
    choose(shown, "join[0]")["n"].value = 10
    controls(shown.widget)["event, 0 to 2"].value = 2
    assert run.asked[-1] == ("sheet", "join", 0, 2)
    controls(shown.widget)["text"].value = "three"
    controls(shown.widget)["event, 0 to 2"].value = 0
    assert controls(shown.widget)["n"].value == 10
    press(shown, "Replay")
    assert run.asked[-1][-1] == {(0, "n"): 10, (2, "text"): "three"}


def test_what_cannot_be_replayed_here_is_shown_without_a_form() -> None:
    """The sentence says what to do, and there is no button that could not work."""
    shown = section(Made())
    shown.open("", ("work", 29))
    assert "run the cell that defines it" in said(shown.widget)
    assert buttons(shown.widget, "Replay") == []
    shown.open("", ("gone", 0))
    assert "no step &#x27;gone&#x27;" in said(shown.widget)


def test_a_failure_opens_in_the_section() -> None:
    """Each failure has a button that opens it; beyond three of an error, one opens the list of all."""
    run = Made(100)
    panel = Panel("7f3a", None, lambda run_id: run)
    below = panel._below
    assert below is not None
    below.section._aside._start = at_once
    errors = tuple(replace(ERROR, index=n) for n in (0, 10, 20, 30))
    view = replace(FAILED, failures=(FailureView(errors, 10), FailureView((), 3)))
    box = ipywidgets.VBox(panel.show(view, live=False))
    assert said(box).count("ValueError: bad document") == 1
    assert "3 executions failed otherwise" in said(box)
    assert "%wfskip 7f3a99b0 work[0]" in said(box)
    assert buttons(box, "Replay") == []
    buttons(box, "Edit and replay")[1].click()
    assert run.asked == [("sheet", "work", 10, 0)]
    assert below.section.is_open
    assert [row.split()[0] for row in rows(below.section)][:2] == ["work[0]", "work[10]"]
    buttons(box, "Show all")[0].click()
    assert "of 10" in said(below.section.widget)
    assert panel.show(view, live=False)[1] is box.children[1]


def test_a_failure_that_is_none_any_more_opens_among_its_steps() -> None:
    """Once the run has gone on, the list shows the execution where it is now, not an empty filter."""
    run = Made(100)
    shown = section(run)
    shown.open("failed", ("work", 40))
    assert [row.split()[0] for row in rows(shown)][4] == "work[40]"
    run.heal()
    press(shown, "↻")
    assert [row.split()[0] for row in rows(shown)] == [f"work[{n}]" for n in range(40, 50)]
    assert "none of these" not in said(shown.widget)
    assert "of 100" in said(shown.widget)
    shown.open("failed", ("work", 73))
    assert [row.split()[0] for row in rows(shown)][3] == "work[73]"
    statuses = shown.widget.children[1].children[1]
    statuses.value = "done"
    assert next(row.split()[0] for row in rows(shown)) == "work[0]"


def test_a_live_board_stays_when_its_run_has_ended() -> None:
    """Executions are looked at when a run is over, also where it was over in no time."""
    clock, display = Clock(), Display()
    board = WidgetBoard(display, on_stop=None, on_explore=lambda _: Made(), clock=clock, timer=clock)
    board.update(RUNNING)
    board.close(DONE)
    assert "application/vnd.jupyter.widget-view+json" in display.last()[1]
    clock.advance(2 * OPEN_S)
    plain = WidgetBoard(display, on_stop=None, clock=clock, timer=clock)
    plain.update(RUNNING)
    plain.close(DONE)
    assert "application/vnd.jupyter.widget-view+json" not in display.last()[-1]
