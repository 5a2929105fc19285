"""The store: runs, journals, values and leases of one folder, as bytes."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path

from ..errors import DamagedError, StoreError
from ..records import Lease, Owner
from . import leases
from .blobs import Blobs
from .disk import Foreign, Unsound
from .faults import plainly, sentence
from .keys import (
    HEADERS,
    header_key,
    lease_key,
    note_key,
    notes_of,
    record_key,
    records_of,
    said,
    shown,
)
from .reading import JournalRead, read_journal
from .rows import Change, Row, Rows


class Store:
    """One folder of runs. Threads share it; processes open it each for themselves.

    What a call wrote survives the kill of the process. A power cut may take its last
    moments, never the whole.

    All methods raise ``StoreError`` for a locked or read-only store and a full disk, and ``DamagedError`` for
    what was changed, cut off or planted from outside. Times are seconds since the epoch.
    """

    def __init__(self, rows: Rows, timeout_s: float) -> None:
        self.path = rows.path
        self.timeout_s = timeout_s
        self._rows = rows
        self._blobs = Blobs(rows)

    @classmethod
    def open(cls, path: str | Path, *, create: bool = True, timeout_s: float = 30.0) -> Store:
        """Open a folder as a store.

        Args:
            path: the folder; ``~`` and ``$NAME`` are expanded.
            create: whether to create a store in a missing or empty folder.
            timeout_s: seconds to wait for a lock of another process.

        Raises:
            StoreFormatError: the folder holds other things, or a newer version wrote it.
            StoreError: there is no store and ``create`` is off, or it cannot be opened.
        """
        folder = Path(os.path.abspath(os.path.expandvars(os.path.expanduser(path))))
        try:
            rows = Rows(folder, create=create, timeout_s=timeout_s)
        except (sqlite3.Error, OSError) as error:
            raise sentence(error, folder, timeout_s) from error
        return cls(rows, timeout_s)

    def close(self) -> None:
        """Close the store; further calls raise ``StoreError``."""
        self._rows.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # Runs

    @plainly
    def put_run(self, run_id: str, header: bytes, *, lease: Lease | None = None) -> None:
        """Write a run's header, with a lease only while that is held.

        Raises:
            LeaseError: another process drives the run.
        """

        def write(change: Change) -> None:
            if lease is not None:
                leases.check(self._rows, lease)
            change.put(header_key(run_id), header, replace=True)

        self._rows.change(write)

    @plainly
    def get_run(self, run_id: str) -> bytes | None:
        """Return a run's header, None where there is no such run."""
        return self._rows.get(header_key(run_id))

    @plainly
    def runs(self) -> list[tuple[str, bytes]]:
        """Return id and header of all runs, by id; damaged headers are left to ``damaged_runs``."""
        return [(run_id, header) for run_id, header in self._headers() if isinstance(header, bytes)]

    @plainly
    def damaged_runs(self) -> list[tuple[str, str]]:
        """Return id and one sentence for each run whose header cannot be read."""
        return [(run_id, str(header)) for run_id, header in self._headers() if not isinstance(header, bytes)]

    def _headers(self) -> Iterator[tuple[str, bytes | DamagedError]]:
        self._rows.refuse_foreign_keys()
        for row in self._rows.between(*HEADERS):
            try:
                yield row[0][1:], self._rows.value(row)
            except Foreign as error:
                raise self._rows.damaged(row[0], error) from None
            except Unsound as error:
                yield row[0][1:], self._rows.damaged(row[0], error)

    # Journal

    @plainly
    def append(
        self, run_id: str, number: int, record: bytes, *, lease: Lease, header: bytes | None = None
    ) -> None:
        """Write the next record, and the header if given, in one transaction.

        Raises:
            LeaseError: the lease is no longer held.
            StoreError: the number is taken, or is not the next one.
        """
        self._append(run_id, number, (record,), lease, header)

    @plainly
    def append_many(
        self,
        run_id: str,
        first_number: int,
        records: Sequence[bytes],
        *,
        lease: Lease,
        header: bytes | None = None,
    ) -> None:
        """Write the next records, and the header if given, in one transaction; raises as ``append`` does."""
        self._append(run_id, first_number, records, lease, header)

    def _append(
        self, run_id: str, first: int, records: Sequence[bytes], lease: Lease, header: bytes | None
    ) -> None:
        def write(change: Change) -> None:
            leases.check(self._rows, lease)
            if first and not self._rows.has(record_key(run_id, first - 1)):
                raise StoreError(
                    f"record {first} of run {shown(run_id)} cannot be written: record {first - 1} is not in "
                    f"the store {self.path}; run the cell again",
                    self.path,
                )
            for number, record in enumerate(records, first):
                key = record_key(run_id, number)
                try:
                    change.put(key, record, replace=False)
                except sqlite3.IntegrityError:
                    raise StoreError(
                        f"{said(key)} is already in the store {self.path}, and records are never "
                        "overwritten; run the cell again",
                        self.path,
                    ) from None
            if header is not None:
                change.put(header_key(run_id), header, replace=True)

        self._rows.change(write)

    @plainly
    def read(self, run_id: str) -> JournalRead:
        """Return the intact records from 0 on, and what is damaged after them.

        Raises:
            DamagedError: a planted row, such as a pickle.
        """
        return read_journal(self._rows, run_id)

    @plainly
    def cut(self, run_id: str, number: int, *, lease: Lease) -> int:
        """Delete the records from ``number`` on and return how many there were.

        Raises:
            LeaseError: the lease is no longer held.
        """

        def write(change: Change) -> int:
            leases.check(self._rows, lease)
            return change.drop("key >= ? AND key < ?", record_key(run_id, number), records_of(run_id)[1])

        return self._rows.change(write)

    # Content-addressed values

    @plainly
    def put_blob(self, data: bytes) -> str:
        """Keep a value under its digest, which is returned; a damaged copy is replaced."""
        return self._blobs.put(data)

    @plainly
    def get_blob(self, digest: str) -> bytes:
        """Return the value of a digest.

        Raises:
            DamagedError: it is missing or does not match its digest.
        """
        return self._blobs.get(digest)

    @plainly
    def sweep_blobs(self, used: Collection[str], *, before: float | None = None) -> int:
        """Delete the values that are not used, and return the bytes freed.

        Args:
            used: digests to keep.
            before: when ``used`` began to be collected. Values that were written since, or shortly before,
                stay: another kernel may be about to write the record that uses them.
        """
        return self._blobs.sweep(used, before)

    # Side entries of a run

    @plainly
    def put_note(self, run_id: str, slot: str, data: bytes) -> None:
        """Write a small entry beside a run's journal, such as a person's answer; no lease is needed."""
        self._rows.change(lambda change: change.put(note_key(run_id, slot), data, replace=True))

    @plainly
    def swap_note(
        self, run_id: str, slot: str, data: bytes, *, seen: bytes | None, lease: Lease | None = None
    ) -> bool:
        """Write an entry unless somebody has changed it; a power cut does not take it back.

        Args:
            run_id: the run, or what else the entry is kept under.
            slot: the entry.
            data: what to write.
            seen: what was there, None for nothing.
            lease: written only while this is held; None where no run's right is needed.

        Returns:
            Whether it was written.

        Raises:
            LeaseError: the lease is no longer held.
        """
        key = note_key(run_id, slot)

        def write(change: Change) -> bool:
            if lease is not None:
                leases.check(self._rows, lease)
            if self._rows.get(key) != seen:
                return False
            change.put(key, data, replace=True)
            return True

        return self._rows.change_synced(write)

    @plainly
    def note(self, run_id: str, slot: str) -> bytes | None:
        """Return one entry, None where there is none."""
        return self._rows.get(note_key(run_id, slot))

    @plainly
    def notes(self, run_id: str, prefix: str = "") -> dict[str, bytes]:
        """Return a run's entries by slot, those whose slot begins with ``prefix``."""
        low, high = notes_of(run_id)
        found = ((row[0][len(low) :], row) for row in self._rows.between(low, high))
        return {slot: self._rows.named(row) for slot, row in found if slot.startswith(prefix)}

    @plainly
    def delete_note(self, run_id: str, slot: str) -> None:
        """Delete an entry; a missing one is fine."""
        self._rows.change(lambda change: change.drop("key = ?", note_key(run_id, slot)))

    # Leases

    @plainly
    def acquire(
        self,
        run_id: str,
        owner: Owner,
        *,
        now: float,
        stale_after_s: float = 60.0,
        alive: Callable[[Owner], bool | None],
    ) -> Lease:
        """Take the right to write a run and the runs below it.

        Args:
            run_id: the top-level run.
            owner: who takes it.
            now: seconds since the epoch.
            stale_after_s: seconds without a sign of life after which a lease of another machine is free.
            alive: whether a process lives; None where that cannot be told from here.

        Raises:
            LeaseError: it is held; the sentence names the holder.
        """
        key = lease_key(run_id)
        while True:
            seen = self._rows.row(key)
            token, held = leases.last(self._rows, seen, run_id, now)
            if held is not None:
                leases.refuse_if_held(held, owner, now=now, stale_after_s=stale_after_s, alive=alive)
            lease = Lease(run_id, token + 1, owner, since=now, beat=now)
            # `alive` may take its time, so it is asked before the transaction, not within.
            if self._rows.change(partial(_put_if_unchanged, self._rows, key, seen, leases.written(lease))):
                return lease

    @plainly
    def renew(self, lease: Lease, *, now: float) -> Lease:
        """Give a sign of life.

        Raises:
            LeaseError: the lease is no longer held.
        """
        renewed = Lease(lease.run_id, lease.token, lease.owner, lease.since, now)

        def write(change: Change) -> None:
            leases.check(self._rows, lease)
            change.put(lease_key(lease.run_id), leases.written(renewed), replace=True)

        self._rows.change(write)
        return renewed

    @plainly
    def release(self, lease: Lease) -> None:
        """Give the right back; one that is already lost is fine."""

        def write(change: Change) -> None:
            if leases.holds(self._rows, lease):
                change.put(lease_key(lease.run_id), leases.written_free(lease.token), replace=True)

        self._rows.change(write)

    @plainly
    def lease_of(self, run_id: str) -> Lease | None:
        """Return who drives a run, None where nobody does."""
        return leases.holder(self._rows, run_id)

    # Housekeeping

    @plainly
    def delete_run(self, run_id: str) -> None:
        """Delete a run's header, journal, entries and lease; its values stay until ``sweep_blobs``."""

        def write(change: Change) -> None:
            for low, high in (records_of(run_id), notes_of(run_id)):
                change.drop("key >= ? AND key < ?", low, high)
            change.drop("key IN (?, ?)", header_key(run_id), lease_key(run_id))

        self._rows.change(write)

    @plainly
    def size_bytes(self, run_id: str) -> int:
        """Return the bytes of a run's header and journal, without the values that they name."""
        header = header_key(run_id)
        sizes = (*self._rows.sizes(header, header + "\0"), *self._rows.sizes(*records_of(run_id)))
        return sum(size for _key, size, _at in sizes)

    @plainly
    def total_bytes(self) -> int:
        """Return the bytes of all files in the folder."""
        return self._rows.disk.total_bytes()


def _put_if_unchanged(rows: Rows, key: str, seen: Row | None, data: bytes, change: Change) -> bool:
    if rows.row(key) != seen:
        return False
    change.put(key, data, replace=True)
    return True
