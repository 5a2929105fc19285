"""Sees an ``async`` step that keeps the event loop busy with one long synchronous call.

While such a call goes on, nothing else of the run does, and the loop cannot look at itself:
a thread looks at it.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
import time
from collections.abc import Callable
from traceback import FrameSummary
from types import FrameType

from ..effects import USERS_CALL
from .flights import Flight, Flights

CALL_S = 1.0
"""A synchronous call in an ``async`` step that takes longer is told of, in seconds."""

LOOK_S = 0.1
"""How often the loop is looked at, in seconds."""

STARVED_S = 5 * LOOK_S
"""A look that comes so late says nothing: the whole process stood still, in seconds."""

_OURS = "jupyter_wfresume"
_ENGINE = "workflows"
_EFFECTS = "jupyter_wfresume.effects"
_EXCUSED = frozenset({"importlib", "bdb", "pdb", "debugpy", "pydevd", "_pydevd_bundle"})
"""An import happens once, and in a debugger a person takes their time."""

Blocked = Callable[[Flight, list[FrameSummary]], None]
"""Told, on the loop, of an execution that blocked it, and of the frames of the call, the innermost last."""


class Lookout:
    """Looks at one loop from a thread of its own, from its making to `end`.

    Args:
        loop: the loop, which runs in the calling thread.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._loops_thread = threading.get_ident()
        self._runs: tuple[tuple[Flights, Blocked], ...] = ()
        self._told: set[tuple[int, str]] = set()
        self._went_round = True
        self._ended = threading.Event()
        threading.Thread(target=self._look_on, daemon=True, name="wfresume-lookout").start()

    def add(self, flights: Flights, blocked: Blocked) -> None:
        """Look at the executions of a run, too."""
        self._runs = (*self._runs, (flights, blocked))

    def remove(self, flights: Flights) -> None:
        """A run has ended."""
        self._runs = tuple(run for run in self._runs if run[0] is not flights)

    def end(self) -> None:
        """Look no more."""
        self._ended.set()

    def _look_on(self) -> None:
        seen: Flight | None = None
        since = looked = time.monotonic()
        while not self._ended.wait(LOOK_S):
            now = time.monotonic()
            starved, looked = now - looked > STARVED_S, now
            found = self._at_work()
            if self._went_round and found is not None:
                # What comes to its turn after this mark has given the loop back in between.
                self._went_round, seen = False, None
                with contextlib.suppress(RuntimeError):  # the loop is closed: its runs have ended
                    self._loop.call_soon_threadsafe(self._mark)
                found = self._at_work()
            if found is None or found is not seen or starved:
                seen, since = found, now
            elif now - since >= CALL_S:
                self._tell(found)

    def _mark(self) -> None:
        self._went_round = True

    def _at_work(self) -> Flight | None:
        """The execution whose own code the loop is running at this moment."""
        with contextlib.suppress(
            RuntimeError
        ):  # no loop runs in this thread, which some versions look at first
            task = asyncio.current_task(self._loop)
            if task is None:
                return None
            for flights, _ in self._runs:
                for flight in flights.current():
                    if not flight.sync and (flight.task is task or task in flight.children):
                        return flight
        return None

    def _tell(self, flight: Flight) -> None:
        run = next((run for run in self._runs if flight in run[0].current()), None)
        if run is None or (id(run[0]), flight.step) in self._told:
            return
        frames = users_call(sys._current_frames().get(self._loops_thread))
        if frames:
            self._told.add((id(run[0]), flight.step))
            with contextlib.suppress(RuntimeError):  # as above
                self._loop.call_soon_threadsafe(run[1], flight, frames)


def users_call(top: FrameType | None) -> list[FrameSummary]:
    """The frames of a step that stand on top of the engine's, the innermost last.

    Args:
        top: the innermost frame of the loop's thread.

    Returns:
        Nothing where our code or the engine's is on top, or where the time is excused.
    """
    frames: list[FrameSummary] = []
    in_effect = False
    while top is not None and not _is_loops(top):
        name = str(top.f_globals.get("__name__", ""))
        root = name.split(".")[0]
        in_effect = in_effect or top.f_code is USERS_CALL
        if root in _EXCUSED:
            return []
        if root not in (_OURS, _ENGINE):
            code = top.f_code
            frames.append(FrameSummary(code.co_filename, top.f_lineno, code.co_name, lookup_line=False))
        elif not (in_effect and name.startswith(_EFFECTS)):
            break
        top = top.f_back
    return frames[::-1]


def _is_loops(frame: FrameType) -> bool:
    """Whether here the loop calls what is ready."""
    return frame.f_code.co_name == "_run" and frame.f_globals.get("__name__") == "asyncio.events"
