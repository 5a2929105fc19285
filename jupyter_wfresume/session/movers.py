"""Whether the cell's own code may still move a run that stands still.

A body may send an event to its run: from a task of its own, after a while, in answer to what it read
from the stream. So a run that cannot go on by itself is not given up while some code of the user's
is neither waiting for that run nor over.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..replay.traces import is_users_own

if TYPE_CHECKING:
    from .life import Life


class Movers:
    """Knows the tasks in which code of the user's runs, from a session's beginning on."""

    def __init__(self) -> None:
        self._body: asyncio.Task[Any] | None = None
        self._earlier: weakref.WeakSet[asyncio.Task[Any]] = weakref.WeakSet()
        self._reading: dict[asyncio.Task[Any], Life] = {}
        self.lives: set[Life] = set()
        self.body_is_over = False
        try:
            self._body = asyncio.current_task()
            self._earlier.update(asyncio.all_tasks())
        except RuntimeError:
            # The session begins outside a loop: every task there will be is of its time.
            return

    def reads(self, life: Life, waits: bool) -> None:
        """The running task begins to wait for an event of a run's stream, or does no longer.

        Args:
            life: of the run.
            waits: it begins to.
        """
        task = asyncio.current_task()
        if task is not None and waits:
            self._reading[task] = life
        elif task is not None:
            self._reading.pop(task, None)

    def may_move(self, life: Life) -> bool:
        """Whether something but the run itself may still send an event to it.

        Args:
            life: of a run that stands still.
        """
        above = _above(life)
        still = _Still(
            {one.drive: one in above or one.status == "stuck" for one in self.lives}, self._reading
        )
        busy: set[Any] = set()
        own: set[Any] = set() if self._body is None or self.body_is_over else {self._body}
        for other in self.lives:
            for flight in other.drive.flights.active():
                if f"{flight.label}#{flight.attempt}" == above.get(other):
                    own.add(flight.task)
                else:
                    busy |= flight.children
        own |= {task for task in asyncio.all_tasks() - set(self._earlier) - busy if _is_users(task)}
        return not all(still.holds(task) for task in own if task is not None and not task.done())


class _Still:
    """Tells of tasks whether, in the end, they wait for runs that stand still.

    Args:
        runs: by what drives it, whether a run stands still.
        reading: tasks that wait for an event of a run's stream.
    """

    def __init__(self, runs: Mapping[Any, bool], reading: Mapping[asyncio.Task[Any], Life]) -> None:
        self._runs = runs
        self._reading = reading

    def holds(self, future: Any, seen: frozenset[int] = frozenset()) -> bool:
        """Whether a task or future cannot go on before such a run does."""
        if future.done() or id(future) in seen:
            return not future.done()
        seen |= {id(future)}
        if future in self._reading:
            return self._runs.get(self._reading[future].drive, False) and not _has_timeout(future)
        several = _parts(future, self._reading)
        if several is None:
            frame = _innermost(future) if _is_task(future) else None
            if frame is not None and frame.f_code.co_name == "acquire" and _is_in(frame, "asyncio.locks"):
                # Whoever holds the lock is looked at by itself.
                return True
            port = None if frame is None else getattr(frame.f_locals.get("self"), "_port", None)
            return self._runs.get(port, False)
        return all(self.holds(one, seen) for one in several if not one.done())


def _above(life: Life) -> dict[Life, str]:
    """A run and those above it, each with which of its executions leads down to the run."""
    found = {life: ""}
    while life.parent is not None:
        found[life.parent] = life.header.parent_execution
        life = life.parent
    return found


def _has_timeout(task: asyncio.Task[Any]) -> bool:
    """Whether ``asyncio.timeout`` lets a task go on after a while, whatever it waits for."""
    return any(
        getattr(getattr(handle._callback, "__self__", None), "_task", None) is task
        for handle in getattr(task.get_loop(), "_scheduled", ())
        if not handle.cancelled()
    )


def _is_in(frame: FrameType, module: str) -> bool:
    return frame.f_globals.get("__name__") == module


def _parts(future: Any, reading: Mapping[Any, Life]) -> list[Any] | None:
    """The tasks and futures that a task or a future waits for; None where it waits for something else."""
    if _is_task(future):
        waited = getattr(future, "_fut_waiter", None)
        if _is_task(waited) or hasattr(waited, "_children"):
            return [waited]
        frame = _innermost(future)
        if frame is not None and _is_in(frame, "asyncio.tasks"):
            own = frame.f_locals
            if "fut" in own:  # of asyncio.wait_for(); a timeout ends a run, but no look at its stream
                looks = own["fut"] in reading and own.get("timeout") is not None
                return None if looks else [own["fut"]]
            # Of asyncio.wait(); with a timeout, it goes on by itself.
            return list(own["fs"]) if "fs" in own and own.get("timeout") is None else None
        if frame is not None and _is_in(frame, "asyncio.taskgroups"):
            return list(frame.f_locals["self"]._tasks)
        return None
    # Of asyncio.gather().
    return list(future._children) if hasattr(future, "_children") else None


def _is_task(future: Any) -> bool:
    """Whether it runs a coroutine; some runners and ``nest_asyncio`` bring a class of their own."""
    return hasattr(future, "get_coro")


def _innermost(task: asyncio.Task[Any]) -> FrameType | None:
    """The frame in which a task is suspended, as far as it can be followed."""
    coro: Any = task.get_coro()
    frame: FrameType | None = None
    while hasattr(coro, "cr_frame"):
        frame, coro = coro.cr_frame, coro.cr_await
    return frame


def _is_users(task: asyncio.Task[Any]) -> bool:
    code = getattr(task.get_coro(), "cr_code", None)
    return code is not None and is_users_own(code.co_filename)
