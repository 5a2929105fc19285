"""Where large values go: content-addressed bytes, and a memo of what went there."""

from __future__ import annotations

import hashlib
import weakref
from collections import OrderedDict
from typing import Protocol

from ..errors import DamagedError

LARGE_BYTES = 4096
"""Size from which a value leaves its record and becomes a blob, in bytes."""


class Blobs(Protocol):
    """A content-addressed store of bytes."""

    def put(self, data: bytes) -> str:
        """Keep the bytes and return their digest; the same bytes are kept once."""
        ...

    def get(self, digest: str) -> bytes:
        """Return the bytes of a digest, or raise ``DamagedError``."""
        ...


def content_digest(data: bytes) -> str:
    """Hexadecimal BLAKE2b of 20 bytes: the address of these bytes."""
    return hashlib.blake2b(data, digest_size=20).hexdigest()


class MemoryBlobs:
    """Blobs in a dict."""

    def __init__(self) -> None:
        self.data: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        """Keep the bytes and return their digest."""
        digest = content_digest(data)
        self.data.setdefault(digest, data)
        return digest

    def get(self, digest: str) -> bytes:
        """Return the bytes of a digest, or raise ``DamagedError``."""
        try:
            return self.data[digest]
        except KeyError:
            raise DamagedError(f"the value {digest} is missing") from None


class NoBlobs:
    """Addresses bytes without keeping them; what ``digest`` works on."""

    def put(self, data: bytes) -> str:
        """Return the digest of the bytes."""
        return content_digest(data)

    def get(self, digest: str) -> bytes:
        """Nothing is kept here."""
        raise DamagedError(f"the value {digest} is missing")


class Memo:
    """Digests of large str and bytes that one ``Blobs`` already holds.

    It holds the values themselves, so that an identity cannot be taken over
    by a later object, and forgets the oldest beyond its bounds.

    Args:
        max_entries: values remembered at most.
        max_bytes: their size at most, in characters or bytes.
    """

    def __init__(self, max_entries: int = 512, max_bytes: int = 64 * 1024 * 1024) -> None:
        self.max_entries = max_entries
        self.max_bytes = max_bytes
        self._by_id: OrderedDict[int, tuple[str | bytes, str]] = OrderedDict()
        self._by_digest: dict[tuple[type, str], int] = {}
        self._size = 0

    def digest_of(self, value: str | bytes) -> str | None:
        """Digest of this very object, or None."""
        entry = self._by_id.get(id(value))
        return None if entry is None else entry[1]

    def value_of(self, kind: type, digest: str) -> str | bytes | None:
        """A remembered object of this type and digest, or None."""
        identity = self._by_digest.get((kind, digest))
        return None if identity is None else self._by_id[identity][0]

    def remember(self, value: str | bytes, digest: str) -> None:
        """Note that the value's bytes are kept under the digest."""
        key = (type(value), digest)
        if id(value) in self._by_id or key in self._by_digest:
            return
        self._by_id[id(value)] = (value, digest)
        self._by_digest[key] = id(value)
        self._size += len(value)
        while len(self._by_id) > self.max_entries or self._size > self.max_bytes:
            _, (old, old_digest) = self._by_id.popitem(last=False)
            del self._by_digest[(type(old), old_digest)]
            self._size -= len(old)


class Memos:
    """One memo for each living ``Blobs``."""

    def __init__(self) -> None:
        self._memos: weakref.WeakKeyDictionary[Blobs, Memo] = weakref.WeakKeyDictionary()

    def of(self, blobs: Blobs) -> Memo:
        """The memo that belongs to these blobs; a new one each time where they cannot be a weak key."""
        try:
            memo = self._memos.get(blobs)
            if memo is None:
                memo = self._memos[blobs] = Memo()
        except TypeError:
            return Memo()
        return memo

    def forget(self, blobs: Blobs) -> None:
        """Drop what is remembered; due after values were deleted from the blobs."""
        self._memos.pop(blobs, None)
