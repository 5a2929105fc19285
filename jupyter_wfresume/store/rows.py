"""Reads and writes rows of the one table, through diskcache's own connection.

diskcache's public ``get``, ``set`` and ``transact`` are not enough here, so its ``_con`` is used:
there is no range read, an entry costs 88 us, an interrupt between its ``BEGIN`` and its ``try`` leaves a
transaction open that later ones silently join, and a file whose row was replaced inside ``transact`` is
deleted before the commit. The rows are diskcache's own, and its tools can read them.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import diskcache

from ..errors import DamagedError, StoreError
from .disk import BytesDisk, Foreign, Unsound, seal, unseal
from .folder import open_cache
from .keys import said

R = TypeVar("R")

Row = tuple[str, int, int, str | None, bytes | None]
"""Key, raw flag, mode, file name, value."""

_SELECT = "SELECT key, raw, mode, filename, value FROM Cache WHERE "
_BETWEEN = "key >= ? AND key < ?"
_INSERT = (
    "INSERT INTO Cache (key, raw, store_time, access_count, size, mode, filename, value)"
    " VALUES (?, 1, ?, 0, ?, ?, ?, ?)"
)
_REPLACE = (
    _INSERT + " ON CONFLICT (key, raw) DO UPDATE SET store_time = excluded.store_time, size = excluded.size,"
    " mode = excluded.mode, filename = excluded.filename, value = excluded.value"
)


class _Closer:
    """Closes a thread's connection when the thread ends."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def __del__(self) -> None:
        _shut(self.connection)


def _shut(connection: sqlite3.Connection) -> None:
    # At the interpreter's end the connection may be gone, or belong to a thread that is.
    with contextlib.suppress(sqlite3.Error):
        connection.close()


