"""Failed executions that a person leaves out: written down at once; whoever drives the run acts on it."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..journal import Record
from ..projection import executions
from ..records import RunHeader
from ..runtime import Flight
from ..store import Store
from . import words
from .migrating import recorded_label

if TYPE_CHECKING:
    from .life import Life

SKIP = "skip."
"""Entries of a run that name executions to leave out begin so."""


def left_out(store: Store, run_id: str) -> dict[str, float]:
    """The executions that a person decided to leave out, and when, in seconds since the epoch.

    Args:
        store: the store.
        run_id: the run.
    """
    return {slot.removeprefix(SKIP): _at(data) for slot, data in store.notes(run_id, SKIP).items()}


def _at(data: bytes) -> float:
    said = json.loads(data)
    return float(said["at"]) if isinstance(said, dict) else float(said)


def leave_out(store: Store, run_id: str, labels: Sequence[str]) -> None:
    """Write down that executions are left out, because a person said so.

    Args:
        store: the store.
        run_id: the run.
        labels: such as ``work[37]``.

    Raises:
        StoreError: it is not on disk.
    """
    for label in labels:
        store.put_note(run_id, f"{SKIP}{label}", json.dumps({"at": time.time()}).encode())


def take_back(store: Store, run_id: str, labels: Sequence[str]) -> None:
    """Strike out what `leave_out` wrote down."""
    for label in labels:
        store.delete_note(run_id, f"{SKIP}{label}")


def why_not(records: Sequence[Record], step: str, index: int, *, driven: bool) -> str:
    """Why a person cannot leave an execution out, or nothing.

    Args:
        records: of the run.
        step: the step.
        index: N of ``STEP[N]``.
        driven: whether a living process drives the run.
    """
    last = [r for r in records if r["k"] in "RF" and (r["s"], r["i"]) == (step, index)][-1]
    failure = next((item for item in last["r"] if item[0] == "x"), None)
    if "pk" in last or (failure is not None and last["k"] == "F"):
        return ""
    if failure is None:
        return "has not failed"
    if failure[3] is None:
        return "failed, and a step that catches errors took it over"
    return "is tried again just now: stop the run first, or wait for its last attempt" if driven else ""


def pending(store: Store, header: RunHeader, records: Sequence[Record]) -> list[str]:
    """What has failed, and is left out as soon as the run goes on.

    Args:
        store: the store.
        header: the run's.
        records: its records, with the names that its steps have now.
    """
    decided = left_out(store, header.run_id)
    failed = [row for row in executions(records) if row.status == "failed"] if decided else []
    names = {recorded_label(header, row.step, row.index): f"{row.step}[{row.index}]" for row in failed}
    return [label for first, label in names.items() if first in decided or label in decided]


def is_done(records: Sequence[Record], step: str, index: int) -> bool:
    """Whether a run has gone on without an execution.

    Args:
        records: of the run.
        step: the step.
        index: N of ``STEP[N]``.
    """
    return any("sk" in r and (r["s"], r["i"]) == (step, index) for r in records if r["k"] == "R")


class Skips:
    """Brings a person's decisions to a run that is under way.

    Args:
        life: the run's life.
    """

    def __init__(self, life: Life) -> None:
        self._life = life
        self._decided: dict[str, float] = {}

    def knows(self, decided: dict[str, float]) -> None:
        """What was decided before this life began."""
        self._decided = decided

    def at(self, flight: Flight) -> float:
        """When a person decided that an execution is left out, or 0."""
        first = recorded_label(self._life.header, flight.step, flight.index)
        return self._decided.get(flight.label) or self._decided.get(first, 0.0)

    def deliver(self) -> int:
        """Wake what was set aside and is left out by now; return how many.

        Raises:
            StoreError: the store cannot be read.
        """
        drive = self._life.drive
        if not drive.parked or self._life.is_ending:
            return 0
        decided = left_out(self._life.session.store, self._life.header.run_id)
        new = [one for one in drive.parked if one[0].label in decided]
        self._decided = decided
        for one in new:
            drive.parked.remove(one)
            drive.asking.leave_out(one[0], f"{SKIP}{one[0].label}")
        if new:
            self._life.warn(words.left_out([flight.label for flight, _ in new]))
        return len(new)
