"""What executions start beside themselves: tasks, and calls in threads.

A step that is cancelled takes only what it awaits with it. A task that it
left running, or a call in a thread, would go on after the cell has returned,
and be paid a second time when the cell runs again.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

from ..effects import carried
from .blocking import Blocked, Lookout
from .flights import CURRENT, Flight, Flights


def watch(loop: asyncio.AbstractEventLoop, flights: Flights, blocked: Blocked) -> Callable[[], None]:
    """Note, for each execution of a run, what it starts on ``loop``, and whether it blocks the loop.

    Args:
        loop: the running loop.
        flights: the executions of the run.
        blocked: told of one that blocks the loop.

    Returns:
        Ends it; the loop is then as it was.
    """
    factory = loop.get_task_factory()
    found = factory if isinstance(factory, _Offspring) else _Offspring(loop, factory)
    found.users += 1
    found.lookout.add(flights, blocked)

    def release() -> None:
        found.lookout.remove(flights)
        found.users -= 1
        if not found.users:
            found.leave()

    return release


class _Offspring:
    """A loop's task factory that knows which execution each task belongs to."""

    def __init__(self, loop: asyncio.AbstractEventLoop, previous: Any) -> None:
        self.users = 0
        self.lookout = Lookout(loop)
        self._loop = loop
        self._previous = previous
        self._in_thread = loop.run_in_executor
        loop.set_task_factory(self)
        # A loop written in C takes no attributes; calls in threads are not seen there.
        with contextlib.suppress(TypeError):
            vars(loop)["run_in_executor"] = self._run_in_executor

    def leave(self) -> None:
        """Put back what stood here before."""
        self.lookout.end()
        if self._loop.get_task_factory() is self:
            self._loop.set_task_factory(self._previous)
        with contextlib.suppress(TypeError):
            vars(self._loop).pop("run_in_executor", None)

    def __call__(self, loop: asyncio.AbstractEventLoop, coro: Any, **more: Any) -> Any:
        if self._previous is None:
            task: Any = asyncio.Task(coro, loop=loop, **more)
        else:
            task = self._previous(loop, coro, **more)
        flight = CURRENT.get()
        if flight is not None:
            flight.children.add(task)
            task.add_done_callback(flight.children.discard)
        return task

    def _run_in_executor(
        self, executor: Executor | None, function: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        flight = CURRENT.get()
        # What goes to another process is sent there as it is, and cannot be followed.
        if flight is None or not (executor is None or isinstance(executor, ThreadPoolExecutor)):
            return self._in_thread(executor, function, *args)
        call = _ThreadCall(self._loop, flight, function)
        future = self._in_thread(executor, call, *args)
        future.add_done_callback(lambda _: call.awaited_no_more())
        return future


class _ThreadCall:
    """One call in a thread: it ends when the function returns, not when nobody waits for it any more."""

    def __init__(self, loop: asyncio.AbstractEventLoop, flight: Flight, function: Callable[..., Any]) -> None:
        self._loop = loop
        self._flight = flight
        self._function = function
        self._lock = threading.Lock()
        self._began = False
        self._dropped = False
        self._standing = carried()
        self._ended: asyncio.Future[None] = loop.create_future()
        flight.children.add(self._ended)

    def __call__(self, *args: Any) -> Any:
        with self._lock:
            if self._dropped:
                return None
            self._began = True
        try:
            with self._standing():
                return self._function(*args)
        except StopIteration as error:
            # A future does not take it, so before Python 3.12 whoever awaits the call waits for ever.
            raise RuntimeError("a function in a thread raised StopIteration") from error
        finally:
            # The loop may be closed by now; then nobody waits.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._end)

    def awaited_no_more(self) -> None:
        """Its future is done: a call that has not begun by then never does."""
        with self._lock:
            self._dropped = not self._began
        if self._dropped:
            self._end()

    def _end(self) -> None:
        if not self._ended.done():
            self._ended.set_result(None)
        self._flight.children.discard(self._ended)
