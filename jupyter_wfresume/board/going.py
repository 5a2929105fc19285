"""A new run that goes on from an execution, as it is shown below that one; and the Stop button."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

import ipywidgets

from ..records import RunView
from .boards import PacedBoard
from .book import Page
from .pace import Timer

GOING_S = 0.2
"""Seconds between two drawings at the least."""

_STOP = "Start nothing new; let running executions finish for up to 10 s"
_NOW = "Cancel the running executions at once"


class Shows(Protocol):
    """Draws one run as widgets."""

    def show(self, view: RunView, *, live: bool) -> Sequence[ipywidgets.Widget]:
        """Draws a view."""


class StopButton:
    """Stop, then stop now; each click calls ``on_stop`` once.

    Args:
        on_stop: what stops the runs of the cell.
    """

    def __init__(self, on_stop: Callable[[], None]) -> None:
        self._on_stop = on_stop
        self._clicks = 0
        self.widget = ipywidgets.Button(description="Stop", tooltip=_STOP)
        self.widget.add_class("wfr-button")
        self.widget.on_click(self._clicked)

    def _clicked(self, _: ipywidgets.Button) -> None:
        self._clicks += 1
        if self._clicks > 2:
            return
        self.widget.description = "Stopping…"
        self.widget.tooltip = _NOW
        self.widget.disabled = self._clicks == 2
        self._on_stop()


class GoingBoard(PacedBoard):
    """Shows one run in a box.

    Args:
        box: where it is shown.
        panel: draws it.
        clock: monotonic seconds.
        timer: calls back later; None uses the loop that drives the run.
    """

    def __init__(
        self,
        box: ipywidgets.VBox,
        panel: Shows,
        *,
        clock: Callable[[], float] = time.monotonic,
        timer: Timer | None = None,
    ) -> None:
        self._box = box
        self._panel = panel
        self._stop: StopButton | None = None
        super().__init__(least_s=GOING_S, clock=clock, timer=timer)

    def started(self, stop: Callable[[], None]) -> None:
        """The run can be stopped from now on."""
        self._stop = StopButton(stop)

    def _draw(self, page: Page) -> None:
        for view in page.panels[:1]:
            live = view in page.open
            widgets = [*self._panel.show(view, live=live)]
            if live and self._stop is not None:
                widgets.append(self._stop.widget)
            if tuple(widgets) != self._box.children:
                self._box.children = tuple(widgets)
