"""Whether an earlier execution's output is right for one that is about to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..engine import Event
from ..journal import Evidence, Proof, inputs_of

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


class Matcher:
    """Matches executions by content: step, code, inputs, and the state they read.

    Args:
        evidence: finished executions of the name.
        codes: digest of each step's code as it is now.
        any_code: accept outputs of code that has changed since.
        trusted: a run whose outputs are accepted whatever their code, or empty.
    """

    def __init__(
        self, evidence: Evidence, codes: Mapping[str, str], any_code: bool, trusted: str = ""
    ) -> None:
        self.evidence = evidence
        self._codes = codes
        self._any_code = any_code
        self._trusted = trusted

    def match(
        self, step: str, events: list[Event], content: Content, taken: set[tuple[str, int]]
    ) -> Proof | Runs:
        """An execution that answers, or why there is none.

        Args:
            step: the step.
            events: its inputs.
            content: the live state.
            taken: executions that have answered others of this run.
        """
        inputs = inputs_of(events)
        if inputs is None:
            return Runs(NOT_COMPARABLE)
        why = Runs(FAILED_BEFORE if self.evidence.failed_before(step, inputs) else NEW_INPUT)
        for proof in self.evidence.find(step, inputs):
            if (proof.run_id, proof.number) in taken:
                continue
            accepted = self._any_code or proof.run_id == self._trusted
            if not accepted and proof.code != self._codes.get(step):
                why = Runs(OTHER_CODE, proof.code)
            elif all(content(path) == seen for path, seen in proof.reads):
                return proof
            else:
                why = Runs(OTHER_STATE)
        return why
