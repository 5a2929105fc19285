"""Ctrl-C and the kernel's interrupt, while a cell drives runs.

The signal handler never raises into the engine's loop or into our own writes.
A step that keeps the loop busy cannot hear a request to stop, so there, and
only there, an exception is raised in the step's own frame.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from ..effects import USERS_CALL
from ..runtime import Flight, StepInterrupt, Workers

_STEP = Workers._run.__code__
_OURS = "jupyter_wfresume"
_ENGINE = "workflows"
_EFFECTS = "jupyter_wfresume.effects."
_BELOW_A_BODY = ("jupyter_wfresume.magics", "jupyter_wfresume.durable")


class Interrupts:
    """Turns interrupts into stops of the session's runs.

    Args:
        alive: whether any run is under way.
        stop: asks all runs to stop; a second call means now.
        grace_s: seconds after which a step that blocks the loop is interrupted.
        tell: prints one line.
        body: the task that runs the cell's body, where it runs in one.
    """

    def __init__(
        self,
        alive: Callable[[], bool],
        stop: Callable[[], None],
        grace_s: float,
        tell: Callable[[str], None],
        body: Callable[[], asyncio.Task[Any] | None],
    ) -> None:
        self._alive = alive
        self._stop = stop
        self._grace_s = grace_s
        self._tell = tell
        self._body = body
        self._times = 0
        self._previous: Any = None
        self._heard = threading.Event()
        self._timer: threading.Timer | None = None

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Handle SIGINT inside the block, where this is the main thread."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self._previous = signal.getsignal(signal.SIGINT)
        signal.signal(signal.SIGINT, self._on_signal)
        try:
            yield
        finally:
            if self._timer is not None:
                self._timer.cancel()
            signal.signal(signal.SIGINT, self._previous or signal.default_int_handler)

    def again(self) -> None:
        """Hand an interrupt to whoever handled it before us."""
        if callable(self._previous):
            self._previous(signal.SIGINT, None)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        body = self._body()
        blocked = body is not None and _current_task() is body and _is_users(frame)
        if not self._alive():
            if blocked:
                raise KeyboardInterrupt
            if callable(self._previous):
                self._previous(number, frame)
            if body is not None and not body.done():
                # ipykernel's handler leaves a note in the loop without waking it.
                body.get_loop().call_soon_threadsafe(lambda: None)
            return
        self._times += 1
        self._stop()
        if blocked:
            raise KeyboardInterrupt
        blocking = step_in(frame)
        if blocking is None:
            return
        if self._times > 1:
            raise StepInterrupt
        with contextlib.suppress(RuntimeError):  # raised where the signal came in the middle of a print
            self._tell(
                f"{blocking.label} keeps the event loop busy: it may finish for {self._grace_s:.0f} s, "
                "interrupt again to cut it off now"
            )
        main = threading.main_thread().ident
        assert main is not None
        self._timer = threading.Timer(self._grace_s, signal.pthread_kill, (main, signal.SIGINT))
        self._timer.daemon = True
        self._timer.start()


def step_in(frame: FrameType | None) -> Flight | None:
    """The execution whose step is running in this very frame, unless our own code is on top of it."""
    in_effect = False
    while frame is not None:
        in_effect = in_effect or frame.f_code is USERS_CALL
        if frame.f_code is _STEP:
            flight: Flight = frame.f_locals["flight"]
            return flight
        name = str(frame.f_globals.get("__name__", ""))
        below = frame.f_code.co_name in ("execute", "call") or (in_effect and name.startswith(_EFFECTS))
        if name.split(".")[0] == _OURS and not below:
            return None
        frame = frame.f_back
    return None


def _current_task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def _is_users(frame: FrameType | None) -> bool:
    """Whether neither our code nor the engine's is on top of what the cell called."""
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name.split(".")[0] in (_OURS, _ENGINE):
            return name.startswith(_BELOW_A_BODY)
        frame = frame.f_back
    return True
