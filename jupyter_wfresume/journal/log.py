"""Append records of one run, fenced by its lease; read them back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import DamagedError, StoreFormatError
from ..records import Lease
from ..store import Store
from .blobs import StoreBlobs
from .ticks import Record

FORMAT = 1
"""Version of the records; a journal of a newer one is refused."""


@dataclass(frozen=True)
class History:
    """The intact records of a run.

    Args:
        records: in order, from the first.
        damage: one sentence on what is missing or changed behind them, or None.
        beyond: how many records stand behind the damage.
    """

    records: list[Record]
    damage: str | None = None
    beyond: int = 0


def history(store: Store, run_id: str) -> History:
    """Read a run's records as far as they are intact.

    Raises:
        StoreFormatError: a newer version wrote them.
    """
    found = store.read(run_id)
    records: list[Record] = []
    damage, beyond = found.damage, found.beyond
    for number, data in enumerate(found.records):
        try:
            record = json.loads(data)
        except ValueError as error:
            damage = f"record {number} of run {run_id[:8]} is no JSON: {error}"
            beyond = len(found.records) - number - 1 + found.beyond
            break
        records.append(record)
    if records:
        opening = records[0]
        if opening.get("k") != "O":
            raise DamagedError(f"the journal of run {run_id[:8]} does not begin with its opening record")
        if opening.get("v", 0) > FORMAT:
            raise StoreFormatError(
                f"run {run_id[:8]} was written by a newer jupyter_wfresume (journal format "
                f"{opening['v']}, this one reads {FORMAT}): upgrade jupyter_wfresume"
            )
    for number, record in enumerate(records):
        if "rn" in record:
            records[:number] = with_names(records[:number], record["rn"])
    return History(records, damage, beyond)


def with_names(records: Sequence[Record], names: Mapping[str, str]) -> list[Record]:
    """Records in which steps have other names.

    Args:
        records: a run's, in order.
        names: by name in the records, the name to give.
    """
    if not names:
        return list(records)
    found: list[Record] = []
    for record in records:
        changed: Record = {}
        if record.get("s") in names:
            changed["s"] = names[record["s"]]
        asking, _, waiter = record.get("to", "").partition("/")
        if asking in names:
            changed["to"] = f"{names[asking]}/{waiter}"
        if record["k"] == "L":
            changed |= {key: _renamed(record[key], names) for key in ("code", "w") if key in record}
        if any(send[2] in names for send in record.get("n", ())):
            changed["n"] = [[*send[:2], names.get(send[2], send[2]), *send[3:]] for send in record["n"]]
        found.append({**record, **changed} if changed else record)
    return found


def _renamed(by_step: Any, names: Mapping[str, str]) -> Any:
    return {names.get(step, step): item for step, item in by_step.items()}


class Journal:
    """The end of a run's log, where this process writes.

    Args:
        store: the store.
        run_id: the run.
        lease: the right to write it.
        length: how many records there are.
    """

    def __init__(self, store: Store, run_id: str, lease: Lease, length: int = 0) -> None:
        self.store = store
        self.store_blobs = StoreBlobs(store)
        self.run_id = run_id
        self.lease = lease
        self.length = length

    def append(self, record: Record, header: bytes | None = None) -> int:
        """Write one record, and the header with it; return the record's number.

        Raises:
            StoreError: it is not on disk.
            LeaseError: this process no longer drives the run.
        """
        data = json.dumps(record, separators=(",", ":"), allow_nan=False).encode()
        number = self.length
        self.store.append(self.run_id, number, data, lease=self.lease, header=header)
        self.length = number + 1
        return number
