"""The store's values, as the codec wants them."""

from __future__ import annotations

from ..store import Store


class StoreBlobs:
    """Large values, kept once each in the store.

    Args:
        store: where they are.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def put(self, data: bytes) -> str:
        """Keep the bytes and return their digest."""
        return self._store.put_blob(data)

    def get(self, digest: str) -> bytes:
        """Return the bytes of a digest, or raise ``DamagedError``."""
        return self._store.get_blob(digest)
