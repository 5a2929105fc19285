"""The views that one board shows: the newest of each run, in first-seen order."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import MethodType

from ..records import RunView

Source = RunView | Callable[[], RunView]
"""A view, or what makes one when it is wanted."""

PANELS = 6
"""Runs of one cell that get a whole panel."""
LINES = 12
"""Further runs that get a line."""
_GOING = ("new", "running", "waiting")


@dataclass(frozen=True)
class Page:
    """What to show.

    Args:
        panels: runs shown whole.
        lines: runs shown in a line.
        rest: runs only counted.
        open: runs that are not closed.
    """

    panels: tuple[RunView, ...] = ()
    lines: tuple[RunView, ...] = ()
    rest: tuple[RunView, ...] = ()
    open: tuple[RunView, ...] = ()


class Book:
    """Collects updates from any thread and reads them when it is time to draw."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pending: dict[object, Source] = {}
        self._closing: list[RunView] = []
        self._makers: dict[str, tuple[object, Callable[[], RunView]]] = {}
        self._views: dict[str, RunView] = {}
        self._closed: set[str] = set()

    def put(self, source: Source) -> None:
        """Notes an update; the newest of each run, or of each bound method, wins."""
        if isinstance(source, RunView):
            key: object = source.run_id
        else:
            # A method of a run is a key; functions made anew each time share one, or they would pile up.
            key = source if isinstance(source, MethodType) else ""
        with self._lock:
            self._pending[key] = source

    def close(self, view: RunView) -> None:
        """Notes the last view of a run."""
        with self._lock:
            self._closing.append(view)

    def read(self) -> None:
        """Takes in what was noted, and asks again for open runs without an update, whose clocks go on."""
        with self._lock:
            pending, self._pending = self._pending, {}
            closing, self._closing = self._closing, []
        sources = list(pending.items())
        sources += [(key, make) for key, make in self._makers.values() if make not in pending.values()]
        for key, source in sources:
            if isinstance(source, RunView):
                self._take(source)
            else:
                view = source()
                if self._take(view):
                    self._makers[view.run_id] = (key, source)
        for view in closing:
            self._makers.pop(view.run_id, None)
            self._closed.add(view.run_id)
            self._views[view.run_id] = view

    def page(self) -> Page:
        """What to show now."""
        views = list(self._views.values())
        is_open = tuple(view for view in views if view.run_id not in self._closed)
        if len(views) <= PANELS:
            return Page(panels=tuple(views), open=is_open)
        wanted = [view for view in views if view in is_open or view.error is not None or view.questions]
        wanted = wanted[:PANELS]
        chosen = {view.run_id for view in wanted}
        others = [view for view in views if view.run_id not in chosen]
        return Page(tuple(wanted), tuple(others[-LINES:]), tuple(others[:-LINES]), is_open)

    def moving(self) -> bool:
        """Whether an open run can be asked again without an update."""
        return bool(self._makers)

    def _take(self, view: RunView) -> bool:
        if view.run_id in self._closed and view.status not in _GOING:
            return False  # a straggler of a run that has ended
        self._closed.discard(view.run_id)
        self._views[view.run_id] = view
        return True
