"""One execution on the board: what is on record, its input as a form, and what comes of it now."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import ipywidgets

from . import html
from .aside import Aside, Start, attempt, in_context
from .explorer import Explorer, Going, Sheet
from .fields import InputControl, discard
from .going import GoingBoard, Shows
from .shown import execution_block

_REPLAY, _REPLAYING = "Replay", "Replaying…"
_GO_ON, _GOING_ON = "Continue from here", "Going on…"
_REPLAY_TIP = "Execute it again, alone, with this input; nothing is written"
_GO_ON_TIP = "A new run with this input, which reuses all that it does not reach; this run stays as it is"

STYLE = (
    ".wfr-sheet{overflow:visible;margin-top:4px}"
    ".wfr-sheet .widget-html,.wfr-sheet .widget-html-content{overflow:visible}"
    ".wfr-sheet .wfr-inputs{overflow:visible;gap:4px;padding-left:10px;"
    "border-left:3px solid #0072b2;margin:2px 0 6px}"
    ".wfr-sheet .widget-vbox,.wfr-sheet .widget-hbox{overflow:visible}"
    ".wfr-sheet .wfr-inputs .widget-hbox{align-items:flex-start;gap:8px}"
    ".wfr-sheet .widget-text,.wfr-sheet .widget-textarea,.wfr-sheet .widget-dropdown"
    "{margin:0;flex:1 1 auto;width:auto;max-width:40rem}"
    ".wfr-sheet .widget-textarea textarea{font-family:var(--jp-code-font-family,ui-monospace,monospace);"
    "font-size:12px;line-height:18px;resize:vertical}"
    ".wfr-sheet .widget-checkbox{margin:0 0 0 calc(7em + 8px);width:auto;height:28px}"
    ".wfr-sheet .widget-label{width:7em;min-width:7em;text-align:left;flex:none}"
    ".wfr-sheet .wfr-moves{gap:8px;align-items:center}"
    ".wfr-sheet .wfr-moves .jupyter-button{flex:none;width:auto;min-width:88px;padding:0 12px;"
    "height:28px;line-height:26px}"
    ".wfr-sheet .wfr-going{position:relative;margin-top:6px}"
    ".wfr-sheet .wfr-came{margin-top:8px}"
    ".wfr-sheet .wfr-going .wfr-button{position:absolute;top:0;right:0;width:88px;height:24px;"
    "line-height:22px;margin:0;padding:0 2px}"
)
"""Goes with the board's stylesheet."""


