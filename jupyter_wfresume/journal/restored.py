"""What a journal leaves of a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ..engine import Event, LiveBrokerState, StateModel
from .questions import Questions

Ref = list[Any]
"""Where an event was written: record, and index of a result (or -1 - index of a send)."""


@dataclass
class Waiter:
    """A ``wait_for_event`` that is still open.

    Args:
        timeout_s: its own timeout, or None.
        waited_s: seconds it has waited while a cell drove the run.
    """

    step: str
    waiter_id: str
    timeout_s: float | None
    waited_s: float


@dataclass
class Restored:
    """A run as its journal leaves it.

    Args:
        state: the engine's broker state, ready to be driven on.
        model: the state store's model.
        carried: by work item, the sends that its unfinished execution had
            already delivered, by index.
        indexes: by step, the work items in order of first dispatch.
        refs: where each event that is still in use was written, by ``id``.
        changed: events that an execution has changed in place since they were written, by ``id``.
        migrated: events that a migration has made, or something in them, by ``id``.
        in_flight: work items that were under way when the last life ended.
        lost: events that stand in for ones that were not kept, with their place.
        waiters: open waiters, for their timeouts.
        questions: what was asked and not answered.
        body_sends: what the body sent unprompted, in order.
        lives: how many lives there were.
        overlaps: state path, the finished execution that wrote it last, and the
            unfinished ones whose writes are in it too.
        last_stamp: the last record's time, seconds since the epoch.
        started: whether the start event was delivered.
        answers: slots of the answers that were delivered.
        stop: where the run's stop event was written, for one that has it.
        unaccepted: classes of events that no step and no waiter took, counted.
    """

    state: LiveBrokerState
    model: StateModel
    start: Event | None
    carried: dict[str, dict[int, Event]] = field(default_factory=dict)
    indexes: dict[str, dict[str, int]] = field(default_factory=dict)
    refs: dict[int, tuple[Event, Ref]] = field(default_factory=dict)
    changed: dict[int, Event] = field(default_factory=dict)
    migrated: dict[int, Event] = field(default_factory=dict)
    in_flight: list[tuple[str, int]] = field(default_factory=list)
    lost: dict[int, tuple[Event, Ref, list[str]]] = field(default_factory=dict)
    waiters: list[Waiter] = field(default_factory=list)
    questions: Questions = field(default_factory=Questions)
    body_sends: list[Event] = field(default_factory=list)
    lives: int = 0
    overlaps: list[tuple[str, str, list[str]]] = field(default_factory=list)
    last_stamp: float = 0.0
    started: bool = False
    answers: set[str] = field(default_factory=set)
    stop: Ref | None = None
    unaccepted: Counter[type] = field(default_factory=Counter)
