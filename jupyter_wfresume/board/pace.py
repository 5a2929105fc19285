"""How often a board draws: seldom enough to cost little, and always once more at the end."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
import warnings
from collections.abc import Callable
from typing import Protocol

_SHARE = 25
"""A drawing that took t seconds is followed by at least 25 t without one: at most 4 % of the time."""


class Timer(Protocol):
    """Calls back later, on the thread where drawing belongs."""

    def here(self) -> bool:
        """Whether the calling thread may draw."""

    def after(self, delay_s: float, call: Callable[[], None]) -> Callable[[], None]:
        """Calls back once after ``delay_s`` seconds; what it returns takes that back."""


class LoopTimer:
    """Draws on the event loop that drives the cell, so that views are made where runs change.

    Without a running loop (a plain script) it draws in the caller's thread and on a short-lived thread.
    Callbacks keep the context in which the board was made, so that output lands in its cell.
    """

    def __init__(self) -> None:
        self._context = contextvars.copy_context()
        self._loop: asyncio.AbstractEventLoop | None = None

    def here(self) -> bool:
        """Whether the calling thread is the loop's, or there is no loop."""
        running = _running_loop()
        if self._loop is None or self._loop.is_closed():
            self._loop = running
        return self._loop is None or self._loop is running

    def after(self, delay_s: float, call: Callable[[], None]) -> Callable[[], None]:
        """Calls back once after ``delay_s`` seconds; what it returns takes that back."""
        if self.here() and self._loop is not None:
            return self._loop.call_later(delay_s, call, context=self._context).cancel
        if self._loop is not None:
            loop = self._loop
            try:
                loop.call_soon_threadsafe(lambda: loop.call_later(delay_s, call), context=self._context)
            except RuntimeError:  # the loop closed between the question and the call
                self._loop = None
            else:
                return _nothing
        thread = threading.Timer(delay_s, self._context.copy().run, (call,))
        thread.daemon = True
        thread.start()
        return thread.cancel


class Pacer:
    """Turns any number of pokes into few drawings, the last poke always followed by one.

    Args:
        draw: draws; returns whether something on show still moves by itself (a clock), so that it
            wants to be drawn again without a poke.
        least_s: seconds between two drawings at the least.
        beat_s: seconds until the next drawing without a poke.
        clock: monotonic seconds.
        timer: calls back later.
    """

    def __init__(
        self,
        draw: Callable[[], bool],
        *,
        least_s: float,
        beat_s: float,
        clock: Callable[[], float] = time.monotonic,
        timer: Timer | None = None,
    ) -> None:
        self._draw = draw
        self._least_s = least_s
        self._beat_s = beat_s
        self._clock = clock
        self._timer: Timer = LoopTimer() if timer is None else timer
        self._drawing = threading.Lock()
        self._state = threading.Lock()
        self._next = float("-inf")
        self._soon = False
        self._turn = 0
        self._cancel: Callable[[], None] = _nothing
        self._broken = False

    def poke(self) -> None:
        """Something changed: draws now or soon. Cheap, and allowed from any thread."""
        if self._soon or self._broken:
            return
        wait_s = self._next - self._clock()
        if wait_s <= 0 and self._timer.here():
            self._go()
        else:
            self._arm(max(0.0, wait_s), soon=True)

    def flush(self) -> None:
        """Draws now, whatever the time."""
        self._go(wait_s=1.0)

    def _arm(self, delay_s: float, *, soon: bool) -> None:
        with self._state:
            if self._soon:
                return
            self._soon = soon
            self._turn += 1
            turn = self._turn
            cancel = self._cancel
            self._cancel = self._timer.after(delay_s, lambda: self._fire(turn))
        cancel()

    def _fire(self, turn: int) -> None:
        if turn == self._turn:
            self._go()

    def _go(self, wait_s: float = 0.0) -> None:
        # Never waits for long: the thread that draws may be waiting for a lock that the caller holds.
        if not self._drawing.acquire(timeout=wait_s) if wait_s else not self._drawing.acquire(blocking=False):
            self._arm(self._least_s, soon=True)
            return
        moving = False
        started = self._clock()
        with self._state:
            self._soon = False
            self._turn += 1
        try:
            moving = not self._broken and self._draw()
        except Exception as error:  # noqa: BLE001 - a picture that cannot be drawn must not stop paid work
            self._broken = True
            reason = f"{type(error).__name__}: {error}"
            warnings.warn(f"the board stopped: {reason}; the run goes on", stacklevel=3)
        finally:
            now = self._clock()
            self._next = now + max(self._least_s, _SHARE * (now - started))
            self._drawing.release()
        if moving:
            self._arm(max(self._beat_s, self._next - now), soon=False)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _nothing() -> None:
    """Takes nothing back."""