class Change:
    """One transaction: all of its writes, or none.

    Args:
        rows: where it writes.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._connection = rows.connection()
        self._written: list[str] = []
        self._dropped: list[str] = []

    def run(self, work: Callable[[Change], R]) -> R:
        """Begin, call ``work``, commit, and return its result; what it raises undoes all of it."""
        # In one frame: an interrupt can come before the first line of an `__exit__`, and then nothing is
        # rolled back.
        connection = self._connection
        try:
            if connection.in_transaction:
                # Two interrupts, one of them below.
                connection.rollback()
            connection.execute("BEGIN IMMEDIATE")
            result = work(self)
            connection.execute("COMMIT")
        except BaseException as error:
            # sqlite rolls back by itself on a full disk. Where there is no transaction for another reason, an
            # interrupt came right after the commit, and the files belong to rows.
            undone = connection.in_transaction or isinstance(error, sqlite3.Error)
            if connection.in_transaction:
                connection.rollback()
            self._remove(self._written if undone else self._dropped)
            raise
        self._remove(self._dropped)
        return result

    def _remove(self, names: list[str]) -> None:
        for name in names:
            self._rows.disk.remove(name)

    def put(
        self, key: str, data: bytes, *, replace: bool, sealed: bool = True, at: float | None = None
    ) -> None:
        """Write a row.

        Args:
            key: its key.
            data: its value, before the checksum.
            replace: whether a row of this key may be there.
            sealed: whether a checksum goes before the data.
            at: seconds since the epoch to note with it.
        """
        value = seal(key, data) if sealed else data
        size, mode, name, stored = self._rows.disk.store(value, False, key)
        if name is not None:
            self._written.append(name)
        if replace:
            self._dropped += self._rows.files("key = ?", (key,))
        self._connection.execute(_REPLACE if replace else _INSERT, (key, at, size, mode, name, stored))

    def touch(self, key: str, at: float) -> None:
        """Note a later time with a row."""
        self._connection.execute("UPDATE Cache SET store_time = ? WHERE key = ?", (at, key))

    def drop(self, condition: str, *values: object) -> int:
        """Delete the rows of a condition and return how many; their files go after the commit."""
        self._dropped += self._rows.files(condition, values)
        return self._connection.execute("DELETE FROM Cache WHERE " + condition, values).rowcount


class Rows:
    """The table of one open store.

    Args:
        path: the folder.
        create: whether to create a store where there is none.
        timeout_s: seconds to wait for a lock.
    """

    def __init__(self, path: Path, *, create: bool, timeout_s: float) -> None:
        self.path = path
        self._cache: diskcache.Cache | None = open_cache(path, create=create, timeout_s=timeout_s)
        self.disk: BytesDisk = self._cache.disk
        self._threads = threading.local()
        # A run that is opened and dropped closes nothing by itself; collected in a cycle, the
        # connection could go before what closes it. Not at exit: a forked child would close ours.
        weakref.finalize(self, _shut, self._cache._con).atexit = False
        try:
            self.refuse_foreign_keys()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close this thread's connection, and refuse all further use."""
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def connection(self) -> sqlite3.Connection:
        """Return this thread's connection; diskcache opens a new one after a fork."""
        if self._cache is None:
            raise StoreError(f"the store {self.path} is closed: open it again", self.path)
        connection: sqlite3.Connection = self._cache._con  # why: see the head of this file
        known: _Closer | None = getattr(self._threads, "closer", None)
        if known is None or known.connection is not connection:
            self._threads.closer = _Closer(connection)
        return connection

    def change(self, work: Callable[[Change], R]) -> R:
        """Call ``work`` within a transaction and return its result; not to be nested.

        What ``work`` raises undoes all that it did.
        """
        return Change(self).run(work)

    def change_synced(self, work: Callable[[Change], R]) -> R:
        """As ``change``, and on the disk itself when it returns, not only with the system."""
        connection = self.connection()
        connection.execute("PRAGMA synchronous = FULL")
        try:
            return self.change(work)
        finally:
            connection.execute("PRAGMA synchronous = NORMAL")

    def row(self, key: str) -> Row | None:
        """Return a key's row, not looked into."""
        rows = self.connection().execute(_SELECT + "key = ?", (key,)).fetchall()
        return max(rows, key=lambda row: row[1] != 1) if rows else None

    def has(self, key: str) -> bool:
        """Tell whether a key has a row."""
        return self.connection().execute("SELECT 1 FROM Cache WHERE key = ?", (key,)).fetchone() is not None

    def get(self, key: str) -> bytes | None:
        """Return a key's value, None where it has no row.

        Raises:
            DamagedError: the value is not what was written.
        """
        row = self.row(key)
        return None if row is None else self.named(row)

    def named(self, row: Row) -> bytes:
        """Return a row's value; where it is damaged, the error names what the row stands for."""
        try:
            return self.value(row)
        except Unsound as error:
            raise self.damaged(row[0], error) from None

    def value(self, row: Row, *, sealed: bool = True) -> bytes:
        """Return a row's value.

        Raises:
            Unsound: it is not what was written.
        """
        key, raw, mode, filename, stored = row
        self.disk.get(key, raw)
        data = self.disk.fetch(mode, filename, stored, False)
        if not sealed:
            return data
        try:
            return unseal(key, data)
        except Unsound as error:
            raise Unsound(f"{error.reason} (file {filename})" if filename else error.reason) from None

    def damaged(self, key: object, error: Unsound) -> DamagedError:
        """Return the error that names a row, and for a planted one how to be rid of it."""
        what = said(key) if isinstance(key, str) else f"the entry {key!r:.60}"
        text = f"{what} in the store {self.path} cannot be read: {error.reason}"
        if isinstance(error, Foreign):
            return Foreign(f"{text}; something else wrote into this folder: move it away", self.path)
        return DamagedError(f"{text}; everything else is kept", self.path)

    def between(self, low: str, high: str) -> Iterator[Row]:
        """Read the rows with keys from ``low`` to before ``high``, in order."""
        yield from self.connection().execute(f"{_SELECT}{_BETWEEN} ORDER BY key", (low, high))

    def count(self, low: str, high: str) -> int:
        """Count the rows with keys from ``low`` to before ``high``."""
        found = (
            self.connection().execute(f"SELECT count(*) FROM Cache WHERE {_BETWEEN}", (low, high)).fetchone()
        )
        return int(found[0])

    def sizes(self, low: str, high: str) -> Iterator[tuple[str, int, float | None]]:
        """Read key, size in bytes and noted time of the rows from ``low`` to before ``high``."""
        yield from self.connection().execute(
            f"SELECT key, size + coalesce(length(value), 0), store_time FROM Cache WHERE {_BETWEEN}",
            (low, high),
        )

    def noted(self, key: str) -> float | None:
        """Return the time noted with a row, None where there is no row or no time."""
        found = self.connection().execute("SELECT store_time FROM Cache WHERE key = ?", (key,)).fetchone()
        return found[0] if found and isinstance(found[0], float) else None

    def length(self, row: Row) -> int:
        """Return the length in bytes of a row's value as stored, without reading its file."""
        _key, _raw, _mode, filename, stored = row
        if filename is None:
            return len(stored or b"")
        return self.disk.length(filename)

    def files(self, condition: str, values: tuple[object, ...] = ()) -> list[str]:
        """Return the names of the files of a condition's rows; planted names are left out."""
        query = f"SELECT filename FROM Cache WHERE {condition} AND filename IS NOT NULL"
        return [name for (name,) in self.connection().execute(query, values) if self.disk.owns(name)]

    def refuse_foreign_keys(self) -> None:
        """Refuse a store with keys that are no text, as pickled ones are.

        Raises:
            DamagedError: there is one.
        """
        # sqlite sorts numbers before text and bytes after it, so the index answers without a scan.
        query = "SELECT rowid, key FROM Cache WHERE key >= x'' OR key < '' LIMIT 1"
        for rowid, _key in self.connection().execute(query):
            raise Foreign(
                f"row {rowid} of the store {self.path} has a key that is pickled or no text, which this "
                "package never writes, so it is not opened; something else wrote into this folder: "
                "move it away",
                self.path,
            )
