"""Answers of a person: written down at once, delivered once, by whoever drives the run."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..codec import decode, encode
from ..engine import answer_event
from ..errors import UsageError, WfresumeError
from ..journal import StoreBlobs
from ..records import QuestionView
from ..store import Store
from .said import fitted
from .skips import Skips

if TYPE_CHECKING:
    from .life import Life

SLOT = "answer."
"""Entries of a run that hold answers begin so."""

LOOK_EVERY_S = 0.3
"""How often a run that waits looks for answers given elsewhere, in seconds."""


def give(store: Store, run_id: str, question: QuestionView, value: Any) -> None:
    """Write an answer down; it is delivered by the process that drives the run, or at the next resume.

    Args:
        store: the store.
        run_id: the run that asks.
        question: what is answered.
        value: the answer: an event, a dict of its fields, or the value of its one field.

    Raises:
        UsageError: the answer does not fit, or the question is answered already.
        CannotKeepError: the answer cannot be written down.
        StoreError: it is not on disk.
    """
    value = fitted(question, value)
    earlier = [json.loads(data) for data in store.notes(run_id, SLOT).values()]
    if any(one["key"] == question.key and one["at"] >= question.asked_at for one in earlier):
        raise UsageError(
            f"'{question.text}' is answered already: the run takes that answer as soon as its cell runs"
        )
    said = {"key": question.key, "value": encode(value, StoreBlobs(store)), "at": time.time()}
    store.put_note(run_id, f"{SLOT}{time.time_ns():020d}", json.dumps(said).encode())


def answer_in(folder: Path, run_id: str, question: QuestionView, value: Any) -> None:
    """Write an answer down, from any thread, whether or not the session that asked is still open.

    Args:
        folder: the store's.
        run_id: the run on whose board the question stands.
        question: what is answered.
        value: as for `give`.

    Raises:
        UsageError: the answer does not fit, or the question is answered already.
        StoreError: it is not on disk.
    """
    with Store.open(folder, create=False) as store:
        give(store, question.run_id or run_id, question, value)


def question_of(
    questions: tuple[QuestionView, ...], which: QuestionView | int | None, name: str
) -> QuestionView:
    """The question that is meant.

    Args:
        questions: what the run waits for.
        which: one of them, its number, or None where there is but one.
        name: the run's name, for the sentence.

    Raises:
        UsageError: there is none, or it is not clear which.
    """
    if not questions:
        raise UsageError(f"{name} waits for nobody: there is nothing to answer")
    if isinstance(which, QuestionView):
        return which
    if which is None:
        if len(questions) > 1:
            listed = "; ".join(f"[{q.index}] {q.text}" for q in questions[:4])
            raise UsageError(f"{name} asks {len(questions)} questions, say which: {listed}")
        return questions[0]
    if not 0 <= which < len(questions):
        raise UsageError(f"{name} has no question [{which}]; it has 0 to {len(questions) - 1}")
    return questions[which]


class Answers:
    """Brings answers that were written down to a run that waits for them.

    Args:
        life: the run's life.

    Attributes:
        skips: does the same for what a person leaves out.
    """

    def __init__(self, life: Life) -> None:
        self._life = life
        self._sent: set[str] = set()
        self.skips = Skips(life)

    async def watch(self) -> None:
        """Deliver answers as they come, until cancelled."""
        while True:
            try:
                self.deliver()
                self.skips.deliver()
            except WfresumeError as error:
                # The store may be busy, or one entry damaged: the others are still to be delivered.
                self._life.warn(f"what a person said cannot be read: {error}")
            self.tidy()
            await asyncio.sleep(LOOK_EVERY_S)

    def tidy(self) -> None:
        """Take out of the store what is on record by now."""
        delivered = self._sent & self._life.drive.asking.answered
        for slot in delivered:
            with contextlib.suppress(WfresumeError):
                # The record says that it was delivered, so that one left behind does no harm.
                self._life.session.store.delete_note(self._life.header.run_id, slot)
        self._sent -= delivered

    def deliver(self) -> int:
        """Deliver what was written down for questions that are open; return how many."""
        drive, store = self._life.drive, self._life.session.store
        if not drive.has_begun or not drive.waits():
            return 0
        run_id, count = self._life.header.run_id, 0
        for slot, data in sorted(store.notes(run_id, SLOT).items()):
            if slot in drive.asking.answered:
                store.delete_note(run_id, slot)
            elif slot not in self._sent and self._one(slot, data):
                count += 1
        return count

    def _one(self, slot: str, data: bytes) -> bool:
        drive, store = self._life.drive, self._life.session.store
        self._sent.add(slot)
        said = json.loads(data)
        found = next((q for q in drive.asking.open(drive.state) if q.key == said["key"]), None)
        if found is None or drive.asking.is_answering(found):
            # Somebody answered it before, or twice.
            store.delete_note(self._life.header.run_id, slot)
            return False
        try:
            value = decode(said["value"], StoreBlobs(store))
            event = answer_event(found.cls, value, found.requirements)
        except WfresumeError as error:
            store.delete_note(self._life.header.run_id, slot)
            self._life.warn(f"an answer to '{found.text}' was not taken: {error}")
            return False
        drive.asking.answer(event, found, slot)
        return True
