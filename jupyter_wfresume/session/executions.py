"""A recorded execution, its values read when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..codec import Blobs, decode
from ..effects import telling
from ..engine import Workflow
from ..errors import UsageError
from ..journal import FindClass, Record
from ..projection import Row, node_at
from ..records import ExecutionStatus
from ..replay import Edit, Replayed

Replayer = Callable[[str, int, "Edit | None", bool, "Workflow | None"], Any]
"""Replays ``STEP[N]`` with an edit, or goes on from it."""


class Unkept:
    """Stands where an event could not be written down.

    Args:
        said: module and qualified name of the event's class, the path in it and
            the type there that stood in the way.
    """

    def __init__(self, said: list[str]) -> None:
        self.module, self.qualname, self.path, self.type_name = said

    def __repr__(self) -> str:
        return f"<{self.qualname} that could not be kept: {self.path} is a {self.type_name}>"


class Execution:
    """One work item of a step as the journal has it.

    Args:
        row: what the records say of it.
        records: the run's records.
        blobs: where large values are.
        find_class: asked first for each class.
        replayer: replays it, or goes on from it.
    """

    def __init__(
        self, row: Row, records: list[Record], blobs: Blobs, find_class: FindClass, replayer: Replayer
    ) -> None:
        self._replayer = replayer
        self._row = row
        self._records = records
        self._blobs = blobs
        self._find_class = find_class

    @property
    def step(self) -> str:
        """The step."""
        return self._row.step

    @property
    def index(self) -> int:
        """N of ``STEP[N]``."""
        return self._row.index

    @property
    def status(self) -> ExecutionStatus:
        """What became of it."""
        return self._row.status

    @property
    def started(self) -> float:
        """When its last attempt began, seconds since the epoch."""
        return self._row.started

    @property
    def ended(self) -> float:
        """When its last attempt ended, seconds since the epoch."""
        return self._row.ended

    @property
    def attempts(self) -> int:
        """How many attempts left a result."""
        return self._row.attempts

    @property
    def reused(self) -> bool:
        """Whether it was answered from another run."""
        return self._row.source is not None

    @property
    def source(self) -> tuple[str, int] | None:
        """The run, and the record there, that it was answered from, or None."""
        return self._row.source

    @property
    def input(self) -> Any:
        """The event it received; a list for a fan-in.

        Raises:
            MissingClassError: a class is not defined here.
        """
        nodes = self._row.input_nodes or [node_at(self._records, place) for place in self._row.inputs]
        values = [self._value(node) for node in nodes]
        return values[0] if len(values) == 1 else values

    @property
    def output(self) -> Any:
        """The event it returned or sent, a list where there are several, None where there is none.

        Raises:
            MissingClassError: a class is not defined here.
        """
        values = [self._value(node_at(self._records, place)) for place in self._row.outputs]
        if not values:
            return None
        return values[0] if len(values) == 1 else values

    @property
    def error(self) -> Any:
        """The exception of its last attempt, or None; its text where its type could not be kept."""
        node = self._row.error
        if isinstance(node, dict) and "said" in node:
            name, text = node["said"]
            return f"{name}: {text}"
        return None if node is None else self._value(node)

    def replay(
        self,
        edit: Edit | None = None,
        *,
        continue_: bool = False,
        workflow: Workflow | None = None,
        effects: bool = False,
    ) -> Any:
        """Execute it again, alone, with today's code; or go on from it in a new run.

        Args:
            edit: what to change of its input: a function of the event (of the list,
                for a fan-in) that changes it or returns another, fields, or an event.
            continue_: make a new run that reuses all that the edit does not reach.
            workflow: an instance of the workflow; None looks for one.
            effects: really do its side effects, and record nothing of them; else
                they give their recorded receipts.

        Returns:
            What came of it beside what is on record; or the new run's result.

        Raises:
            UsageError: the edit does not fit, or its input was not kept.
            MissingClassError: a class is not defined here.
        """
        with telling(effects) as did:
            done = self._replayer(self.step, self.index, edit, continue_, workflow)
        if isinstance(done, Replayed):
            done.did_effects = bool(did)
        return done

    def _value(self, node: Any) -> Any:
        if isinstance(node, dict) and "lost" in node:
            return Unkept(node["lost"])
        return decode(node, self._blobs, self._find_class)

    def __repr__(self) -> str:
        seconds = max(0.0, self.ended - self.started)
        return f"<{self.step}[{self.index}] {self.status}, {seconds:.1f} s>"


def executions_of(
    rows: Sequence[Row], records: list[Record], blobs: Blobs, find_class: FindClass, replayer: Replayer
) -> list[Execution]:
    """The executions of a run that left a record."""
    return [Execution(row, records, blobs, find_class, replayer) for row in rows]


def execution_of(found: list[Execution], step: str, index: int) -> Execution:
    """``STEP[N]``.

    Raises:
        UsageError: there is none.
    """
    for one in found:
        if one.step == step and one.index == index:
            return one
    steps = sorted({one.step for one in found})
    if step not in steps:
        raise UsageError(f"no step '{step}' in this run; recorded steps: {', '.join(steps) or 'none'}")
    known = [one.index for one in found if one.step == step]
    raise UsageError(f"no {step}[{index}] in this run; recorded are {min(known)} to {max(known)}")
