"""The live board: HTML widgets and a Stop button, with a static picture for when they are gone.

A front end draws a widget anew whenever its output is replaced ("Loading widget..." for a moment, and a
second view is left behind in JupyterLab 4.6), so the widget's own bundle cannot carry the picture that is
refreshed every two seconds. The picture is an output of its own, just before the widget's. While the widget
is on the page and its kernel lives, a rule in the widget's stylesheet hides the picture; without the widget
the rule is gone, and the picture shows. A notebook that was saved while a run went on, and reopened with a
new kernel, still holds the widget's output, for which JupyterLab shows "model not found" whatever else is in
the bundle: a rule in the picture's own stylesheet hides that line, and "Loading widget..." before it.

With a section on executions the widget stays when its run has ended, as that is when people look at them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import ipywidgets

from . import html
from .boards import STATIC_S, Output, PacedBoard, picture
from .book import Page
from .form import OnAnswer
from .going import StopButton
from .pace import Timer
from .panel import STYLE as PANEL_STYLE
from .panel import OnExplore, Panel

WIDGET_S = 0.1
"""Seconds between two drawings of the widget: ten a second at the most."""
OPEN_S = 0.3
"""Seconds a first run must last before the widget comes: a recorded result returns sooner, and needs none."""
REOPEN_S = 1.0
"""Seconds a further run of a cell must last before the widget comes back for it."""

_VIEW = "application/vnd.jupyter.widget-view+json"


def hide_rule(name: str) -> str:
    """CSS that hides the picture ``name`` while its live board is on the page and connected."""
    # A browser without :has (before 2024) hides the picture for good while the widget is shown.
    alive = f"body:has(.{name}-live):not(:has(.{name}-live.jupyter-widgets-disconnected))"
    return (
        f"{alive} .{name},{alive} .jp-OutputArea-child:has(.{name}){{display:none}}"
        f"@supports not selector(:has(*)){{.{name}{{display:none}}}}"
        f".{name}-live.jupyter-widgets-disconnected{{display:none}}"
        f".{name}-live{{position:relative;overflow:visible;max-width:60rem;margin:0}}"
        f".{name}-live .widget-html,.{name}-live .widget-html-content{{height:auto;margin:0;line-height:20px;"
        "overflow:visible;width:100%}"
        f".{name}-live .wfr-button{{position:absolute;top:0;right:0;width:88px;height:24px;line-height:22px;"
        "margin:0;padding:0 2px}"
    )


def broken_rule(name: str) -> str:
    """CSS that hides the output just before or after the picture ``name`` where its widget is gone.

    Also where it is not there yet.
    """
    beside = (
        f".jp-OutputArea-child:has(.{name})+.jp-OutputArea-child>",
        f".jp-OutputArea-child:has(+.jp-OutputArea-child .{name})>",
    )
    gone = (".jupyter-widgets:not(:has(*))", ".jp-OutputArea-output.lm-Panel:not(:has(*))")
    # One rule each: a browser that does not know one of them leaves the others alone.
    return "".join(f"{place}{what}{{display:none}}" for place in beside for what in gone)


class Frame:
    """All widgets of one board.

    Args:
        name: the picture's class, which this board hides while it is alive.
        on_stop: what stops the runs of the cell, or None for no button.
        on_answer: writes an answer down, or None for no fields.
        on_explore: gives who is asked for a run's executions, or None for no section on them.
    """

    def __init__(
        self,
        name: str,
        on_stop: Callable[[], None] | None,
        on_answer: OnAnswer | None = None,
        on_explore: OnExplore | None = None,
    ) -> None:
        self._on_stop = on_stop
        self._on_answer = on_answer
        self._on_explore = on_explore
        self._stop: StopButton | None = None
        self._style = ipywidgets.HTML(f"{html.style()}<style>{hide_rule(name)}{PANEL_STYLE}</style>")
        self._more = ipywidgets.HTML()
        self._panels: dict[str, Panel] = {}
        self._box = ipywidgets.VBox()
        self._box.add_class(f"{name}-live")

    def show(self, page: Page) -> None:
        """Draws a page; only what changed is sent."""
        widgets: list[ipywidgets.Widget] = [self._style]
        for view in page.panels:
            panel = self._panels.get(view.run_id)
            if panel is None:
                panel = self._panels[view.run_id] = Panel(view.run_id, self._on_answer, self._on_explore)
            widgets += panel.show(view, live=view in page.open)
        self._more.value = html.compact(page.lines, page.rest)
        widgets.append(self._more)
        if not page.open:
            self._stop = None
        elif self._on_stop is not None and any(view.can_stop for view in page.open):
            self._stop = self._stop or StopButton(self._on_stop)
            widgets.append(self._stop.widget)
        if tuple(widgets) != self._box.children:
            self._box.children = tuple(widgets)

    def bundle(self) -> dict[str, Any]:
        """The widget's output; without the widget it is nothing, as the picture beside it says all."""
        return widget_bundle(self._box)


