"""The board: one or several runs drawn as text, as HTML, or as a live widget."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Literal, Protocol, TextIO

from ..records import FieldView, QuestionView, RunView
from .boards import NullBoard, StaticBoard, TextBoard
from .book import Source
from .explorer import Edits, Explorer, Going, Line, Lines, Sheet
from .html import render
from .pace import Timer
from .shown import (
    ExecutionPage,
    ExecutionRow,
    RunPage,
    execution_html,
    execution_text,
    pairs_html,
    pairs_text,
    rows_html,
    rows_text,
    run_html,
    run_text,
)
from .table import RunRow, runs_html, runs_text
from .text import block, one_line

__all__ = [
    "Board",
    "Edits",
    "ExecutionPage",
    "ExecutionRow",
    "Explorer",
    "Going",
    "Line",
    "Lines",
    "RunPage",
    "RunRow",
    "Sheet",
    "Source",
    "block",
    "execution_html",
    "execution_text",
    "make_board",
    "one_line",
    "pairs_html",
    "pairs_text",
    "render",
    "rows_html",
    "rows_text",
    "run_html",
    "run_text",
    "runs_html",
    "runs_text",
    "show_run_live",
]


class Board(Protocol):
    """Shows the runs of one cell."""

    def update(self, view: Source) -> None:
        """Shows a view soon; cheap, from any thread.

        Args:
            view: a view, or what makes one when it is time to draw. Hand in the same bound method each time:
                it is asked again each second, so that clocks go on between updates.
        """

    def close(self, view: RunView) -> None:
        """Shows the last view of a run at once, static where no other run is open.

        Args:
            view: how the run ended.
        """


def make_board(
    kind: Literal["auto", "widget", "text", "none"],
    *,
    display: Callable[..., Any] | None,
    has_front_end: bool,
    on_stop: Callable[[], None] | None,
    on_answer: Callable[[str, QuestionView, Any], None] | None = None,
    on_check: Callable[[FieldView, Any], Any] = lambda field, said: said,
    on_explore: Callable[[str], Explorer] | None = None,
    stream: TextIO | None = None,
    clock: Callable[[], float] = time.monotonic,
    timer: Timer | None = None,
) -> Board:
    """The board for where this process runs.

    Args:
        kind: as in ``--board``; ``auto`` picks a widget, a replaced static output, or text.
        display: IPython's ``display`` in a kernel; None in a terminal or a script.
        has_front_end: whether somebody may look and click (no nbclient or papermill).
        on_stop: called for a click on Stop, a second time for "now".
        on_answer: called with the run's id, a question and what a person said, on whatever thread that
            arrives; the answer is written down when it returns, or it raises a `WfresumeError`.
        on_check: called with a field of an answer and what was typed for it; raises a `WfresumeError`
            where that does not fit.
        on_explore: gives who is asked for the executions of a run, by its id; None shows no section on them.
        stream: where text goes without ``display``; None is the standard output.
        clock: monotonic seconds.
        timer: calls back later; None uses the running event loop.
    """
    if kind == "none":
        return NullBoard()
    if display is None:
        out = stream or sys.stdout
        return TextBoard(
            out, on_answer=on_answer, stdin=sys.stdin, on_check=on_check, clock=clock, timer=timer
        )
    if kind == "text":
        return StaticBoard(display, only_text=True, clock=clock, timer=timer)
    if kind == "auto" and not has_front_end:
        return StaticBoard(display, clock=clock, timer=timer)
    # Imported late: ipywidgets takes a tenth of a second, which headless runs and scripts need not pay.
    from .widget import WidgetBoard

    return WidgetBoard(
        display, on_stop=on_stop, on_answer=on_answer, on_explore=on_explore, clock=clock, timer=timer
    )


def show_run_live(page: RunPage, explorer: Explorer, display: Callable[..., Any]) -> str:
    """Shows a recorded run as a widget with its executions; returns the HTML that stands for it later.

    Args:
        page: the run.
        explorer: who is asked for its executions.
        display: IPython's ``display``.

    Returns:
        The run as HTML, which is to be shown next, and hides itself while the widget lives.
    """
    from .panel import PageWidget  # as above
    from .widget import show_beside

    return show_beside(PageWidget(page, explorer).widget, run_html(page), display)
