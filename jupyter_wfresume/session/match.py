"""Whether an earlier execution's output is right for one that is about to run."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..engine import Event, StateModel, TickStepResult
from ..errors import CannotKeepError, JournalError, StoreError
from ..journal import Evidence, Inputs, Proof, TickReader, apply_ops, inputs_of

Content = Callable[[tuple[Any, ...]], "str | None"]
"""Digest of the state at a path, or None where it cannot be compared."""


@dataclass(frozen=True)
class Runs:
    """Why an execution is executed.

    Args:
        reason: one of the kinds below, in words.
        code: digest of the code that a recorded execution on this input had, where that is why.
    """

    reason: str
    code: str = ""


NEW_INPUT = "new input"
FAILED_BEFORE = "failed last time"
OTHER_CODE = "changed"
OTHER_STATE = "reads state that differs"
NOT_COMPARABLE = "an input that cannot be compared"
UNREADABLE = "its recorded output cannot be read"


@dataclass(frozen=True)
class Answer:
    """A recorded execution, its values at hand.

    Args:
        proof: the execution.
        tick: its result.
        streamed: what it put into the stream.
        values: what it put into the state, in the order of its patch.
    """

    proof: Proof
    tick: TickStepResult
    streamed: list[Event]
    values: list[Any]

    def write(self, model: StateModel) -> None:
        """Change a state as the execution did."""
        left = iter(self.values)
        apply_ops(model, self.proof.record.get("st", ()), lambda node: next(left))


@dataclass
class Taken:
    """Recorded executions that have answered others, so that equal ones are counted.

    Args:
        ones: run and number of each.
        known: by step and inputs, how many of the first ones are taken.
    """

    ones: set[tuple[str, int]] = field(default_factory=set)
    known: defaultdict[tuple[str, Inputs], int] = field(default_factory=lambda: defaultdict(int))

    def add(self, proof: Proof) -> None:
        """One has answered."""
        self.ones.add((proof.run_id, proof.number))

    def copy(self) -> Taken:
        """A copy that can be added to."""
        return Taken(set(self.ones), self.known.copy())

    def left(self, step: str, inputs: Inputs, proofs: list[Proof]) -> Iterator[Proof]:
        """Yield those of some proofs that have answered none yet."""
        key, at = (step, inputs), self.known[(step, inputs)]
        while at < len(proofs) and (proofs[at].run_id, proofs[at].number) in self.ones:
            at += 1
        self.known[key] = at
        for each in itertools.islice(proofs, at, None):
            if (each.run_id, each.number) not in self.ones:
                yield each


class Matcher:
    """Matches executions by content: step, code, inputs, and the state they read.

    Args:
        evidence: finished executions of the name.
        reader: makes values of their nodes.
        workflow: the class of the run's workflow.
        codes: digest of each step's code as it is now.
        any_code: accept outputs of code that has changed since.
        trusted: a run whose outputs are accepted whatever their code, or empty.
    """

    def __init__(
        self,
        evidence: Evidence,
        reader: TickReader,
        workflow: str,
        codes: Mapping[str, str],
        any_code: bool,
        trusted: str = "",
    ) -> None:
        self.evidence = evidence
        self._reader = reader
        self._workflow = workflow
        self._codes = codes
        self._any_code = any_code
        self._trusted = trusted

    def match(
        self, step: str, event: Event, events: list[Event], content: Content, taken: Taken
    ) -> Answer | Runs:
        """An execution that answers, or why there is none.

        Args:
            step: the step.
            event: what it is dispatched with.
            events: its inputs.
            content: the live state.
            taken: executions that have answered others; one that is found is added.
        """
        inputs = inputs_of(events)
        if inputs is None:
            return Runs(NOT_COMPARABLE)
        unreadable = False
        while True:
            proof = self.find(step, inputs, content, taken)
            if isinstance(proof, Runs):
                return Runs(UNREADABLE) if unreadable else proof
            found = self._read(proof, event)
            if found is not None:
                return found
            unreadable = True

    def find(self, step: str, inputs: Inputs, content: Content, taken: Taken) -> Proof | Runs:
        """As `match`, by the inputs' digests, and without reading what is on record.

        Args:
            step: the step.
            inputs: sorted digests of its inputs.
            content: the state.
            taken: executions that have answered others; one that is found is added.
        """
        why: Runs | None = None
        left: Iterable[Proof] = taken.left(step, inputs, self.evidence.find(step, inputs))
        if self._any_code:
            left = sorted(left, key=lambda proof: proof.code != self._codes.get(step))
        for proof in left:
            # What stands first is the newest, so its difference is the one to name.
            if not self.accepts(proof):
                why = why or Runs(OTHER_CODE, proof.code)
            elif not all(content(path) == seen for path, seen in proof.reads):
                why = why or Runs(OTHER_STATE)
            else:
                taken.add(proof)
                return proof
        return why or self._without(step, inputs)

    def accepts(self, proof: Proof) -> bool:
        """Whether an execution's code is right: the same, or any, of the same workflow."""
        if proof.code == self._codes.get(proof.record["s"]):
            return True
        return proof.workflow == self._workflow and (self._any_code or proof.run_id == self._trusted)

    def _without(self, step: str, inputs: Inputs) -> Runs:
        """Why an execution runs of whose inputs no finished one is left."""
        if self.evidence.failed_before(step, inputs):
            return Runs(FAILED_BEFORE)
        barred = self.evidence.barred(step, inputs)
        if barred is None or self.evidence.find(step, inputs):
            return Runs(NEW_INPUT)
        return Runs(barred[0]) if barred[1] == self._codes.get(step) else Runs(OTHER_CODE, barred[1])

    def _read(self, proof: Proof, event: Event) -> Answer | None:
        record, reader = proof.record, self._reader
        try:
            tick = reader.result(record, event)
            streamed = [reader.event(node) for node in record.get("p", ())]
            values = [reader.value(node) for op in record.get("st", ()) for node in _nodes(op)]
        except (CannotKeepError, JournalError, StoreError):
            # What cannot be read now proves nothing; it is executed again.
            return None
        made = [
            *(getattr(item, "result", None) for item in tick.result),
            *(sent.event for sent in tick.sends),
        ]
        return Answer(proof, tick, streamed, values) if all(map(_is_whole, made)) else None


def _nodes(op: list[Any]) -> list[Any]:
    if op[0] == "=":
        return [op[2]]
    return list(op[2]) if op[0] == "e" else []


def _is_whole(event: Event | None) -> bool:
    """Whether an event has all that its class, which may have changed, requires."""
    if event is None:
        return True
    fields = type(event).model_fields
    return all(name in event.__dict__ or not each.is_required() for name, each in fields.items())
