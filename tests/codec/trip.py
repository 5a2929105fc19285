"""The way of a value through the codec and JSON."""

from __future__ import annotations

import json
from typing import Any

from jupyter_wfresume.codec import MemoryBlobs, decode, encode


def dump(value: Any, blobs: MemoryBlobs | None = None) -> str:
    """The text that a store would hold."""
    return json.dumps(encode(value, MemoryBlobs() if blobs is None else blobs), allow_nan=False)


def trip(value: Any, **options: Any) -> Any:
    """Write a value down and read it back."""
    blobs = MemoryBlobs()
    text = json.dumps(encode(value, blobs, **options), allow_nan=False)
    fresh = MemoryBlobs()  # its own, so that nothing is remembered from writing
    fresh.data.update(blobs.data)
    return decode(json.loads(text), fresh, **options)
