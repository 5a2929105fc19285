"""What failed for good, by error, with a button beside each execution that opens it in the section."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets

from ..records import ErrorView, FailureView, RunView
from . import figures as f
from . import html

EACH = 3
"""Executions with the same error that get a button; the others are a click away in the section."""

STYLE = (
    ".wfr-failing{border-left:3px solid #d55e00;padding-left:10px;margin:4px 0 2px;overflow:visible}"
    ".wfr-failing .widget-hbox{height:26px;align-items:center;gap:12px;overflow:hidden}"
    ".wfr-failing .widget-hbox .widget-html{flex:1 1 0;min-width:0;width:auto}"
    ".wfr-failing .jupyter-button{margin:0;width:112px;height:22px;line-height:20px;padding:0 2px;flex:none}"
    ".wfr-failing .wfr .wfr-mark{margin:0;padding:0;border:0}"
)
"""Goes with the board's stylesheet."""


class Failing:
    """The failures of one run.

    Args:
        choose: opens one execution, given its step and index.
        choose_all: opens the list of those that failed.
    """

    def __init__(self, choose: Callable[[str, int], None], choose_all: Callable[[], None]) -> None:
        self._choose = choose
        self._choose_all = choose_all
        self._shown: tuple[FailureView, ...] = ()
        self._widgets: list[ipywidgets.Widget] = []

    def show(self, view: RunView) -> list[ipywidgets.Widget]:
        """The widgets for what has failed by now; they stay while nothing else fails.

        Args:
            view: the run.
        """
        groups = f.failures(view)
        if groups != self._shown:
            self._shown = groups
            self._widgets = [self._group(view, group) for group in groups]
        return self._widgets

    def _group(self, view: RunView, group: FailureView) -> ipywidgets.Widget:
        if not group.errors or not group.errors[0].step:
            return ipywidgets.HTML(html.failure(view, group))
        rows = [ipywidgets.HTML(html.failure_head(group, wrapped=True))]
        rows += [self._row(group, error) for error in group.errors[:EACH]]
        if group.count > EACH:
            more = ipywidgets.HTML(html.say(f"and {f.count(group.count - EACH)} more"))
            rows.append(self._line(more, "Show all", "List all that failed", self._choose_all))
        rows.append(ipywidgets.HTML(html.failure_tail(view, group, wrapped=True)))
        box = ipywidgets.VBox(rows)
        box.add_class("wfr-failing")
        return box

    def _row(self, group: FailureView, error: ErrorView) -> ipywidgets.Widget:
        told = ipywidgets.HTML(html.failed_one(group, error))
        place = f"{error.step}[{error.index}]"
        tip = f"Opens {place} below, under Executions, where it is replayed with this or another input"
        return self._line(told, "Edit and replay", tip, lambda: self._choose(error.step, error.index))

    def _line(
        self, told: ipywidgets.HTML, name: str, tip: str, clicked: Callable[[], None]
    ) -> ipywidgets.Widget:
        button = ipywidgets.Button(description=name, tooltip=tip)
        button.on_click(lambda _: clicked())
        return ipywidgets.HBox([told, button])