def widget_bundle(widget: ipywidgets.DOMWidget) -> dict[str, Any]:
    """A widget as an output that is nothing without it, as the picture beside it says all."""
    reference = {"model_id": widget.model_id, "version_major": 2, "version_minor": 0}
    return {_VIEW: reference, "text/html": "<div hidden></div>", "text/plain": ""}


def show_beside(widget: ipywidgets.VBox, drawn: str, display: Callable[..., Any]) -> str:
    """Shows a widget that takes the place of a picture while it lives; returns the picture for that.

    Args:
        widget: the widget.
        drawn: the picture's HTML, which is shown next.
        display: IPython's ``display``, or what takes its arguments.
    """
    name = f"wfresume-{uuid4().hex}"
    widget.add_class(f"{name}-live")
    style = ipywidgets.HTML(f"{html.style()}<style>{hide_rule(name)}{PANEL_STYLE}</style>")
    widget.children = (style, *widget.children)
    display(widget_bundle(widget), raw=True)
    return f'<div class="{name}"><style>{broken_rule(name)}</style>{drawn}</div>'


class WidgetBoard(PacedBoard):
    """A widget while runs go on, static HTML and text when they have ended.

    Args:
        display: IPython's ``display``, or what takes its arguments.
        on_stop: called once for each click on Stop, twice at the most; None shows no button.
        on_answer: called with the run's id, a question and what was said, once for each question that is
            answered; None shows no fields.
        on_explore: gives who is asked for a run's executions; None shows no section on them.
        clock: monotonic seconds.
        timer: calls back later.
        time_of_day: the wall clock as people read it.
    """

    def __init__(
        self,
        display: Callable[..., Any],
        *,
        on_stop: Callable[[], None] | None,
        on_answer: OnAnswer | None = None,
        on_explore: OnExplore | None = None,
        clock: Callable[[], float] = time.monotonic,
        timer: Timer | None = None,
        time_of_day: Callable[[], str] = lambda: time.strftime("%H:%M:%S"),
    ) -> None:
        self._picture = Output(display)
        self._live = Output(display)
        self._time_of_day = time_of_day
        self._on_stop = on_stop
        self._on_answer = on_answer
        self._on_explore = on_explore
        self._frame: Frame | None = None
        self._on_page = False
        self._pictured_at = float("-inf")
        self._wanted_since: float | None = None
        super().__init__(least_s=WIDGET_S, clock=clock, timer=timer)

    def _turn(self) -> bool:
        return super()._turn() or self._wanted_since is not None

    def _draw(self, page: Page) -> None:
        now = self._clock()
        if not page.open:
            self._end(page, now)
            return
        if now - self._pictured_at >= STATIC_S:
            self._take_picture(page, now)
        if self._on_page and self._frame is not None:
            self._frame.show(page)
        elif self._may_open(now):
            self._open(page)

    def _may_open(self, now: float) -> bool:
        if self._wanted_since is None:
            self._wanted_since = now
        return now - self._wanted_since >= (OPEN_S if self._frame is None else REOPEN_S)

    def _open(self, page: Page) -> None:
        self._wanted_since = None
        self._frame = self._frame or Frame(
            self._picture.name, self._on_stop, self._on_answer, self._on_explore
        )
        self._frame.show(page)
        if not self._on_page:
            self._live.show(self._frame.bundle())
        self._on_page = True

    def _end(self, page: Page, now: float) -> None:
        self._wanted_since = None
        self._take_picture(page, now)
        asks = self._on_answer is not None and any(
            view.questions and view.status == "waiting" for view in page.panels
        )
        if asks or self._on_explore is not None:
            # An answer may be given, and an execution looked at, after the cell has returned.
            self._open(page)
        elif self._frame is not None and self._on_page:
            # Drawn once more and kept: a page that was reloaded half-way gets no further output, but its
            # widget is still connected, and must not stay at a half bar.
            self._frame.show(page)
            self._live.show({})
            self._on_page = False

    def _take_picture(self, page: Page, now: float) -> None:
        # The first picture gives way to the widget at once, so that it must be no taller.
        as_of = self._time_of_day() if page.open and self._on_page else ""
        name = self._picture.name
        self._picture.show(picture(page, as_of, name=name, rule=broken_rule(name)))
        if self._pictured_at == float("-inf"):
            self._live.show({})  # takes the place just after the picture, before anything is printed
        self._pictured_at = now
