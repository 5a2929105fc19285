"""Saves from a damaged store what can still be read, into a new one."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import StoreError
from .disk import BytesDisk, Unsound, unseal
from .faults import sentence
from .folder import DATABASE
from .keys import BLOBS, FORMAT_KEY, said
from .rows import Change, Rows

_PAGE = 4096
_BATCH = 1000
_FAR = 20_000
"""How many row numbers behind the last readable one are tried where the highest is not known."""


FoundRow = tuple[object, object, object, object, object]
"""Key, raw flag, mode, file name and value, any of them damaged."""


@dataclass(frozen=True)
class Rescued:
    """What a rescue did.

    Args:
        kept: how many rows (headers, records, values, entries, leases) are in the new store.
        lost: one sentence for each row that was there and cannot be trusted, such as a value with a missing
            file. Rows on lost pages have no name; a journal's gaps tell of them when it is read.
    """

    kept: int
    lost: tuple[str, ...]


def rescue(path: str | Path, into: str | Path, *, timeout_s: float = 30.0) -> Rescued:
    """Copy all that can be read from a damaged store into a new one; the damaged one is not changed.

    Args:
        path: the damaged store's folder.
        into: a missing or empty folder for the new store.
        timeout_s: seconds to wait for a lock.

    Raises:
        StoreError: ``into`` is not empty, or one of the folders cannot be read or written.
    """
    old, new = Path(path).absolute(), Path(into).absolute()
    if new.exists() and any(new.iterdir()):
        raise StoreError(f"{new} is not empty: choose a new folder to save the store {old} into", new)
    try:
        rows = Rows(new, create=True, timeout_s=timeout_s)
        rows.close()  # the last to close writes all of it into one file, whose first page is needed
        with tempfile.TemporaryDirectory(dir=new, prefix=".rescue-") as work:
            found = list(_readable(_copy(old, new / DATABASE, Path(work))))
        return _write(found, BytesDisk(str(old)), Rows(new, create=False, timeout_s=timeout_s))
    except (sqlite3.Error, OSError) as error:
        raise sentence(error, new, timeout_s) from error


def _copy(old: Path, whole: Path, work: Path) -> Path:
    """Copy the damaged database and mend what sqlite needs to look into it at all."""
    for name in (DATABASE, f"{DATABASE}-wal"):
        if (old / name).exists():
            shutil.copyfile(old / name, work / name)
    copy = work / DATABASE
    pages = copy.stat().st_size // _PAGE
    with open(copy, "r+b") as file:
        file.truncate(max(pages, 1) * _PAGE)
        first = bytearray(file.read(_PAGE))
        if not _has_tables(bytes(first)):
            # All stores are made by the same statements, so a whole one's first page fits.
            first = bytearray(whole.read_bytes()[:_PAGE])
        # File format of sqlite, "The Database Header": a cut file must not claim its former length.
        first[28:32] = max(pages, 1).to_bytes(4, "big")
        first[92:96] = first[24:28]
        file.seek(0)
        file.write(first)
    return copy


def _has_tables(first: bytes) -> bool:
    return first.startswith(b"SQLite format 3\0") and b"CREATE TABLE Cache" in first


def _readable(database: Path) -> Iterator[FoundRow]:
    """Read row after row, and step over those on lost pages."""
    connection = sqlite3.connect(database, isolation_level=None)
    try:
        at, top = 0, _highest(connection)
        end = _FAR if top is None else top
        while at <= end:
            query = "SELECT rowid, key, raw, mode, filename, value FROM Cache WHERE rowid >= ? ORDER BY rowid"
            try:
                for number, *row in connection.execute(query, (at,)):
                    at = number + 1
                    end = at + _FAR if top is None else top
                    yield row[0], row[1], row[2], row[3], row[4]
                return
            except sqlite3.DatabaseError:
                at += 1
    finally:
        connection.close()


def _highest(connection: sqlite3.Connection) -> int | None:
    # The table knows it from its last page, an index from all of its own pages.
    for place in ("", " INDEXED BY Cache_key_raw", " INDEXED BY Cache_expire_time"):
        with contextlib.suppress(sqlite3.DatabaseError):
            return int(connection.execute(f"SELECT max(rowid) FROM Cache{place}").fetchone()[0] or 0)
    return None


def _write(found: list[FoundRow], disk: BytesDisk, rows: Rows) -> Rescued:
    lost: list[str] = []
    whole: dict[str, bytes] = {}
    for row in found:
        if row[0] == FORMAT_KEY:
            continue
        try:
            key = disk.get(row[0], row[1])
            data = disk.fetch(row[2], row[3], row[4], False)
            whole[key] = data if _is_blob(key) else unseal(key, data)
        except Unsound as error:
            what = said(row[0]) if isinstance(row[0], str) else "an entry with a key that is no text"
            lost.append(f"{what} is lost: {error.reason}")
    keys, now = sorted(whole), time.time()
    try:
        for start in range(0, len(keys), _BATCH):
            batch = keys[start : start + _BATCH]

            def write(change: Change, batch: list[str] = batch) -> None:
                for key in batch:
                    at = now if _is_blob(key) else None
                    change.put(key, whole[key], replace=True, sealed=not _is_blob(key), at=at)

            rows.change(write)
    finally:
        rows.close()
    return Rescued(len(whole), tuple(lost))


def _is_blob(key: str) -> bool:
    return BLOBS[0] <= key < BLOBS[1]
