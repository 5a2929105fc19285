"""Which execution touched which part of the state, and what that changed."""

from __future__ import annotations

from typing import Any

from ..codec import Blobs
from ..engine import MISSING, StateModel, TrackedStore, value_at
from ..journal import StateLog, changed_paths, content_at
from ..journal.state import Lost, Op, Path
from .flights import CURRENT, Flight, Flights

_FIXED = (type(None), bool, int, float, complex, str, bytes, frozenset)
"""Values that nobody can change in place."""


class Watch:
    """Attributes reads and writes of the state to executions.

    Args:
        blobs: where large values go.
        flights: the executions under way.
    """

    def __init__(self, blobs: Blobs, flights: Flights) -> None:
        self._log = StateLog(blobs)
        self._flights = flights
        self._store: TrackedStore
        self._body: set[Path] = set()
        self._changes = 0

    def begin(self, store: TrackedStore) -> list[Lost]:
        """Take the state as it stands as known to be on disk."""
        self._store = store
        return self._log.accept(store.model)

    def read(self, path: str | None) -> None:
        """The running execution took a value, and may change it in place."""
        flight = CURRENT.get()
        if flight is not None:
            at = self._path(path)
            flight.reads.add(at)
            if not at:
                self._saw_all(flight, self._store.model)
            elif not any(known and at[: len(known)] == known for known in (*flight.seen, *flight.writes)):
                # What it wrote itself below is part of what it sees here.
                mixed = any(_meet(at, written) for written in flight.writes)
                flight.seen[at] = None if mixed else self.content(at)

    def _saw_all(self, flight: Flight, state: StateModel) -> None:
        """An execution saw the whole state: as it was at first, but for what it wrote itself, or unknown."""
        by_others = self._changes - flight.changes
        if () not in flight.seen:
            flight.seen[()] = None if flight.changes else content_at(state, ())
            flight.others_changed = by_others
        elif flight.others_changed != by_others:
            flight.seen[()] = None

    def content(self, path: Path) -> str | None:
        """Digest of the state at a path, or None where it cannot be compared."""
        return content_at(self._store.model, path)

    def wrote(self, path: str | None) -> None:
        """The running execution, or the body, set a value."""
        self._add(self._path(path))

    def edited(self, before: StateModel, after: StateModel) -> None:
        """The running execution, or the body, edited the state in a block."""
        flight = CURRENT.get()
        if flight is not None:
            self._saw_all(flight, before)
        for path in changed_paths(before, after):
            self._add(path)

    def _add(self, path: Path) -> None:
        flight = CURRENT.get()
        self._changes += 1
        if flight is None:
            self._body.add(path)
        else:
            flight.writes.add(path)
            flight.changes += 1

    def _path(self, path: str | None) -> Path:
        if path is None:
            return ()
        first, *rest = path.split(".")
        model = self._store.model
        kind = "f" if first in type(model).model_fields or first in (model.__pydantic_extra__ or {}) else "d"
        return (f"{kind}:{first}", *rest)

    def body_ops(self) -> list[Op]:
        """What the body changed since the last look."""
        if not self._body:
            return []
        paths, self._body = list(self._body), set()
        return self._log.diff(self._store.model, paths).ops

    def finished(self, flight: Flight) -> tuple[list[Op], list[Lost], list[list[Any]]]:
        """What a finished execution changed.

        Returns:
            The patch; what cannot be kept of it; and for each changed path that
            executions still under way wrote too: path, label, their ids.
        """
        if not flight.reads and not flight.writes:
            return [], [], []
        others = [f for f in self._flights.current() if f is not flight]
        mine = list(flight.writes)
        for path in flight.reads:
            if not any(_meet(path, w) for f in others for w in f.writes):
                mine.append(path)
            elif path:
                if self._changed_in_place(flight, path):
                    mine.append(path)
                # Whose change is whose below it cannot be told.
                flight.seen[path] = None
        patch = self._log.diff(self._store.model, mine)
        shared: list[list[Any]] = []
        for path in patch.paths:
            ids = [
                f.invocation_id
                for f in others
                if any(_meet(path, w) for w in f.writes) or any(r and _meet(path, r) for r in f.reads)
            ]
            if ids:
                shared.append([_text(path), flight.label, ids])
                flight.seen[path] = None
                for f in others:
                    if f.invocation_id in ids:
                        # Part of its own doing is in this patch, or it saw what was written meanwhile.
                        f.seen[path] = None
        return patch.ops, patch.lost, shared

    def _changed_in_place(self, flight: Flight, path: Path) -> bool:
        """Whether an execution may have changed what it got: left to others, that is lost if they die."""
        value = value_at(self._store.model, [str(path[0])[2:], *map(str, path[1:])])
        if value is MISSING or isinstance(value, _FIXED):
            return False
        return self.content(path) != flight.seen.get(path)


def _meet(a: Path, b: Path) -> bool:
    size = min(len(a), len(b))
    return a[:size] == b[:size]


def _text(path: Path) -> str:
    return ".".join(str(part) for part in path)[2:]
