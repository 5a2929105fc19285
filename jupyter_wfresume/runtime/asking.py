"""Questions of a run that is driven, and the answers on their way to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..engine import (
    AddWaiter,
    AttachedInternal,
    Event,
    LiveBrokerState,
    StepInfo,
    TickAddEvent,
    TickStepResult,
    WorkflowTick,
    awakening,
    is_parked,
    mark,
    open_waiters,
    own_requirements,
    response_class,
    waiter_key,
)
from ..journal import Question, Questions
from .flights import Flight
from .hooks import Hooks
from .mailbox import Mailbox

REPEATS = (
    "`{}` asked: with each answer it runs again from its start, as the engine does it; "
    "what must not be paid for twice belongs into a step before"
)
"""What is said once of a step that waits in its midst."""

RENAMED = (
    "`{}` makes its waiter_id anew each time it runs: its question was recognized all the same; "
    "give it a fixed waiter_id"
)
"""What is said once of a step whose waiter has another name each time."""

UNLINKED = (
    "`{}` asked with an event that carries no link to its answer: you name the question that you answer, "
    "and an event that the cell sends itself answers the oldest"
)
"""What is said once of a step that asks without a waiter, where several such questions are open."""

SETTLED = ("runs again from its start", "carries no link to its answer")
"""Parts of sentences that say nothing any more once a run is done."""


@dataclass(frozen=True)
class Asked:
    """A question and what its answer is made of.

    Args:
        key: names the question.
        takes: what the answer is marked with, so that nothing else takes it; empty where any
            waiter may, as no step does.
        question: what was asked.
        cls: the class of the answer.
        requirements: what the waiter wants of it.
    """

    key: str
    takes: str
    question: Question
    cls: type[Event]
    requirements: dict[str, Any]

    @property
    def text(self) -> str:
        """The question's words."""
        return self.question.text


class Asking:
    """Knows what is asked, and delivers answers.

    Args:
        questions: what was asked.
        steps: the steps, for what they accept.
        mailbox: told of an answer before it comes in.
        hooks: of the session.
        deliver: puts a tick into the mailbox.
        answered: slots of answers that earlier lives delivered.
    """

    def __init__(
        self,
        questions: Questions,
        steps: list[StepInfo],
        mailbox: Mailbox,
        hooks: Hooks,
        deliver: Callable[[WorkflowTick], None],
        answered: set[str],
    ) -> None:
        self._questions = questions
        self._accepted = [cls for info in steps for cls in info.accepts if isinstance(cls, type)]
        self._mailbox = mailbox
        self._hooks = hooks
        self._deliver = deliver
        self._under_way: dict[str, str] = {}
        self.answered = answered

    def noted(self, tick: TickStepResult, flight: Flight, state: LiveBrokerState, now: float) -> None:
        """A result may ask.

        Args:
            tick: the result.
            flight: the execution.
            state: the state after the result was reduced.
            now: seconds since the epoch.
        """
        if self._questions.result(tick, flight.asked, now):
            self._hooks.warn(UNLINKED.format(flight.step))
        made = [item for item in tick.result if isinstance(item, AddWaiter)]
        if any(not is_parked(waiter.waiter_id) for waiter in made):
            self._hooks.warn(REPEATS.format(flight.step))
        if made or self._questions.open(state):
            self._hooks.asked()

    def renamed(self, flight: Flight | None) -> None:
        """A step waits under another name than before, for what it waited for then."""
        if flight is not None and not flight.alone:
            self._hooks.warn(RENAMED.format(flight.step))

    async def publish_again(self, internal: AttachedInternal, state: LiveBrokerState) -> None:
        """Put open questions into the stream: a body that answers what it reads there reads it anew."""
        for question in self._questions.open(state):
            if question.event is not None:
                await internal.publish(question.event)

    def open(self, state: LiveBrokerState) -> list[Asked]:
        """What is to be answered, with what an answer is made of.

        Args:
            state: the broker state.
        """
        waiters = {waiter_key(str(s), w.waiter_id): w for s, w in open_waiters(state)}
        unlinked = response_class(self._accepted)
        taken = any(issubclass(unlinked, cls) for cls in self._accepted)
        found: list[Asked] = []
        for question in self._questions.open(state):
            waiter = waiters.get(question.key) if question.waiter_id else None
            if waiter is None:
                found.append(Asked(question.key, question.key if taken else "", question, unlinked, {}))
            else:
                wanted = own_requirements(waiter.requirements)
                found.append(Asked(question.key, question.key, question, waiter.waiting_for_event, wanted))
        return found

    def is_answering(self, asked: Asked) -> bool:
        """An answer to this question is on its way."""
        return asked.key in self._under_way

    def answer(self, event: Event, asked: Asked, slot: str) -> None:
        """Deliver a person's answer to one question.

        Args:
            event: the answer.
            asked: the question.
            slot: where the answer was written down.
        """
        self._under_way[asked.key] = slot
        if asked.takes:
            mark(event, asked.takes)
        self._mailbox.expect(event, slot, asked.takes)
        self._deliver(TickAddEvent(event=event))

    def leave_out(self, flight: Flight, slot: str) -> None:
        """Wake an execution that was set aside: a person has decided that it is left out.

        Args:
            flight: the execution.
            slot: where the decision was written down.
        """
        tick, key = awakening(flight.step, flight.work_item_id)
        self._mailbox.expect(tick.event, slot, key)
        self._deliver(tick)

    def delivered(self, slot: str) -> None:
        """An answer is on record."""
        self.answered.add(slot)
        self._under_way = {key: one for key, one in self._under_way.items() if one != slot}
