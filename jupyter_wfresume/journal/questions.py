"""Questions that wait for a person, by the same rule live and on resume."""

from __future__ import annotations

from dataclasses import dataclass

from ..engine import (
    AddWaiter,
    Event,
    HumanResponseEvent,
    InputRequiredEvent,
    LiveBrokerState,
    StepWorkerResult,
    TickStepResult,
    open_waiters,
    resolves_a_waiter,
)


@dataclass(frozen=True)
class Question:
    """Something a step asked.

    Args:
        step: the step.
        waiter_id: the waiter that takes the answer, or empty: a question event
            that a step returned carries no link to its answer.
        event: the question, or None where a step waits without asking.
        at: when it was asked, seconds since the epoch.
        waits_for: the class of the event that answers it, where nothing was asked.
    """

    step: str
    waiter_id: str
    event: Event | None
    at: float
    waits_for: str = ""

    @property
    def text(self) -> str:
        """The question's own words, or its fields."""
        if self.event is None:
            return f"waits for {self.waits_for}"
        for name in ("prefix", "msg", "message", "question", "prompt", "text"):
            said = self.event.get(name) or getattr(self.event, name, None)
            if isinstance(said, str) and said:
                return said
        fields = {**self.event.__dict__, **dict(self.event.items())}
        if len(fields) == 1:
            return str(next(iter(fields.values())))
        return ", ".join(f"{key}: {value}" for key, value in fields.items()) or type(self.event).__name__


class Questions:
    """Keeps what was asked and not answered."""

    def __init__(self) -> None:
        self._asked: list[Question] = []

    def result(self, tick: TickStepResult, at: float) -> None:
        """A step's result may ask, or wait for an answer to what it asked."""
        step = str(tick.step_id)
        for item in tick.result:
            if isinstance(item, AddWaiter) and item.waiter_event is not None:
                if not any(q.step == step and q.waiter_id == item.waiter_id for q in self._asked):
                    self._asked.append(Question(step, item.waiter_id, item.waiter_event, at))
            elif isinstance(item, StepWorkerResult) and isinstance(item.result, InputRequiredEvent):
                self._asked.append(Question(step, "", item.result, at))

    def event(self, event: Event, state: LiveBrokerState) -> None:
        """An event came from outside; a response without a waiter answers the oldest question.

        Args:
            event: the event.
            state: the state after the event was reduced.
        """
        if not isinstance(event, HumanResponseEvent):
            return
        if resolves_a_waiter(state, event):
            return
        unlinked = next((q for q in self._asked if not q.waiter_id), None)
        if unlinked is not None:
            self._asked.remove(unlinked)

    def open(self, state: LiveBrokerState) -> list[Question]:
        """What is still to be answered, in the order it was asked."""
        waiting = {(str(step_id), waiter.waiter_id): waiter for step_id, waiter in open_waiters(state)}
        asked = [q for q in self._asked if not q.waiter_id or (q.step, q.waiter_id) in waiting]
        known = {(q.step, q.waiter_id) for q in asked}
        silent = [
            Question(step, waiter_id, None, 0.0, waiter.waiting_for_event.__name__)
            for (step, waiter_id), waiter in waiting.items()
            if (step, waiter_id) not in known
        ]
        return [*asked, *silent]
