"""Answers of a person: written down at once, delivered once, by whoever drives the run."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..codec import decode, encode
from ..engine import answer_event
from ..errors import UsageError, WfresumeError
from ..journal import StoreBlobs
from ..records import QuestionView
from ..store import Store
from .misfits import refuse
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
    refuse(question, value)
    if _is_answered(question, _said(store, run_id)):
        raise UsageError(
            f"'{question.text}' is answered already: the run takes that answer as soon as its cell runs"
        )
    said = {"key": question.key, "value": encode(value, StoreBlobs(store)), "at": time.time()}
    said["asked"] = question.asked_at
    store.put_note(run_id, f"{SLOT}{time.time_ns():020d}", json.dumps(said).encode())


def open_questions(
    store: Store, run_id: str, questions: tuple[QuestionView, ...]
) -> tuple[QuestionView, ...]:
    """The questions to which no answer is written down, each with the number that it had.

    Args:
        store: the store.
        run_id: the run.
        questions: what it waited for when its header was written.
    """
    said = {run: _said(store, run) for run in {one.run_id or run_id for one in questions}}
    return tuple(one for one in questions if not _is_answered(one, said[one.run_id or run_id]))


def _said(store: Store, run_id: str) -> list[dict[str, Any]]:
    return [json.loads(data) for data in store.notes(run_id, SLOT).values()]


def _is_answered(question: QuestionView, said: list[dict[str, Any]]) -> bool:
    # A step may ask anew under the same name; an answer from before is not for that.
    return any(one["key"] == question.key and one["at"] >= question.asked_at for one in said)


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
    found = next((one for one in questions if one.index == which), None)
    if found is None:
        listed = ", ".join(f"[{one.index}]" for one in questions[:8])
        raise UsageError(f"{name} has no question [{which}]; it has {listed}")
    return found


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
        if delivered:
            self._write_headers()
        for slot in delivered:
            with contextlib.suppress(WfresumeError):
                # The record says that it was delivered, so that one left behind does no harm.
                self._life.session.store.delete_note(self._life.header.run_id, slot)
        self._sent -= delivered

    def _write_headers(self) -> None:
        """Have no question in a header whose answer is on record: without its entry it would seem open."""
        life: Life | None = self._life
        while life is not None:
            with contextlib.suppress(WfresumeError):
                # The next record meets the same fault, and stops the run with its sentence.
                life.write_header()
            life = life.parent

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
        was = self._life.header.extra.get("was", {})
        key = _by_first_name(said["key"], was)
        named = (q for q in drive.asking.open(drive.state) if _by_first_name(q.key, was) == key)
        # Asked again under the same name it is another question than the one that was answered.
        found = next((q for q in named if q.question.at <= said.get("asked", q.question.at)), None)
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


def _by_first_name(key: str, was: Mapping[str, str]) -> str:
    """What a question is called, under the first name of the step that asks."""
    step, slash, waiter = key.partition("/")
    return f"{was.get(step, step)}{slash}{waiter}"
