"""Opens a store's folder: tells a store from other things, repairs its settings, never evicts."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import diskcache

from ..errors import DamagedError, StoreError, StoreFormatError
from .disk import FILE_FROM_BYTES, BytesDisk
from .keys import FORMAT_KEY

FORMAT = 1
"""The version of keys and rows that this package writes; it reads this one and older ones."""

SETTINGS: dict[str, str | int] = {
    **diskcache.DEFAULT_SETTINGS,
    # diskcache's defaults drop the oldest rows, silently, from 1 GiB on.
    "eviction_policy": "none",
    "cull_limit": 0,
    "size_limit": 2**62,
    "disk_min_file_size": FILE_FROM_BYTES,
    "sqlite_journal_mode": "wal",
    "sqlite_synchronous": 1,
    # A file that is cut while it is mapped into memory kills the process that reads it.
    "sqlite_mmap_size": 0,
}
_COUNTERS = ("count", "size", "hits", "misses")
DATABASE = "cache.db"
_IGNORE_FILE = ".gitignore"
_IGNORE_TEXT = "# Runs of jupyter_wfresume: data, not source.\n*\n"


def open_cache(path: Path, *, create: bool, timeout_s: float) -> diskcache.Cache:
    """Open the folder's cache, or create it where the folder is empty or missing.

    Args:
        path: the folder, absolute.
        create: whether to create a store where there is none.
        timeout_s: seconds to wait for a lock.

    Raises:
        StoreFormatError: the folder holds other things, or was written by a newer version.
        DamagedError: it was a store, and its database is missing or empty.
    """
    was_store = _look_at_folder(path, create)
    with _database(path, timeout_s) as connection:
        _look_at_database(connection, path, was_store)
        _repair_settings(connection)
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) != 0o700:
        path.chmod(0o700)
    # Made in two steps, so that a failure on the way does not leave its connection open.
    cache = diskcache.Cache.__new__(diskcache.Cache)
    try:
        cache.__init__(str(path), timeout=timeout_s, disk=BytesDisk, **SETTINGS)
        _finish(cache, path, was_store)
    except BaseException:
        cache.close()
        raise
    return cache


def _finish(cache: diskcache.Cache, path: Path, was_store: bool) -> None:
    if Path(cache.directory) != path:
        raise StoreError(
            f"the name of the folder {path} holds a $ or ~ that would be expanded: rename it", path
        )
    if (cache.eviction_policy, cache.cull_limit) != ("none", 0):
        raise StoreError(
            f"the store {path} could not be kept from dropping old runs; nothing was written", path
        )
    cache._con.execute(  # the row must be text for every version to come, outside the seals of this one
        "INSERT OR IGNORE INTO Cache (key, raw, mode, value) VALUES (?, 1, 1, ?)",
        (FORMAT_KEY, str(FORMAT).encode()),
    )
    if not was_store:
        # Written last: from here on, a folder without a readable database is a damaged store, not a new one.
        (path / _IGNORE_FILE).write_text(_IGNORE_TEXT, encoding="utf-8")


def _look_at_folder(path: Path, create: bool) -> bool:
    """Return whether a store was completed here before."""
    if not path.exists():
        if not create:
            raise StoreError(
                f"there is no store at {path}: check the folder, or run a %%wfrun cell first", path
            )
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.is_dir():
        raise StoreFormatError(f"{path} is a file, not a folder: choose another --store", path)
    was_store = _is_ours(path / _IGNORE_FILE)
    names = {entry.name for entry in path.iterdir()}
    database = path / DATABASE
    if was_store and (DATABASE not in names or not database.stat().st_size):
        state = "empty" if DATABASE in names else "missing"
        raise DamagedError(
            f"the store {path} is damaged: its database {DATABASE} is {state}; "
            "restore it from a copy, or move the folder away to start a new one",
            path,
        )
    others = sorted(name for name in names if not name.startswith((".", DATABASE)))
    if DATABASE not in names and others:
        raise StoreFormatError(
            f"{path} is no store and holds other files ({others[0]}): "
            "choose an empty or new folder with --store",
            path,
        )
    if DATABASE not in names and not create:
        raise StoreError(f"there is no store at {path}: check the folder, or run a %%wfrun cell first", path)
    return was_store


def _is_ours(ignore_file: Path) -> bool:
    try:
        return ignore_file.read_text(encoding="utf-8") == _IGNORE_TEXT
    except (FileNotFoundError, UnicodeDecodeError):
        return False


@contextlib.contextmanager
def _database(path: Path, timeout_s: float) -> Iterator[sqlite3.Connection]:
    """Hold the write lock, so that a locked store is told in time.

    diskcache itself retries for a fixed 60 s while it opens.
    """
    connection = sqlite3.connect(path / DATABASE, timeout=timeout_s, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("COMMIT")
    finally:
        connection.close()


def _look_at_database(connection: sqlite3.Connection, path: Path, was_store: bool) -> None:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    rows = []
    if "Cache" in tables:
        rows = connection.execute(
            "SELECT value FROM Cache WHERE key = ? AND raw = 1", (FORMAT_KEY,)
        ).fetchall()
    if rows:
        _check_format(rows[0][0], path)
        return
    if was_store:
        raise DamagedError(
            f"the store {path} is damaged: its format entry is gone; "
            "restore it from a copy, or move the folder away to start a new one",
            path,
        )
    holds_rows = "Cache" in tables and connection.execute("SELECT 1 FROM Cache LIMIT 1").fetchone()
    if holds_rows or not tables <= {"Cache", "Settings"}:
        raise StoreFormatError(
            f"{path} holds a cache or database of something else: choose an empty or new folder with --store",
            path,
        )


def _check_format(value: object, path: Path) -> None:
    if not isinstance(value, bytes) or not value.isdigit():
        raise DamagedError(
            f"the store {path} is damaged: its format entry is no number; restore it from a copy", path
        )
    if int(value) > FORMAT:
        raise StoreFormatError(
            f"the store {path} was written by a newer version (format {int(value)}, this one reads up to "
            f"{FORMAT}): update jupyter_wfresume, or choose another --store",
            path,
        )


def _repair_settings(connection: sqlite3.Connection) -> None:
    """Set the settings right before diskcache reads them, and drop those that it does not know.

    It makes each row of the table an attribute of the cache, a pragma or an argument of the disk.
    """
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'Settings'").fetchone():
        return
    known = (*SETTINGS, *_COUNTERS)
    marks = ", ".join("?" * len(known))
    connection.execute(f"DELETE FROM Settings WHERE key NOT IN ({marks})", known)
    for name, value in SETTINGS.items():
        connection.execute("UPDATE Settings SET value = ? WHERE key = ?", (value, name))
    connection.execute("DELETE FROM Settings WHERE key IN ('count', 'size') AND typeof(value) != 'integer'")
