"""Executions of a run, read off its records; no clock, no workflow, no values."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import Any

from .records import ExecutionStatus

Place = tuple[int, int]
"""Where an event is written: number of the record, and index of a result (or -1 - index of a send)."""


@dataclass
class Row:
    """One work item of a step, over all its attempts.

    Args:
        step: the step.
        index: N of ``STEP[N]``.
        status: what became of it.
        started: of the last attempt, seconds since the epoch.
        ended: of the last attempt, seconds since the epoch.
        attempts: how many there were.
        inputs: where its input events are written.
        input_nodes: its input events themselves, where they are written with it.
        outputs: where its output events are written.
        error: the node of its last exception, or None.
        source: the run and the record there that it was answered from, or None.
    """

    step: str
    index: int
    status: ExecutionStatus = "running"
    started: float = 0.0
    ended: float = 0.0
    attempts: int = 0
    inputs: list[Place] = field(default_factory=list)
    input_nodes: list[Any] = field(default_factory=list)
    outputs: list[Place] = field(default_factory=list)
    error: Any = None
    source: tuple[str, int] | None = None


def executions(records: Sequence[dict[str, Any]], left_out: Container[str] = ()) -> list[Row]:
    """The executions that left a record, by step and index, in the order of their first result.

    Args:
        records: a run's records, from the first.
        left_out: failed executions that a person has decided to leave out, such as ``work[37]``.
    """
    rows: dict[tuple[str, int], Row] = {}
    for number, record in enumerate(records):
        if record["k"] in "RF":
            key = (record["s"], record["i"])
            row = rows.setdefault(key, Row(*key))
            _read(row, number, record)
    for row in rows.values():
        if row.status == "failed" and f"{row.step}[{row.index}]" in left_out:
            row.status = "skipped"
    return list(rows.values())


def _read(row: Row, number: int, record: dict[str, Any]) -> None:
    if "sk" in record and row.attempts:
        # Leaving out is no attempt: what its last one raised is still to be seen.
        row.status = "skipped"
        return
    row.attempts += 1
    row.started = record["b"]
    row.ended = record["b"] + record["d"]
    if "u" in record:
        row.source = (record["u"][0], record["u"][1])
    if "in" in record:
        ref = record["in"]
        row.inputs = [_place(one) for one in (ref if not ref or isinstance(ref[0], list) else [ref])]
    row.input_nodes = record.get("ie", [])
    row.outputs = [
        *((number, i) for i, item in enumerate(record["r"]) if item[0] == "r" and item[1] is not None),
        *((number, -1 - send[0]) for send in record.get("n", ())),
    ]
    if "pk" in record:
        row.status, row.error = "failed", record["pk"][0]
        return
    if "sk" in record:
        row.status, row.error = "skipped", None
        return
    failure = next((item for item in record["r"] if item[0] == "x"), None)
    row.error = None if failure is None else failure[1]
    if failure is not None:
        row.status = "failed"
    elif any(item[0] == "w" for item in record["r"]):
        row.status = "waiting"
    else:
        row.status = "done"


def finishes(record: dict[str, Any]) -> bool:
    """Whether a record is of an execution of which nothing is left to do."""
    return record["k"] == "R" and all(item[0] in "rcde" for item in record["r"])


def _place(ref: list[Any]) -> Place:
    return int(ref[0]), int(ref[1])


def node_at(records: Sequence[dict[str, Any]], place: Place) -> Any:
    """The node of the event that is written at a place, or None where there is none."""
    number, index = place
    record = records[number]
    if record["k"] == "A":
        return record["e"]
    if index >= 0:
        return record["r"][index][1]
    return next((send[1] for send in record.get("n", ()) if send[0] == -1 - index), None)
