"""One run as widgets: figures, questions, failures, and its executions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import ipywidgets

from ..records import RunView
from . import executions, failing, form, html, sheet
from .explorer import Explorer
from .form import FORMS, Forms, OnAnswer
from .shown import RunPage, run_parts

OnExplore = Callable[[str], Explorer]
"""Gives who is asked for the executions of a run, by its id."""

STYLE = f"{form.STYLE}{failing.STYLE}{executions.STYLE}{sheet.STYLE}"
"""Goes with the board's stylesheet."""


class Panel:
    """The widgets of one run; they stay, and only what changed is sent.

    Args:
        run_id: the run.
        on_answer: writes an answer down, or None for no fields.
        on_explore: gives who is asked for its executions, or None for no section on them.
    """

    def __init__(self, run_id: str, on_answer: OnAnswer | None, on_explore: OnExplore | None = None) -> None:
        self._top = ipywidgets.HTML()
        self._tail = ipywidgets.HTML()
        self._forms = None if on_answer is None else Forms(on_answer, self._answered)
        self._below = None if on_explore is None else Below(on_explore(run_id), on_answer)
        self._was_live = True
        self._ended: RunView | None = None

    def _answered(self) -> None:
        """An answer was given on a board whose cell has ended: nothing else would draw it again."""
        view, forms = self._ended, self._forms
        if view is None or forms is None or not view.answered:
            return
        count, asked = forms.answered, len(view.questions)
        said = view.answered if count == asked else f"{count} of {asked} answered: {view.sentence}"
        self._draw_tail(replace(view, sentence=said), live=False, asked=min(asked, FORMS))

    def _draw_tail(self, view: RunView, *, live: bool, asked: int) -> None:
        self._tail.value = html.tail(view, live=live, asked=asked, failures=self._below is None)

    def show(self, view: RunView, *, live: bool) -> list[ipywidgets.Widget]:
        """Draws a view; the tail is apart so that an opened traceback stays open while figures move."""
        forms = [] if self._forms is None else self._forms.show(view, live=live)
        below = self._below
        self._top.value = html.top(view, live=live)
        self._ended = None if live else view
        self._draw_tail(view, live=live, asked=len(forms))
        if below is None:
            return [self._top, *forms, self._tail]
        if self._was_live and not live:
            below.section.look()  # the list is whole now
        self._was_live = live
        return [self._top, *forms, *below.failing.show(view), self._tail, below.section.widget]


class Below:
    """Failures and executions of a run.

    Args:
        explorer: who is asked for the executions.
        on_answer: writes an answer to a question of a new run down, or None for no fields.
    """

    def __init__(self, explorer: Explorer, on_answer: OnAnswer | None) -> None:
        section = executions.Section(explorer, lambda: Panel("", on_answer))
        self.section = section
        self.failing = failing.Failing(
            lambda step, index: section.open("failed", (step, index)), lambda: section.open("failed")
        )


class PageWidget:
    """A recorded run, for ``%wfshow``.

    Args:
        page: the run.
        explorer: who is asked for its executions.
    """

    def __init__(self, page: RunPage, explorer: Explorer) -> None:
        below = Below(explorer, None)
        top, tail, rest = run_parts(page)
        rows = [
            ipywidgets.HTML(top),
            *below.failing.show(page.view),
            ipywidgets.HTML(tail),
            below.section.widget,
            ipywidgets.HTML(rest),
        ]
        self.widget = ipywidgets.VBox(rows)
