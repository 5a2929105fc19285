"""One at a time: the same effect asked for by several executions of this process is one effect."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import TypeAlias

Id: TypeAlias = "tuple[str, str, str]"
"""A store, a name's book in it, and an effect with its key."""


class Turns:
    """Who is at which effect, over all threads and loops of the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[Id, list[Future[None]]] = {}

    def enter(self, what: Id) -> Future[None] | None:
        """Take the turn; where somebody has it, return what is done when it is worth trying again."""
        with self._lock:
            if what not in self._waiting:
                self._waiting[what] = []
                return None
            future: Future[None] = Future()
            self._waiting[what].append(future)
            return future

    def leave(self, what: Id) -> None:
        """Give the turn back."""
        with self._lock:
            waiting = self._waiting.pop(what)
        for future in waiting:
            # One that was cancelled meanwhile must not be set.
            if future.set_running_or_notify_cancel():
                future.set_result(None)

    def taken(self, what: Id) -> bool:
        """Whether somebody has the turn."""
        with self._lock:
            return what in self._waiting


TURNS = Turns()
"""Of this process: sessions in several threads may drive runs of one name."""
