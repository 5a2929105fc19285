"""One run as widgets: figures, questions, failures, and its executions."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets

from ..records import RunView
from . import executions, failing, form, html, sheet
from .explorer import Explorer
from .form import Forms, OnAnswer
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
        self._forms = None if on_answer is None else Forms(on_answer)
        self._below = None if on_explore is None else Below(on_explore(run_id), on_answer)
        self._was_live = True

    def show(self, view: RunView, *, live: bool) -> list[ipywidgets.Widget]:
        """Draws a view; the tail is apart so that an opened traceback stays open while figures move."""
        forms = [] if self._forms is None else self._forms.show(view, live=live)
        below = self._below
        self._top.value = html.top(view, live=live)
        self._tail.value = html.tail(view, live=live, asked=len(forms), failures=below is None)
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
