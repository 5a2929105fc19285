"""What a run had put into its stream, from its records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..engine import Event, InputRequiredEvent
from ..errors import MissingClassError
from .ticks import Record, TickReader


def streamed(records: Sequence[Record], reader: TickReader) -> Iterator[Event]:
    """The events that finished executions streamed, in the order in which these ended.

    Questions are left out: they are answered, or stand on the board.

    Args:
        records: the run's.
        reader: makes values of their nodes.
    """
    for record in records:
        for node in (record.get("p") or ()) if record["k"] == "R" else ():
            if isinstance(node, dict) and "lost" in node:
                continue
            try:
                event = reader.event(node)
            except MissingClassError:
                # Nothing but the stream needs it, so a class that is gone must not stop the run.
                continue
            if not isinstance(event, InputRequiredEvent):
                yield event


def has_replies(records: Sequence[Record]) -> bool:
    """Whether the body has sent events for what it read: it would send them again for a repeated stream."""
    return any(record["k"] == "A" and record.get("o") == "reply" for record in records)