class SheetPanel:
    """The execution that was chosen.

    Args:
        explorer: who is asked for it.
        aside: does what is quick, one job after the other.
        make_panel: makes what shows a new run.
        start: runs what may take long.
    """

    def __init__(
        self, explorer: Explorer, aside: Aside, make_panel: Callable[[], Shows], start: Start
    ) -> None:
        self._explorer = explorer
        self._aside = aside
        self._make_panel = make_panel
        self._start = start
        self._lock = threading.Lock()
        self._busy = False
        self._place = ("", 0)
        self._sheet: Sheet | None = None
        self._edits: dict[tuple[int, str], Any] = {}
        self._tried: tuple[tuple[str, int], dict[tuple[int, str], Any]] | None = None
        self.controls: list[InputControl] = []
        self._head = ipywidgets.HTML()
        self._refused = ipywidgets.HTML()
        self._inputs = ipywidgets.VBox()
        self._inputs.add_class("wfr-inputs")
        self.replay = self._button(_REPLAY, _REPLAY_TIP, self._replay)
        self.go_on = self._button(_GO_ON, _GO_ON_TIP, self._go_on)
        self._said = ipywidgets.HTML()
        self._result = ipywidgets.HTML()
        self._left = ipywidgets.HTML()
        self._result.add_class("wfr-came")
        self._going = ipywidgets.VBox()
        self._going.add_class("wfr-going")
        moves = ipywidgets.HBox([self.replay, self.go_on, self._said])
        moves.add_class("wfr-moves")
        self._moves = moves
        self.widget = ipywidgets.VBox()
        self.widget.add_class("wfr-sheet")

    def show(self, sheet: Sheet, step: str, index: int) -> None:
        """Shows an execution as it is on record; edits of another one are left behind.

        Args:
            sheet: the execution.
            step: the step.
            index: N of ``STEP[N]``.
        """
        if (step, index) != self._place:
            self._edits = {}
            if not self._busy:
                self._say("")
                self._clear()
        self._place, self._sheet = (step, index), sheet
        self._head.value = execution_block(sheet.page)
        self.controls = [InputControl(one, self._edited(sheet.event, one.field.name)) for one in sheet.fields]
        rows = [control.widget for control in self.controls]
        if sheet.events > 1:
            rows.insert(0, self._event_chooser(sheet))
        before = self._inputs.children
        self._inputs.children = (ipywidgets.HTML(html.input_head(sheet.kind, bool(sheet.fields))), *rows)
        discard(before)
        self._free()
        for button in (self.replay, self.go_on):
            button.send_state("description")  # in one context with the fields, see `in_context`
        self._refused.value = html.fault(sheet.refused) if sheet.refused else ""
        if sheet.refused:
            self.widget.children = (self._head, self._refused)
        else:
            self.widget.children = (
                self._head,
                self._inputs,
                self._moves,
                self._result,
                self._going,
                self._left,
            )

    def _clear(self) -> None:
        self._result.value = self._left.value = ""
        self._going.children = ()

    def _button(self, name: str, tip: str, clicked: Callable[[], None]) -> ipywidgets.Button:
        button = ipywidgets.Button(description=name, tooltip=tip)
        button.on_click(lambda _: clicked())
        return button

    def _edited(self, event: int, name: str) -> tuple[Any, ...]:
        return (self._edits[event, name],) if (event, name) in self._edits else ()

    def _event_chooser(self, sheet: Sheet) -> ipywidgets.Widget:
        number = ipywidgets.BoundedIntText(
            value=sheet.event, min=0, max=sheet.events - 1, continuous_update=False
        )
        number.observe(lambda change: self._turn_to(change["new"]), "value")
        label = ipywidgets.Label(f"event, 0 to {sheet.events - 1:,}")
        return ipywidgets.HBox([label, number])

    def _turn_to(self, event: int) -> None:
        self._collect()
        step, index = self._place
        self._aside.do(lambda: self.show(self._explorer.sheet(step, index, event), step, index))

    def _collect(self) -> dict[tuple[int, str], Any]:
        """All edits of this execution, those of events that are not on show too."""
        event = 0 if self._sheet is None else self._sheet.event
        for control in self.controls:
            control.say("")
            self._edits.pop((event, control.name), None)
            if control.changed:
                self._edits[event, control.name] = control.value
        return dict(self._edits)

    def _replay(self) -> None:
        place = self._take(self.replay, _REPLAYING)
        if place is None:
            return
        edits = self._collect()
        self._clear()

        def job() -> None:
            if self._fits(place, edits):
                self._result.value = self._explorer.replay(*place, edits)
                self._tried = (place, edits)

        self._run(job)

    def _go_on(self) -> None:
        place = self._take(self.go_on, _GOING_ON)
        if place is None:
            return
        edits = self._collect()
        if self._tried != (place, edits):
            self._say("the input has changed since the replay: replay it first, then continue")
            self._free(done=True)
            return
        self._left.value, self._going.children = "", ()

        def job() -> None:
            board = GoingBoard(self._going, self._make_panel())
            going = Going(board.update, board.close, board.started)
            self._left.value = html.say(self._explorer.go_on(*place, edits, going))

        self._run(job)

    def _take(self, button: ipywidgets.Button, doing: str) -> tuple[str, int] | None:
        """Begin what a button does, unless something is being done; a second click does nothing."""
        with self._lock:
            if self._busy:
                return None
            self._busy = True
        self._say("")
        button.description = doing
        self.replay.disabled = self.go_on.disabled = True
        return self._place

    def _run(self, job: Callable[[], None]) -> None:
        def whole() -> None:
            try:
                attempt(job, self._say)
            finally:
                self._free(done=True)

        self._start(in_context(whole))

    def _free(self, *, done: bool = False) -> None:
        if done:
            self._busy = False
        if self._busy:
            return
        self.replay.description, self.go_on.description = _REPLAY, _GO_ON
        self.replay.disabled = False
        self.go_on.disabled = self._tried is None or self._tried[0] != self._place

    def _fits(self, place: tuple[str, int], edits: dict[tuple[int, str], Any]) -> bool:
        faults = self._explorer.misfits(*place, edits)
        shown = 0 if self._sheet is None else self._sheet.event
        for (event, name), sentence in faults.items():
            for control in self.controls:
                if (shown, control.name) == (event, name):
                    control.say(sentence)
        elsewhere = [f"event {event}: {said}" for (event, _), said in faults.items() if event != shown]
        self._say(elsewhere[0] if elsewhere else "")
        return not faults

    def _say(self, sentence: str) -> None:
        self._said.value = html.say(sentence) if sentence else ""
