"""Questions that wait for a person, by the same rule live and on resume."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..engine import (
    AddWaiter,
    DeleteWaiter,
    Event,
    HumanResponseEvent,
    InputRequiredEvent,
    LiveBrokerState,
    StepWorkerResult,
    TickStepResult,
    is_parked,
    open_waiters,
    resolves_a_waiter,
    waiter_key,
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
        number: tells questions without a waiter apart.
    """

    step: str
    waiter_id: str
    event: Event | None
    at: float
    waits_for: str = ""
    number: int = 0

    @property
    def key(self) -> str:
        """Names the question for its answer, the same in every life."""
        return waiter_key(self.step, self.waiter_id or f"?{self.number}")

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
        self._unlinked = 0

    def result(self, tick: TickStepResult, streamed: Sequence[Event], at: float) -> bool:
        """A step's result may ask, or wait for an answer to what it asked.

        Returns whether it asked without a waiter while another such question is open.

        Args:
            tick: the result.
            streamed: what the execution put into the stream by itself; a step may ask that way, too.
            at: seconds since the epoch.
        """
        step, unlinked = str(tick.step_id), self._unlinked
        asked = [event for event in streamed if isinstance(event, InputRequiredEvent)]
        for item in tick.result:
            if isinstance(item, AddWaiter):
                question = item.waiter_event or (asked[-1] if asked else None)
                known = any(q.step == step and q.waiter_id == item.waiter_id for q in self._asked)
                if question is not None and not known and not is_parked(item.waiter_id):
                    self._asked.append(Question(step, item.waiter_id, question, at))
            elif isinstance(item, DeleteWaiter):
                # A waiter with a name of the user's own may ask something else later.
                self._asked = [q for q in self._asked if (q.step, q.waiter_id) != (step, item.waiter_id)]
            elif isinstance(item, StepWorkerResult) and isinstance(item.result, InputRequiredEvent):
                self._ask(step, item.result, at)
        if all(isinstance(item, StepWorkerResult) for item in tick.result):
            for event in asked:
                self._ask(step, event, at)
        return self._unlinked > unlinked and sum(not q.waiter_id for q in self._asked) > 1

    def _ask(self, step: str, event: Event, at: float) -> None:
        self._asked.append(Question(step, "", event, at, number=self._unlinked))
        self._unlinked += 1

    def event(self, event: Event, state: LiveBrokerState, key: str = "") -> None:
        """An event came from outside; a response that names nothing answers the oldest question.

        Args:
            event: the event.
            state: the state after the event was reduced.
            key: the question that it is the answer to, where that is known.
        """
        named = next((q for q in self._asked if key and not q.waiter_id and q.key == key), None)
        if named is not None:
            self._asked.remove(named)
            return
        if not isinstance(event, HumanResponseEvent) or resolves_a_waiter(state, event):
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
