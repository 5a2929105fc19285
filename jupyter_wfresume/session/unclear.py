"""Executions that began a side effect whose outcome nobody knows, and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..effects import Doubt, InDoubt, Unclear, asking, begun_in, entries_of, typed_name
from ..errors import UsageError, WfresumeError
from ..records import ErrorView, FailureView, QuestionView, RunHeader, Status
from ..runtime import Flight
from ..store import Store
from ..typed import resolving
from . import words
from .migrating import recorded_label

if TYPE_CHECKING:
    from .life import Life

Names = Mapping[str, Sequence[str]]
"""By the label of an execution, the names of its side effects without an outcome."""


def in_doubt(store: Store, header: RunHeader) -> Names:
    """The side effects that a run's executions began and that have no outcome on record.

    Args:
        store: the store.
        header: of the run.
    """
    found: dict[str, list[str]] = {}
    begun = begun_in(store, header.name, header.run_id)
    known = entries_of(store, header.name) if begun else []
    for entry in begun:
        found.setdefault(entry.label, []).append(typed_name(known, entry))
    return found


def of_execution(found: Names, header: RunHeader, step: str, index: int) -> tuple[str, ...]:
    """Those of one execution, under the name that its step had and the one that it has."""
    labels = dict.fromkeys((f"{step}[{index}]", recorded_label(header, step, index)))
    return tuple(name for label in labels for name in found.get(label, ()))


def marked(view: ErrorView, found: Names, header: RunHeader) -> ErrorView:
    """A failure with the side effects that are unclear of its execution."""
    return replace(view, unclear=of_execution(found, header, view.step, view.index))


def still(view: ErrorView, store: Store, header: RunHeader) -> ErrorView:
    """A failure on record, without the side effects that a person has settled since.

    Args:
        view: the failure.
        store: the store.
        header: of its run.
    """
    return marked(view, in_doubt(store, header), header) if view.unclear else view


def refuse_to_leave_out(
    store: Store, header: RunHeader, hint: str, step: str, indexes: Sequence[int]
) -> None:
    """Have a person say first what became of a side effect: nobody would ask for it again.

    Args:
        store: the store.
        header: of the run.
        hint: the store's folder, where a command has to name it; else empty.
        step: the step.
        indexes: N of each ``STEP[N]`` that is to be left out.

    Raises:
        UsageError: an execution began a side effect whose outcome is unknown.
    """
    found = in_doubt(store, header)
    for index in indexes:
        for name in of_execution(found, header, step, index):
            raise UsageError(
                f"{step}[{index}] began {name}, and nobody knows whether it happened: say first what is so "
                f"with `{resolving(header.run_id[:8], name, hint)}`, then leave it out"
            )


class Marks:
    """Names the side effects without an outcome beside the failures of one life.

    The store is asked again only when another failure has come.

    Args:
        life: the life.
    """

    def __init__(self, life: Life) -> None:
        self._life = life
        self._seen = 0
        self._found: Names = {}

    def on(self, groups: tuple[FailureView, ...]) -> tuple[FailureView, ...]:
        """The failures, marked."""
        count = sum(len(group.errors) for group in groups)
        if count != self._seen:
            self._seen, self._found = count, self._look()
        if not self._found:
            return groups
        header = self._life.header
        return tuple(
            replace(group, errors=tuple(marked(one, self._found, header) for one in group.errors))
            for group in groups
        )

    def of(self, view: ErrorView) -> ErrorView:
        """The failure that ended the life, marked."""
        return marked(view, self._look(), self._life.header)

    def _look(self) -> Names:
        try:
            return in_doubt(self._life.session.store, self._life.header)
        except WfresumeError:
            return {}  # a board goes on without the hint; what acts on a side effect reads it again


Parked = Sequence[tuple[Flight, Exception]]
"""Each execution that was set aside, with its exception."""


def joined(doubts: Sequence[Unclear], more: Sequence[Unclear]) -> list[Unclear]:
    """All of them, each side effect once."""
    return list({one.id: one for one in (*doubts, *more)}.values())


def doubts_of(parked: Parked) -> list[Unclear]:
    """The side effects for which executions were set aside."""
    ended = [one for flight, error in parked if isinstance(error, InDoubt) for one in flight.ended]
    return joined([doubt for one in ended if isinstance(one, Doubt) for doubt in one.doubts], ())


def set_aside_ends(parked: Parked, header: RunHeader) -> tuple[Status, str, Exception | None]:
    """How a run ends of which nothing is left but what was set aside, its sentence, and what it raises.

    Args:
        parked: what was set aside.
        header: the run, with its counts.

    Returns:
        The sentence is empty where the run waits for a person's word: it is made when all is known.
    """
    if doubts_of(parked):
        return "waiting", "", None
    return "failed", words.set_aside(header, len(parked)), parked[0][1]


def waits_for(
    header: RunHeader, doubts: Sequence[Unclear], parked: Parked, questions: Sequence[QuestionView]
) -> str:
    """The sentence of a run that waits for a person.

    Args:
        header: the run, with its counts.
        doubts: side effects of which a person has to say what became of them.
        parked: what was set aside, failures among it.
        questions: what it asks.
    """
    failed = sum(not isinstance(error, InDoubt) for _, error in parked)
    said = [asking(doubts)] if doubts else []
    if questions or not doubts:
        said.append(words.waiting(header, [one.text for one in questions]))
    if doubts and failed:
        said.append(words.set_aside(header, failed))
    return "; ".join(said)


def once_answered(status: Status, ended: bool, doubts: Sequence[Unclear]) -> str:
    """What a board says in the sentence's place once all questions are answered; else empty.

    Args:
        status: of the run.
        ended: its cell has ended.
        doubts: as for `waits_for`.
    """
    if not ended or status != "waiting":
        return ""
    return asking(doubts) if doubts else words.ANSWERED
