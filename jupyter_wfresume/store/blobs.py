"""Values under their digests: each is kept once, checked when it is read, repaired when it is put again."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection
from hashlib import blake2b

from ..errors import DamagedError
from .disk import Foreign, Unsound
from .keys import BLOBS, blob_key, said
from .rows import Change, Rows

_DIGEST_BYTES = 20
_FRESH_S = 60.0
"""How old, in seconds, the noted time of a value may grow before writing the value again renews it."""
_ORPHAN_S = 3600.0
"""Age in seconds from which a value's file without a row is a leftover of a killed process."""


class Blobs:
    """The content-addressed values of one store; its methods are those of ``Store``."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._sound: set[str] = set()
        self._lock = threading.Lock()

    def put(self, data: bytes) -> str:
        """Keep a value under its digest."""
        digest = _digest(data)
        key, now = blob_key(digest), time.time()
        noted = self._noted(key, data)
        if noted is None:
            self._rows.change(lambda change: change.put(key, data, replace=True, sealed=False, at=now))
        elif now - noted > _FRESH_S:
            self._rows.change(lambda change: change.touch(key, now))
        with self._lock:
            self._sound.add(digest)
        return digest

    def get(self, digest: str) -> bytes:
        """Return the value of a digest."""
        key = blob_key(digest)
        row = self._rows.row(key)
        if row is None:
            raise DamagedError(
                f"{said(key)} is missing from the store {self._rows.path}; everything else is kept",
                self._rows.path,
            )
        try:
            data = self._rows.value(row, sealed=False)
            if _digest(data) != digest:
                where = f" (file {row[3]})" if row[3] else ""
                raise Unsound(f"its bytes were changed or cut off{where}")
        except Unsound as error:
            raise self._rows.damaged(key, error) from None
        return data

    def sweep(self, used: Collection[str], before: float | None) -> int:
        """Delete what is not used, and files without a row; return the bytes freed."""
        keep = frozenset(used)
        limit = None if before is None else before - 2 * _FRESH_S

        def write(change: Change) -> int:
            freed = 0
            for key, size, at in list(self._rows.sizes(*BLOBS)):
                if key[1:] not in keep and (limit is None or (at or 0.0) < limit):
                    change.drop("key = ?", key)
                    freed += size
            return freed

        freed = self._rows.change(write)
        with self._lock:
            self._sound &= keep
        return freed + self._rows.disk.sweep_orphans(set(self._rows.files("1")), time.time() - _ORPHAN_S)

    def _noted(self, key: str, data: bytes) -> float | None:
        """Return when a value was last noted as used, None where it is not there or damaged."""
        row, at = self._rows.row(key), self._rows.noted(key)
        if row is None or at is None:
            return None
        with self._lock:
            known = key[1:] in self._sound
        try:
            # Once per process the whole copy is compared, later only whether it is there in full length.
            whole = known and self._rows.length(row) == len(data)
            return at if whole or self._rows.value(row, sealed=False) == data else None
        except Foreign as error:
            raise self._rows.damaged(key, error) from None
        except Unsound:
            return None


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()
