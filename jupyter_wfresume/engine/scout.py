"""Look ahead: what a run would do, as far as recorded outputs tell, without running a step."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from workflows.events import Event, StartEvent
from workflows.runtime.types.commands import CommandRunWorker
from workflows.runtime.types.internal_state import BrokerState, InProgressState
from workflows.runtime.types.results import EmissionKey
from workflows.runtime.types.ticks import TickAddEvent, TickSessionStart, TickStepResult, TickWakeup

from .broker import find_execution
from .fold import Fold

Answer = Callable[[str, InProgressState, list[Event]], "TickStepResult | None"]
"""The recorded result of an execution, or None where it would have to run."""


def scout(
    state: BrokerState, start: StartEvent, run_id: str, answer: Answer, go_on: Callable[[], bool]
) -> None:
    """Drive a run on recorded results alone.

    Args:
        state: where it would begin.
        start: its start event.
        run_id: the engine's id for it.
        answer: asked once for each execution that would be dispatched.
        go_on: asked before each; False ends the look ahead.
    """
    dispatched: deque[CommandRunWorker] = deque()
    fold = Fold(state, run_id, dispatched.append)
    fold.apply(TickSessionStart(stamped_at=0.0), fold.position, 0.0)
    fold.apply(TickAddEvent(event=start, stamped_at=0.0), fold.position, 0.0)
    fold.settle(go_on)
    while dispatched and fold.state.is_running and go_on():
        command = dispatched.popleft()
        found = find_execution(fold.state, command.invocation_id)
        if found is None:
            continue
        step_id, execution = found
        tick = answer(str(step_id), execution, inputs_of_execution(execution))
        if tick is None:
            # It would run; it is taken out so that it holds no worker, and
            # what stands behind it is looked at too.
            fold.state.workers[step_id].in_progress.remove(execution)
            fold.apply(TickWakeup(due=0.0, stamped_at=0.0), fold.position, 0.0)
        else:
            for sent in tick.sends:
                # As in a run: what a step sends comes through the mailbox, before its result.
                fold.apply(
                    TickAddEvent(
                        event=sent.event,
                        step_id=sent.step_id,
                        recovery_counts=dict(sent.recovery_counts),
                        emission=EmissionKey(invocation_id=command.invocation_id, index=sent.index),
                        stamped_at=0.0,
                    ),
                    fold.position,
                    0.0,
                )
            fold.apply(tick, fold.position, 0.0)
        fold.settle(go_on)


def inputs_of_execution(execution: InProgressState) -> list[Event]:
    """The events an execution gets: one, or the several of a fan-in."""
    payload = execution.shared_state.collection_release_payload
    if payload is not None:
        return list(payload.events)
    return list((execution.bound_events or {}).values()) or [execution.event]
