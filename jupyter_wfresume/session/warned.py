"""What a user is warned of before money is spent, or as early as it can be seen; each once for a run."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from traceback import FrameSummary
from typing import TYPE_CHECKING

from ..engine import DEFAULT_TIMEOUT_S, Event, StepInfo
from ..records import StepView
from ..replay.traces import is_users_own, where
from ..runtime import CALL_S, Flight, apart
from .unmet import only_parent, parents_taken, unmet

if TYPE_CHECKING:
    from .life import Life

FIRST_LOOK_S = 0.2
"""How long after events have begun to queue up they are counted, in seconds: by then they are all there."""

NEXT_LOOK_S = 2.0
"""How often it is looked again whether the budget is enough, in seconds."""


class Warned:
    """Watches one run for what its user should know.

    Args:
        life: the run's life.
        typical_s: by step, the typical seconds of an execution in earlier runs; asked once at most.
    """

    def __init__(self, life: Life, typical_s: Callable[[], Mapping[str, float]]) -> None:
        self._life = life
        self._ask_typical_s = typical_s
        self._typical_s: Mapping[str, float] | None = None
        self._looks = False
        options, timeout = life.session.options, life.workflow._timeout
        # Who says 45 has chosen it: the default is a float.
        default = timeout == DEFAULT_TIMEOUT_S and isinstance(timeout, float)
        self._may_run_out = default and options.timeout_s is None and life.parent is None

    # -- the time budget ----------------------------------------------------

    def changed(self) -> None:
        """Something has changed; events may have begun to queue up."""
        self._life.changed()
        state = self._life.drive.known_state() if self._may_run_out and not self._looks else None
        if state is None or not self._life.drive.has_begun:
            return
        if any(
            len(one.queue) + len(state.deliveries) > one.config.num_workers for one in state.workers.values()
        ):
            self._look_in(FIRST_LOOK_S)

    def _look_in(self, seconds: float) -> None:
        self._looks = True
        apart(lambda: asyncio.get_running_loop().call_later(seconds, self._look))

    def _look(self) -> None:
        self._looks, life = False, self._life
        state = life.drive.known_state()
        if life.concluded or state is None:
            return
        left_s = DEFAULT_TIMEOUT_S - life.drive.alive_s(time.time())
        views = life.drive.progress.views(state, life.drive.standing)
        for info, view in zip(life.drive.progress.steps, views, strict=True):
            more = view.queued + view.running
            if view.queued <= 0 or more <= info.workers:
                continue
            each_s = view.typical_s if view.typical_s is not None else self._typical(info.name)
            if each_s is None or more * each_s / info.workers > left_s:
                self._may_run_out = False
                life.warn(self._runs_out(info, view, each_s, DEFAULT_TIMEOUT_S - left_s))
                return
        if any(view.queued > 0 for view in views):
            self._look_in(NEXT_LOOK_S)

    def _typical(self, step: str) -> float | None:
        if self._typical_s is None:
            self._typical_s = self._ask_typical_s()
        return self._typical_s.get(step)

    def _runs_out(self, info: StepInfo, view: StepView, each_s: float | None, used_s: float) -> str:
        budget = f"the run's time budget is the engine's default of {DEFAULT_TIMEOUT_S:g} s"
        if used_s >= 1:
            budget += f" ({used_s:.0f} s are used)"
        how = "--timeout none" if self._life.session.cell else "timeout=None"
        if each_s is None:
            return (
                f"{view.queued:,} executions of `{info.name}` are waiting, and {budget}: "
                f"if that may be too short, stop and run again with {how}"
            )
        more = view.queued + view.running
        need_s, workers = more * each_s / info.workers, "worker" if info.workers == 1 else "workers"
        return (
            f"{more:,} executions of `{info.name}` of about {each_s:.2g} s on {info.workers} {workers} "
            f"need about {need_s:.0f} s, and {budget}: stop and run again with {how}"
        )

    # -- while it runs ------------------------------------------------------

    def blocked(self, flight: Flight, frames: list[FrameSummary]) -> None:
        """An ``async`` step kept the loop busy with a synchronous call.

        Args:
            flight: the execution.
            frames: of the call, the innermost last.
        """
        own = next((frame for frame in reversed(frames) if is_users_own(frame.filename)), None)
        if own is not None:
            self._life.top().warn(
                f"`{flight.step}` keeps the event loop busy, and nothing else goes on: over {CALL_S:g} s in "
                f"{where(own)}; call that with await asyncio.to_thread(...), or make the step a plain def"
            )

    def unaccepted(self, event: Event) -> None:
        """No step and no waiter took an event."""
        progress, made = self._life.drive.progress, type(event)
        progress.unaccepted[made] += 1
        takers = parents_taken(progress.steps, made)
        if takers and progress.unaccepted[made] == 1 and not self._is_said(made):
            self._life.top().warn(only_parent(made, takers))

    def _is_said(self, made: type) -> bool:
        """Whether it was seen in the code already."""
        return any(f"makes a `{made.__name__}`" in note for note in self._life.notes)


def before(life: Life, has_context: bool) -> None:
    """Say what a workflow's code shows, before anything of it is executed.

    Args:
        life: of a run that a cell starts.
        has_context: a context was passed, which may hold events.
    """
    for said in unmet(life.workflow, life.session.cell, has_context):
        life.warn(said)


def typical_s(durations: Iterable[tuple[str, float]]) -> dict[str, float]:
    """By step, the median of its executions' durations.

    Args:
        durations: step and seconds of each.
    """
    by_step: defaultdict[str, list[float]] = defaultdict(list)
    for step, seconds in durations:
        by_step[step].append(seconds)
    return {step: sorted(known)[len(known) // 2] for step, known in by_step.items()}


def lasting(notes: tuple[str, ...]) -> tuple[str, ...]:
    """Notes of earlier lives but for warnings, which are said anew where they still hold."""
    passing = ("the engine's default of", "which no step")
    return tuple(note for note in notes if not any(part in note for part in passing))
