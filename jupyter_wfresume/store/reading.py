"""Reads a run's journal up to the first damage, and says what that is."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from .disk import Foreign, Unsound
from .faults import is_damage
from .keys import record_key, records_of, said
from .rows import Row, Rows


@dataclass(frozen=True)
class JournalRead:
    """What could be read of a run's journal.

    Args:
        records: the intact records from 0 on.
        damage: one sentence that says what is damaged and where, or None.
        beyond: how many records lie after the damage.
    """

    records: list[bytes]
    damage: str | None = None
    beyond: int = 0


def read_journal(rows: Rows, run_id: str) -> JournalRead:
    """Return the intact records from 0 on, and what is damaged after them.

    Raises:
        Foreign: a planted row, such as a pickle.
    """
    records: list[bytes] = []
    try:
        for row in rows.between(*records_of(run_id)):
            why = _take(rows, run_id, row, records)
            if why:
                return _broken(rows, run_id, records, why)
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return _read_singly(rows, run_id, records)
    return JournalRead(records)


def _take(rows: Rows, run_id: str, row: Row, records: list[bytes]) -> str | None:
    """Add a row to the records, or say why it does not follow them."""
    expected = record_key(run_id, len(records))
    if row[0] != expected:
        return f"{said(expected)} is missing"
    try:
        records.append(rows.value(row))
    except Foreign as error:
        raise rows.damaged(expected, error) from None
    except Unsound as error:
        return f"{said(expected)} cannot be read: {error.reason}"
    return None


def _read_singly(rows: Rows, run_id: str, records: list[bytes]) -> JournalRead:
    """Go on record by record where the database's damage stops a scan."""
    while True:
        key = record_key(run_id, len(records))
        try:
            row = rows.row(key)
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            why = f"{said(key)} cannot be read: its part of cache.db is damaged"
        else:
            why = f"{said(key)} is missing" if row is None else _take(rows, run_id, row, records) or ""
        if why:
            return _broken(rows, run_id, records, why)


def _broken(rows: Rows, run_id: str, records: list[bytes], why: str) -> JournalRead:
    try:
        beyond = rows.count(record_key(run_id, len(records) + 1), records_of(run_id)[1])
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return JournalRead(records, f"{why}; how many later records follow it cannot be told", 0)
    follow = "1 later record follows it" if beyond == 1 else f"{beyond} later records follow it"
    return JournalRead(records, f"{why}; {follow}", beyond)
