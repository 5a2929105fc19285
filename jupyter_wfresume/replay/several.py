"""Several executions at once: which are meant, and which differ between two runs."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import UsageError
from ..journal import Record, TickReader, inputs_of
from ..projection import Row, executions, node_at
from .outcome import Outcome, compare
from .recorded import lost_event
from .words import Difference

_NAMED = re.compile(r"(?P<step>\w+)(?:\[(?P<which>[^\]]*)\])?")
Inputs = tuple[str, ...]
_STATUSES = ("done", "failed", "waiting", "skipped")
_RARE = 8
"""A part of an input that more executions share does not tell that two of them belong together."""


def choose(records: list[Record], text: str, left_out: Container[str] = ()) -> list[tuple[str, int]]:
    """The executions that ``work[3,17,40:45]``, ``work[failed]`` or ``work`` (all of it) name, by index.

    A range ends before its second number, as in Python.

    Args:
        records: a run's records, from the first.
        text: what was typed.
        left_out: failed executions that a person has decided to leave out.

    Raises:
        UsageError: it names none, or cannot be read.
    """
    typed = _NAMED.fullmatch(text.replace(" ", ""))
    if typed is None:
        raise UsageError(f"'{text}' names no execution: write work[17], work[3,17,40:45] or work[failed]")
    step, which = typed["step"], typed["which"]
    known = executions(records, left_out)
    rows = {row.index: row for row in known if row.step == step}
    if not rows:
        steps = ", ".join(sorted({row.step for row in known})) or "none"
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
        words = ", ".join(_STATUSES)
        raise UsageError(f"{text}: '{part}' is no number, no range such as 40:45, and none of {words}")
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

    def parts(self, row: Row) -> frozenset[str]:
        """The fields of its input, by name and content; none for a fan-in's list."""
        nodes = row.input_nodes or [node_at(self._records, place) for place in row.inputs]
        if len(nodes) != 1 or not isinstance(nodes[0], dict) or lost_event(nodes[0]) is not None:
            return frozenset()
        private = nodes[0].get("p") or {}
        fields = {**nodes[0].get("d", {}), **(private.get("_data") or {})}
        return frozenset(f"{name}={json.dumps(value, sort_keys=True)}" for name, value in fields.items())

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

    Executions of the same input belong together, whatever their index; then those
    whose inputs have a field in common that few others have; then those of one index.

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
    alone: list[Row] = []
    for row in left.rows[step]:
        key = left.key(row)
        if key is not None and by_input.get(key):
            found.append(_pair(step, row, by_input[key].pop(0), True, left, right))
        else:
            alone.append(row)
    rest = sorted([row for rows in by_input.values() for row in rows] + unknown, key=lambda row: row.index)
    for a, b in _together(alone, rest, left, right):
        unsure = any(row is not None and side.key(row) is None for row, side in ((a, left), (b, right)))
        found.append(_pair(step, a, b, unsure, left, right))
    return [pair for pair in found if pair.differences or not pair.same_input]


def _together(
    old: Sequence[Row], new: Sequence[Row], left: _Side, right: _Side
) -> list[tuple[Row | None, Row | None]]:
    """Rows of two runs whose inputs differ, those together that are most likely one work item."""
    owners: dict[str, list[int]] = defaultdict(list)
    for at, row in enumerate(new):
        for part in right.parts(row):
            owners[part].append(at)
    partner: dict[int, Row] = {}
    for row in old:
        score: Counter[int] = Counter()
        for part in left.parts(row):
            if len(owners.get(part, ())) <= _RARE:
                score.update(at for at in owners.get(part, ()) if at not in partner)
        if score:
            partner[score.most_common(1)[0][0]] = row
    met = {id(row) for row in partner.values()}
    by_index = {row.index: row for row in old if id(row) not in met}
    for at, row in enumerate(new):
        if at not in partner and row.index in by_index:
            partner[at] = by_index.pop(row.index)
    pairs: list[tuple[Row | None, Row | None]] = [(partner.get(at), row) for at, row in enumerate(new)]
    return [*pairs, *((row, None) for row in by_index.values())]


def _pair(step: str, a: Row | None, b: Row | None, same: bool, left: _Side, right: _Side) -> Pair:
    if a is None or b is None:
        return Pair(step, None if a is None else a.index, None if b is None else b.index)
    return Pair(step, a.index, b.index, same, compare(left.outcome(a), right.outcome(b)))
