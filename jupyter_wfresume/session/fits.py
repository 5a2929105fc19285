"""Whether what is pending in a run, and its state, still fit their classes."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ..codec import fault, faults_inside, names_fault
from ..engine import StateModel
from ..journal import Record, Restored

_CLASS = re.compile(r"(?:event|class|state) (.+?)(?: in \S+)?(?: \d+)?")
"""A part of a step's code that is a class; the same name may stand for several."""


def misfits(
    records: Sequence[Record],
    restored: Restored,
    parts: Mapping[str, Mapping[str, str]],
    value: Callable[[Any], Any],
) -> str:
    """What does not fit, in words, or nothing.

    Only instances are looked at whose class has been edited since the run's last life, in whatever they
    lie: others are as their steps made them, valid or not.

    Args:
        records: the run's.
        restored: the run as they leave it.
        parts: by step, what its code is made of now.
        value: makes values of nodes.
    """
    edited = edited_classes(records, parts, value)
    faults: dict[str, list[tuple[list[Any], str]]] = {}
    for key, (event, ref) in restored.refs.items():
        name = type(event).__name__
        if key not in restored.lost:
            wrong = event_fault(event, edited)
            if wrong:
                faults.setdefault(name, []).append((ref, wrong))
    said = []
    for name, found in faults.items():
        record = records[found[0][0][0]]
        maker = f", the first made by {record['s']}[{record['i']}]," if "i" in record else ""
        events = "event" if len(found) == 1 else "events"
        verb = "does" if len(found) == 1 else "do"
        what = f"{len(found):,} pending {events} {name}{maker}"
        said.append(f"{what} {verb} not fit the class as it is now ({found[0][1]})")
    wrong = names_fault(restored.model) or event_fault(restored.model, edited)
    if wrong:
        name = type(restored.model).__name__
        said.append(f"the state {name} does not fit the class as it is now ({wrong})")
    return "; ".join(said)


def edited_classes(
    records: Sequence[Record], parts: Mapping[str, Mapping[str, str]], value: Callable[[Any], Any]
) -> set[str]:
    """Names of classes of the user's that differ from those of the last life in some records.

    Args:
        records: a run's, up to where it is looked at.
        parts: by step, what its code is made of now.
        value: makes values of nodes.
    """
    written = next((r["code"] for r in reversed(records) if r["k"] == "L" and "code" in r), None)
    if written is None:
        return set()
    return {
        found[1]
        for step, (_, before) in value(written).items()
        for part, known in before.items()
        for found in [_CLASS.fullmatch(part)]
        if found is not None and parts.get(step, {}).get(part, known) != known
    }


def event_fault(event: StateModel, edited: Collection[str]) -> str:
    """What edited classes have against an event, or a state, and what lies in it; or nothing.

    Args:
        event: the event, or the state.
        edited: names of classes that were edited since it was made.
    """

    def looks_at(cls: type) -> bool:
        return any(base.__name__ in edited for base in cls.__mro__)

    if not edited:
        return ""
    return (fault(event) if looks_at(type(event)) else "") or next(faults_inside(event, looks_at), "")
