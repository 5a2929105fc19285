"""Entries of side effects in the store: found, changed, and whether their maker lives."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..codec import content_digest
from ..records import Lease
from ..store import Store, is_alive, this_process
from .entries import Entry, dump, key_digest, key_text, load
from .turns import TURNS, Id

SILENT_S = 60.0
"""Seconds without a sign of life after which a process that cannot be looked at counts as dead.

The store's own bound for leases.
"""


class Changed(Exception):
    """Somebody else has changed an entry since it was looked at; it never leaves this room."""


@dataclass(frozen=True)
class Found:
    """An entry as it was seen.

    Args:
        entry: what it says; None where there is none.
        seen: its bytes.
    """

    entry: Entry | None
    seen: bytes | None


def book_of(name: str) -> str:
    """What the entries of a NAME are kept under; its receipts are of no single run."""
    return f"effects-{content_digest(name.encode('utf-8', 'surrogatepass'))[:20]}"


class Spot:
    """One effect with one key.

    Args:
        store: the store.
        name: NAME.
        effect: its name.
        key: its key.

    Raises:
        UsageError: the key cannot be written down.
    """

    def __init__(self, store: Store, name: str, effect: str, key: Any) -> None:
        self._at(store, book_of(name), effect, key_digest(effect, key))
        self.key_text = key_text(key)

    def _at(self, store: Store, book: str, effect: str, digest: str) -> None:
        self._store = store
        self.book = book
        self.effect = effect
        self.digest = digest
        self.slot = f"{effect}.{digest}"
        self.id: Id = (os.path.realpath(store.path), book, self.slot)

    @classmethod
    def of(cls, store: Store, name: str, entry: Entry) -> Spot:
        """Where an entry lies."""
        spot = cls.__new__(cls)
        spot._at(store, book_of(name), entry.effect, entry.digest)
        spot.key_text = entry.key
        return spot

    def read(self) -> Found:
        """Look at the entry."""
        data = self._store.note(self.book, self.slot)
        return Found(None if data is None else load(data), data)

    def swap(self, found: Found, entry: Entry, lease: Lease | None = None) -> Found:
        """Write the entry, unless somebody has changed it since it was looked at.

        Args:
            found: what was seen.
            entry: what to write.
            lease: the right to write that has to be held; None where none is needed.

        Raises:
            Changed: somebody has changed it.
            LeaseError: the lease is no longer held.
            StoreError: it is not on disk.
        """
        data = dump(entry)
        if not self._store.swap_note(self.book, self.slot, data, seen=found.seen, lease=lease):
            raise Changed
        return Found(entry, data)

    def under_way(self, entry: Entry) -> bool:
        """Whether the process that wrote an intent may still be at it."""
        return entry.state == "begun" and (TURNS.taken(self.id) or other_lives(self._store, entry))


def other_lives(store: Store, entry: Entry) -> bool:
    """Whether another process that wrote an intent still drives its run.

    This process knows its own effects by their turns.

    Args:
        store: the store.
        entry: the intent.
    """
    lease = store.lease_of(entry.root)
    if lease is None or lease.token != entry.token or lease.owner == this_process():
        return False
    alive = is_alive(lease.owner)
    return alive if alive is not None else time.time() - lease.beat <= SILENT_S


def begun_in(store: Store, name: str, run_id: str) -> list[Entry]:
    """The side effects that executions of a run began and that have no outcome on record, oldest first."""
    found = [entry for entry in entries_of(store, name) if entry.state == "begun" and entry.run_id == run_id]
    return found[::-1]


def typed_name(known: Sequence[Entry], entry: Entry) -> str:
    """What names one side effect alone: ``charge[81]``, or by its digest where 81 and "81" are both known.

    Args:
        known: all side effects of the NAME.
        entry: the one that is meant.
    """
    alike = [one for one in known if (one.effect, one.key) == (entry.effect, entry.key)]
    return entry.name if len(alike) < 2 else f"{entry.effect}[#{entry.digest[:8]}]"


def entries_of(store: Store, name: str) -> list[Entry]:
    """All side effects on record of a NAME, the newest first."""
    found = [load(data) for data in store.notes(book_of(name)).values()]
    return sorted(found, key=lambda entry: entry.at, reverse=True)
