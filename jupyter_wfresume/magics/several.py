"""Several replays beside each other, as many as the step may run at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from IPython.display import display

from ..engine import steps_of
from ..errors import RunEnded, UsageError
from ..replay import Edit, Replayed, Replays
from ..session import Run
from ..session.again import replay_of
from ..session.instances import instance_of

_QUIET_S = 1.0
"""What takes less, in seconds, needs no line about its progress."""
_PACE_S = 0.25
"""Seconds between two looks of that line."""

Editing = Callable[[str, int], Awaitable["Edit | None"]]
"""Takes step and index."""


class Progress:
    """One line that counts, where a front end can draw it again.

    Args:
        total: how many there are.
        redraws: a front end is there that replaces what it has drawn.
    """

    def __init__(self, total: int, redraws: bool) -> None:
        self._total = total
        self._redraws = redraws
        self._began = self._drawn = time.monotonic()
        self._handle: Any = None

    def done(self, count: int) -> None:
        """Count what has been done.

        Args:
            count: how many so far.
        """
        now = time.monotonic()
        if not self._redraws or now - self._began < _QUIET_S:
            return
        if count < self._total and self._handle is not None and now - self._drawn < _PACE_S:
            return
        self._drawn = now
        line = {"text/plain": f"replayed {count} of {self._total} · {now - self._began:.0f} s"}
        if self._handle is None:
            show: Any = display  # it has no types
            self._handle = show(line, raw=True, display_id=True)
        else:
            self._handle.update(line, raw=True)


async def replay_several(
    run: Run, chosen: Sequence[tuple[str, int]], edit: Editing, progress: Progress
) -> Replays:
    """Replay executions of a run, in the order in which they are given.

    Args:
        run: the run.
        chosen: step and index of each.
        edit: the edited input of one, or None where it is as it was.
        progress: told how many are done.

    Raises:
        RunEnded: it was interrupted; what had been replayed is shown before.
        MissingClassError: a class is not defined in this kernel.
    """
    workers = {info.name: info.workers for info in steps_of(instance_of(run.header.workflow))}
    room = asyncio.Semaphore(max((workers.get(step, 1) for step, _ in chosen), default=1))
    found: dict[int, Replayed] = {}
    refused: dict[int, tuple[str, str]] = {}

    async def one(number: int, step: str, index: int, edited: Edit | None) -> None:
        async with room:
            try:
                found[number] = await replay_of(run, step, index, edited, None)
            except UsageError as error:
                refused[number] = (f"{step}[{index}]", str(error))
        progress.done(len(found) + len(refused))

    def table() -> Replays:
        return Replays((found[number] for number in sorted(found)), (refused[n] for n in sorted(refused)))

    tasks: list[asyncio.Task[None]] = []
    try:
        for number, (step, index) in enumerate(chosen):
            # One after the other: the body that edits is the user's, and may count.
            try:
                edited = await edit(step, index)
            except UsageError as error:
                refused[number] = (f"{step}[{index}]", str(error))
                continue
            tasks.append(asyncio.create_task(one(number, step, index, edited)))
        await asyncio.gather(*tasks)
    except (asyncio.CancelledError, KeyboardInterrupt):
        await _cancelled(tasks)
        if found or refused:
            show: Any = display  # it has no types
            show(table())
        count = f"{len(found)} of {len(chosen)}"
        said = f"interrupted: {count} were replayed, as shown above; nothing was written"
        raise RunEnded(run.id, run.status, said) from None
    except BaseException:
        await _cancelled(tasks)
        raise
    return table()


async def _cancelled(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
