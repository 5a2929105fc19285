"""What fan-ins have got so far, and what they still wait for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from workflows._event_matching import event_matches
from workflows.events import Event
from workflows.runtime.types.internal_state import BrokerState, InternalStepWorkerState


@dataclass(frozen=True)
class Gathered:
    """One fan-in that has not fired.

    Args:
        step: the step.
        has: class names of what it has got, counted.
        wants: class names of the parameters without an event; empty where the step counts by itself.
    """

    step: str
    has: Counter[str]
    wants: tuple[str, ...]


def gathered(state: BrokerState) -> list[Gathered]:
    """Fan-ins that hold something.

    A fan-in of a returned list is none of them: it fires once nothing of its list is under way.

    Args:
        state: the live state.
    """
    found: list[Gathered] = []
    for step_id, worker in state.workers.items():
        if worker.static_collect_events:
            has = worker.static_collect_events
            found.append(Gathered(str(step_id), _counted(has), _names(_empty_slots(worker))))
        collected = [event for events in worker.collected_events.values() for event in events]
        if collected:
            found.append(Gathered(str(step_id), _counted(collected), ()))
    return found


def _counted(events: list[Event]) -> Counter[str]:
    return Counter(type(event).__name__ for event in events)


def _names(classes: Any) -> tuple[str, ...]:
    return tuple(getattr(cls, "__name__", str(cls)) for cls in classes)


def _empty_slots(worker: InternalStepWorkerState) -> list[type]:
    """The parameters' classes for which no event is left over, in the order of the parameters."""
    left, empty = list(worker.static_collect_events), []
    for _, cls in worker.config.collect_params or ():
        taken = next(
            (
                event
                for event in left
                if event_matches(event, cls, allow_subclasses=worker.config.accept_event_subclasses)
            ),
            None,
        )
        if taken is None:
            empty.append(cls)
        else:
            left.remove(taken)
    return empty
