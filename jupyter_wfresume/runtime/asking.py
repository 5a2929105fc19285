"""Questions of a run that is driven, and the answers on their way to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..engine import (
    Event,
    LiveBrokerState,
    StepInfo,
    TickAddEvent,
    WorkflowTick,
    mark,
    open_waiters,
    own_requirements,
    response_class,
    waiter_key,
)
from ..journal import Question, Questions
from .mailbox import Mailbox


@dataclass(frozen=True)
class Asked:
    """A question and what its answer is made of.

    Args:
        key: names the question.
        waiter: names the waiter that takes the answer, or empty.
        question: what was asked.
        cls: the class of the answer.
        requirements: what the waiter wants of it.
    """

    key: str
    waiter: str
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
        deliver: puts a tick into the mailbox.
        answered: slots of answers that earlier lives delivered.
    """

    def __init__(
        self,
        questions: Questions,
        steps: list[StepInfo],
        mailbox: Mailbox,
        deliver: Callable[[WorkflowTick], None],
        answered: set[str],
    ) -> None:
        self._questions = questions
        self._accepted = [cls for info in steps for cls in info.accepts if isinstance(cls, type)]
        self._mailbox = mailbox
        self._deliver = deliver
        self._under_way: dict[str, str] = {}
        self.answered = answered

    def open(self, state: LiveBrokerState) -> list[Asked]:
        """What is to be answered, with what an answer is made of.

        Args:
            state: the broker state.
        """
        waiters = {waiter_key(str(s), w.waiter_id): w for s, w in open_waiters(state)}
        found: list[Asked] = []
        for number, question in enumerate(self._questions.open(state)):
            key = waiter_key(question.step, question.waiter_id)
            waiter = waiters.get(key) if question.waiter_id else None
            if waiter is None:
                found.append(Asked(f"{key}{number}", "", question, response_class(self._accepted), {}))
            else:
                wanted = own_requirements(waiter.requirements)
                found.append(Asked(key, key, question, waiter.waiting_for_event, wanted))
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
        if asked.waiter:
            mark(event, asked.waiter)
        self._mailbox.expect(event, slot, asked.waiter)
        self._deliver(TickAddEvent(event=event))

    def delivered(self, slot: str) -> None:
        """An answer is on record."""
        self.answered.add(slot)
        self._under_way = {key: one for key, one in self._under_way.items() if one != slot}
