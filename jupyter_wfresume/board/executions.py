"""The section of the board on executions: a list to choose from, and the one that was chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets

from . import figures as f
from . import html
from .aside import Aside, Start, thread
from .explorer import Explorer, Line, Lines
from .fields import discard
from .going import Shows
from .sheet import SheetPanel
from .shown import SIGNS

ROWS = 10
"""Executions on a page: the list has as many widgets, however many executions there are."""

_OPEN, _SHUT = "▾ Executions", "▸ Executions"
_TIP = "Look at recorded executions, try one again with another input, go on from it"

STYLE = (
    ".wfr-executions{margin:6px 0 0;overflow:visible}"
    ".wfr-executions .jupyter-button{margin:0;box-shadow:none!important}"
    ".wfr-executions .wfr-fold{width:auto;height:24px;line-height:22px;padding:0;background:none;"
    "color:var(--jp-ui-font-color2,inherit);text-align:left;font-size:inherit;align-self:flex-start}"
    ".wfr-executions .wfr-bar-of-list{align-items:center;gap:8px;height:32px;overflow:visible}"
    ".wfr-executions .wfr-bar-of-list .widget-dropdown{margin:0;width:15em;flex:0 1 auto;min-width:6em}"
    ".wfr-executions .wfr-bar-of-list .jupyter-button{width:28px;height:26px;line-height:24px;"
    "padding:0;flex:none}"
    ".wfr-executions .wfr-pages{margin:0 0 0 auto;min-width:9.5em;text-align:right;flex:none;width:auto}"
    ".wfr-executions .wfr-list{border:1px solid var(--jp-border-color2,rgba(128,128,128,.35));"
    "overflow:hidden}"
    f".wfr-executions .wfr-pages-of-list{{min-height:{ROWS * 22 + 2}px}}"
    ".wfr-executions .wfr-row{width:100%;height:22px;line-height:22px;padding:0 8px;white-space:pre;"
    "text-align:left;background:none;color:var(--jp-ui-font-color1,inherit);border-radius:0;flex:none;"
    "font-family:var(--jp-code-font-family,ui-monospace,monospace);font-size:12px}"
    ".wfr-executions .wfr-row:hover:enabled,.wfr-executions .wfr-row:focus-visible"
    "{background:var(--jp-layout-color2,rgba(128,128,128,.14))}"
    ".wfr-executions .wfr-row.wfr-chosen{background:var(--jp-layout-color2,rgba(128,128,128,.25));"
    "border-left:3px solid #0072b2;padding-left:5px}"
)
"""Goes with the board's stylesheet."""


