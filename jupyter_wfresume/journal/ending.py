"""The end of a finished run, read without folding its ticks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..codec import Blobs
from ..engine import Event, StateModel
from ..errors import DamagedError
from .state import apply_ops
from .ticks import FindClass, Record, TickReader


@dataclass(frozen=True)
class Final:
    """How a finished run ended.

    Args:
        stop: the stop event.
        model: the final state.
        snapshot: the engine's last snapshot, or None.
    """

    stop: Event
    model: StateModel
    snapshot: dict[str, Any] | None


def final(
    records: list[Record], blobs: Blobs, find_class: FindClass, model: StateModel | None
) -> Final | None:
    """The recorded end of a finished run, without folding its ticks.

    Args:
        records: the intact records.
        blobs: where large values are.
        find_class: asked first for each class.
        model: today's initial state, for one that could not be kept.

    Returns:
        None where the end is not on record.
    """
    reader = TickReader(blobs, find_class, lambda event, said: None)
    end = next((r for r in reversed(records) if r["k"] == "E" and r.get("status") == "done"), None)
    if end is None or "stop" not in end:
        return None
    number, index = end["stop"]
    opening = records[0]
    state = reader.value(opening["state"]) if "state" in opening else model
    if not isinstance(state, StateModel):
        raise DamagedError("the journal's opening record holds no state")
    for record in records:
        if record["k"] in "RB" and record.get("st"):
            apply_ops(state, record["st"], reader.value)
    snapshot = None if end.get("snap") is None else reader.value(end["snap"])
    return Final(reader.event(records[number]["r"][index][1]), state, snapshot)
