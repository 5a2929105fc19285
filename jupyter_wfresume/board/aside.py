"""Work that a click asks for, away from the event loop."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from functools import partial

from ..errors import WfresumeError

Job = Callable[[], None]
Start = Callable[[Job], None]
"""Runs a job elsewhere, and returns at once."""


def thread(job: Job) -> None:
    """Runs a job on a thread of its own.

    A click comes on the kernel's event loop. A task that it started there would not run before the next
    cell, if no cell is running, and a replay that it waited for there would hold up the cell that is.
    """
    threading.Thread(target=job, daemon=True, name="wfresume-board").start()


def in_context(job: Job) -> Job:
    """The job in the context of the click that asks for it.

    A kernel with subshells (ipykernel 7.4) hears a widget on the subshell that the message came by, in whose
    context the widget was last sent. Sent from a thread without that context, some widgets of a form would
    be heard on one thread and some on another, and a click could overtake what was typed before it.
    """
    return partial(copy_context().run, job)


class Aside:
    """Does jobs one after the other, elsewhere.

    Args:
        start: runs what does them.
        failed: told in one sentence of a job that could not be done.
    """

    def __init__(self, start: Start, failed: Callable[[str], None]) -> None:
        self._start = start
        self._failed = failed
        self._lock = threading.Lock()
        self._jobs: deque[Job] = deque()
        self._busy = False

    def do(self, job: Job) -> None:
        """Does a job after those that were asked for before."""
        with self._lock:
            self._jobs.append(in_context(job))
            if self._busy:
                return
            self._busy = True
        self._start(self._work)

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._jobs:
                    self._busy = False
                    return
                job = self._jobs.popleft()
            attempt(job, self._failed)


def attempt(job: Job, failed: Callable[[str], None]) -> None:
    """Does a job; what it raises is said in one sentence.

    Args:
        job: the job.
        failed: told of it.
    """
    try:
        job()
    except WfresumeError as error:
        failed(str(error))
    except Exception as error:  # noqa: BLE001  # nobody stands above a thread: the board is where it is seen
        failed(f"{type(error).__name__}: {error}")