class Section:
    """Executions of one run: folded, and without cost, until somebody opens it.

    Args:
        explorer: who is asked for them.
        make_panel: makes what shows a new run that goes on from one of them.
        start: runs a job away from the event loop.
    """

    def __init__(self, explorer: Explorer, make_panel: Callable[[], Shows], *, start: Start = thread) -> None:
        self._explorer = explorer
        self._aside = Aside(start, self._say)
        self._sheet = SheetPanel(explorer, self._aside, make_panel, start)
        self._step, self._status, self._first = "", "", 0
        self._chosen: tuple[str, int] | None = None
        self._follows = False
        self._page = Lines()
        self.fold = ipywidgets.Button(description=_SHUT, tooltip=_TIP)
        self.fold.add_class("wfr-fold")
        self.fold.on_click(lambda _: self._toggle())
        self.widget = ipywidgets.VBox([self.fold])
        self.widget.add_class("wfr-executions")
        self._list: ipywidgets.VBox | None = None

    @property
    def is_open(self) -> bool:
        """Whether it is unfolded."""
        return bool(self.fold.description == _OPEN)

    def open(self, status: str = "", chosen: tuple[str, int] | None = None) -> None:
        """Unfolds it.

        Args:
            status: shows executions with this status alone; empty for all.
            chosen: step and index of the execution that is shown below the list; where it has another
                status by now, the list shows it among its step's.
        """
        self._unfold()
        self._step, self._status, self._first = "", status, 0
        self._chosen, self._follows = chosen or self._chosen, chosen is not None
        self.look()
        if chosen is not None:
            self.choose(*chosen)

    def look(self) -> None:
        """Reads the list anew, if it is on show."""
        if self.is_open:
            self._aside.do(self._read)

    def choose(self, step: str, index: int) -> None:
        """Shows one execution below the list."""
        self._chosen = (step, index)
        self._mark()
        self._aside.do(lambda: self._sheet.show(self._explorer.sheet(step, index, 0), step, index))

    def _toggle(self) -> None:
        if self.is_open:
            self.fold.description = _SHUT
            self.widget.children = (self.fold,)
        else:
            self._unfold()
            self.look()

    def _unfold(self) -> None:
        self.fold.description = _OPEN
        if self._list is None:
            self._build()
        self.widget.children = (self.fold, self._bar, self._list, self._said, self._sheet.widget)

    def _build(self) -> None:
        self._said = ipywidgets.HTML(html.say("reading…"))
        self._pages = ipywidgets.HTML()
        self._pages.add_class("wfr-pages")
        self._back = self._small("◂", "The executions before these", lambda: self._turn(-ROWS))
        self._on = self._small("▸", "The executions after these", lambda: self._turn(ROWS))
        self._again = self._small("↻", "Read the list again", self.look)
        self._bar = ipywidgets.HBox()
        self._bar.add_class("wfr-bar-of-list")
        self._rows = [self._row(number) for number in range(ROWS)]
        self._list = ipywidgets.VBox()
        self._list.add_class("wfr-list")

    def _small(self, sign: str, tip: str, clicked: Callable[[], None]) -> ipywidgets.Button:
        button = ipywidgets.Button(description=sign, tooltip=tip)
        button.on_click(lambda _: clicked())
        return button

    def _row(self, number: int) -> ipywidgets.Button:
        button = ipywidgets.Button()
        button.add_class("wfr-row")
        button.on_click(lambda _: self._clicked(number))
        return button

    def _clicked(self, number: int) -> None:
        if number < len(self._page.rows):
            row = self._page.rows[number]
            self.choose(row.step, row.index)

    def _turn(self, by: int) -> None:
        last = max(0, (self._page.matching - 1) // ROWS * ROWS)
        self._first = min(last, max(0, self._first + by))
        self._follows = False
        self.look()

    def _filter(self, step: str, status: str) -> None:
        self._step, self._status, self._first = step, status, 0
        self._follows = False
        self.look()

    def _read(self) -> None:
        page = self._explorer.lines(self._step, self._status, self._first, ROWS)
        if self._follows and self._chosen not in [(row.step, row.index) for row in page.rows]:
            step, index = self._chosen or ("", 0)
            self._step, self._status = step, ""
            page = self._explorer.lines(step, "", index // ROWS * ROWS, ROWS)
        self._page, self._first = page, page.first
        width = max((f.cells(label_of(row)) for row in page.rows), default=0)
        for button, row in zip(self._rows, page.rows, strict=False):
            button.description = line_of(row, width)
        assert self._list is not None
        self._list.children = tuple(self._rows[: len(page.rows)])
        if page.matching > ROWS:
            self._list.add_class("wfr-pages-of-list")  # as high on the last page as on the others
        else:
            self._list.remove_class("wfr-pages-of-list")
        self._mark()
        last = page.first + len(page.rows)
        count = f"{f.count(page.first + 1)}–{f.count(last)} of {f.count(page.matching)}"
        self._pages.value = html.say(count if page.rows else "")
        self._back.disabled, self._on.disabled = page.first == 0, last >= page.matching
        # Made anew each time: a front end may hold back a second change of the same widget.
        step, status = self._step, self._status
        steps = _choice("all steps", page.steps, step, lambda chosen: self._filter(chosen, status))
        statuses = _choice("all statuses", page.statuses, status, lambda chosen: self._filter(step, chosen))
        before = self._bar.children[:2]
        self._bar.children = (steps, statuses, self._pages, self._back, self._on, self._again)
        discard(before)
        self._say("" if page.rows else "no execution is on record yet" if not page.whole else "none of these")

    def _mark(self) -> None:
        for button, row in zip(self._rows, self._page.rows, strict=False):
            if (row.step, row.index) == self._chosen:
                button.add_class("wfr-chosen")
            else:
                button.remove_class("wfr-chosen")

    def _say(self, sentence: str) -> None:
        self._said.value = html.say(sentence) if sentence else ""


def label_of(row: Line) -> str:
    """``work[17]``, cut where the step's name is long."""
    return f.fit(f"{f.clean(row.step)}[{row.index}]", 28)


def line_of(row: Line, width: int) -> str:
    """An execution in one line of a list, in columns.

    Args:
        row: the execution.
        width: terminal columns of the widest label in the list.
    """
    label = label_of(row)
    status = f"{SIGNS.get(row.status, ' ')} {row.status}"
    space = " " * (width - f.cells(label))
    return f"{label}{space}  {status:<10}{f.duration(row.seconds):>10}  {f.fit(f.clean(row.said), 96)}"


def _choice(
    every: str, counted: tuple[tuple[str, int], ...], chosen: str, changed: Callable[[str], None]
) -> Any:
    whole = sum(count for _, count in counted)
    options = [(f"{every} ({f.count(whole)})", "")]
    options += [(f"{f.clean(word)} ({f.count(count)})", word) for word, count in counted]
    if chosen and chosen not in dict(counted):
        options.append((f"{chosen} (0)", chosen))
    made = ipywidgets.Dropdown(options=options, value=chosen)
    made.observe(lambda change: changed(change["new"]), "value")
    return made
