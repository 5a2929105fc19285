"""Several executions at once: which are meant, and which differ between two runs."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from ..errors import UsageError
from ..journal import Record, TickReader, inputs_of
from ..projection import Row, executions, node_at
from .outcome import Outcome, compare
from .recorded import lost_event
from .words import Difference

_NAMED = re.compile(r"(?P<step>\w+)(?:\[(?P<which>[^\]]*)\])?")
Inputs = tuple[str, ...]
_STATUSES = ("done", "failed", "waiting")


def choose(records: list[Record], text: str) -> list[tuple[str, int]]:
    """The executions that ``work[3,17,40:45]``, ``work[failed]`` or ``work`` (all of it) name, by index.

    A range ends before its second number, as in Python.

    Args:
        records: a run's records, from the first.
        text: what was typed.

    Raises:
        UsageError: it names none, or cannot be read.
    """
    typed = _NAMED.fullmatch(text.replace(" ", ""))
    if typed is None:
        raise UsageError(f"'{text}' names no execution: write work[17], work[3,17,40:45] or work[failed]")
    step, which = typed["step"], typed["which"]
    rows = {row.index: row for row in executions(records) if row.step == step}
    if not rows:
        steps = ", ".join(sorted({row.step for row in executions(records)})) or "none"
        raise UsageError(f"no step '{step}' in this run; recorded steps: {steps}")
    if which is None:
        return [(step, index) for index in sorted(rows)]
    found: set[int] = set()
    for part in which.split(","):
        found |= _part(part, rows, text)
    return [(step, index) for index in sorted(found)]


def _part(part: str, rows: dict[int, Row], text: str) -> set[int]:
    first, last = min(rows), max(rows)
    if part in _STATUSES:
        found = {index for index, row in rows.items() if row.status == part}
        if not found:
            raise UsageError(f"{text}: none of its executions is {part}")
        return found
    if part.isdigit():
        if int(part) not in rows:
            raise UsageError(f"{text}: there is no {part}; recorded are {first} to {last}")
        return {int(part)}
    begin, colon, end = part.partition(":")
    if not colon or not (begin + end).isdigit():
        raise UsageError(f"{text}: '{part}' is no number, no range such as 40:45, and none of {_STATUSES}")
    chosen = {i for i in rows if int(begin or 0) <= i < int(end or last + 1)}
    if not chosen:
        raise UsageError(f"{text}: nothing is in {part}; recorded are {first} to {last}")
    return chosen


@dataclass(frozen=True)
class Pair:
    """An execution in one run and its like in another, where they differ.

    Args:
        step: the step.
        old: its index in the one run, None where it is not there.
        new: its index in the other, None where it is not there.
        same_input: both had the same input, as far as it was kept.
        differences: in what came of them.
    """

    step: str
    old: int | None
    new: int | None
    same_input: bool = False
    differences: list[Difference] = field(default_factory=list)


class _Side:
    """One of two runs."""

    def __init__(self, records: list[Record], reader: TickReader) -> None:
        self._records = records
        self._reader = reader
        self.rows: dict[str, list[Row]] = defaultdict(list)
        for row in sorted(executions(records), key=lambda row: row.index):
            self.rows[row.step].append(row)

    def key(self, row: Row) -> Inputs | None:
        """What tells its input apart; None where that was not kept."""
        nodes = row.input_nodes or [node_at(self._records, place) for place in row.inputs]
        if any(node is None or lost_event(node) is not None for node in nodes):
            return None
        return inputs_of([self._reader.event(node) for node in nodes])

    def outcome(self, row: Row) -> Outcome:
        """What came of an execution."""
        nodes = [node_at(self._records, place) for place in row.outputs]
        output: list[Any] = [lost_event(node) or self._reader.event(node) for node in nodes]
        error = None if row.error is None else self._reader.exception(row.error)
        return Outcome(output, error, row.status == "waiting")


def compare_runs(
    old: list[Record], old_reader: TickReader, new: list[Record], new_reader: TickReader
) -> list[Pair]:
    """Which executions differ between two runs, and how; equal ones are left out.

    Executions of the same input belong together, whatever their index; what is
    left of a step is paired in the order of its indexes.

    Args:
        old: the records of one run.
        old_reader: makes values of their nodes.
        new: the records of the other.
        new_reader: makes values of theirs.

    Raises:
        MissingClassError: a class is not defined in this kernel.
    """
    left, right = _Side(old, old_reader), _Side(new, new_reader)
    found: list[Pair] = []
    for step in {**left.rows, **right.rows}:
        found += _step(step, left, right)
    return found


def _step(step: str, left: _Side, right: _Side) -> list[Pair]:
    """The pairs of one step that differ."""
    by_input: dict[Inputs | None, list[Row]] = defaultdict(list)
    for row in right.rows[step]:
        by_input[right.key(row)].append(row)
    # Of what was not kept nothing says that it differs; it is paired by index.
    unknown = by_input.pop(None, [])
    found: list[Pair] = []
    alone: list[tuple[Row | None, bool]] = []
    for row in left.rows[step]:
        key = left.key(row)
        if by_input.get(key):
            found.append(_pair(step, row, by_input[key].pop(0), True, left, right))
        else:
            alone.append((row, key is None))
    rest = [(row, False) for rows in by_input.values() for row in rows] + [(row, True) for row in unknown]
    rest.sort(key=lambda one: one[0].index)
    nothing: tuple[None, bool] = (None, False)
    for (a, lost_a), (b, lost_b) in zip_longest(alone, rest, fillvalue=nothing):
        found.append(_pair(step, a, b, lost_a or lost_b, left, right))
    return [pair for pair in found if pair.differences or not pair.same_input]


def _pair(step: str, a: Row | None, b: Row | None, same: bool, left: _Side, right: _Side) -> Pair:
    if a is None or b is None:
        return Pair(step, None if a is None else a.index, None if b is None else b.index)
    return Pair(step, a.index, b.index, same, compare(left.outcome(a), right.outcome(b)))
