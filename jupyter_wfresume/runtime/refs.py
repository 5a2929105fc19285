"""Where each event was written, so that inputs are named and not written twice."""

from __future__ import annotations

import json
import weakref
from typing import Any

from ..codec import Blobs, encode
from ..engine import Event
from ..errors import CannotKeepError
from ..journal import FindClass

Ref = list[Any]


class Refs:
    """Remembers, while an event is alive, its place in the journal and its content then.

    Args:
        blobs: where large values go.
        find_class: what a reader will ask first for each class.
    """

    def __init__(self, blobs: Blobs, find_class: FindClass) -> None:
        self._blobs = blobs
        self._find_class = find_class
        self._known: dict[int, tuple[weakref.ref[Event], Ref, int | None]] = {}
        self._changed: set[int] = set()

    def put(self, event: Event, ref: Ref, node: Any) -> None:
        """Remember an event.

        Args:
            event: the event.
            ref: record number and index.
            node: what was written of it.
        """
        kept = not (isinstance(node, dict) and "lost" in node)
        key = id(event)

        def forget(_: Any, key: int = key) -> None:
            self._known.pop(key, None)
            self._changed.discard(key)

        self._known[key] = (weakref.ref(event, forget), ref, _mark(node) if kept else None)

    def get(self, event: Event) -> Ref | None:
        """Where the event was written, or None."""
        found = self._known.get(id(event))
        return None if found is None or found[0]() is not event else found[1]

    def changed(self, event: Event) -> Any | None:
        """A node for the event's content now, where it is not what was written."""
        found = self._known.get(id(event))
        if found is None or found[0]() is not event or found[2] is None:
            return None
        try:
            node = encode(event, self._blobs, self._find_class)
        except CannotKeepError:
            return None
        mark = _mark(node)
        if mark == found[2]:
            return None
        self._known[id(event)] = (found[0], found[1], mark)
        self._changed.add(id(event))
        return node

    def has_changed(self, event: Event) -> None:
        """Know of an event that an execution of an earlier life had changed."""
        self._changed.add(id(event))

    def was_changed(self, event: Event) -> bool:
        """Whether some execution has changed the event since it was written."""
        return id(event) in self._changed and self.get(event) is not None


def _mark(node: Any) -> int:
    return hash(json.dumps(node))
