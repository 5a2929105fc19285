"""Whether something durable goes on in this process, whoever asks."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


class Open:
    """Counts what is durable and goes on, over all threads and loops of the process.

    A thread that a step started by itself has no context of its own, so that it cannot tell from
    there whether it works for a durable run.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0

    @contextlib.contextmanager
    def counted(self) -> Iterator[None]:
        """Count what goes on inside the block."""
        self._add(1)
        try:
            yield
        finally:
            self._add(-1)

    def _add(self, number: int) -> None:
        with self._lock:
            self._count += number

    def __bool__(self) -> bool:
        return self._count > 0


OPEN = Open()
"""Sessions, and executions and replays under way."""
