"""Whether what is pending in a run, and its state, still fit their classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..codec import fault_of
from ..engine import Event, StateModel
from ..journal import Record, Restored


def misfits(
    records: Sequence[Record],
    restored: Restored,
    parts: Mapping[str, Mapping[str, str]],
    value: Callable[[Any], Any],
) -> str:
    """What does not fit, in words, or nothing.

    Only events are looked at whose class has been edited since the run's last life: others are as
    their steps made them, valid or not.

    Args:
        records: the run's.
        restored: the run as they leave it.
        parts: by step, what its code is made of now.
        value: makes values of nodes.
    """
    edited = _edited(records, parts, value)
    faults: dict[str, list[tuple[list[Any], str]]] = {}
    for key, (event, ref) in restored.refs.items():
        name = type(event).__name__
        if name in edited and key not in restored.lost:
            fault = _fault(event)
            if fault:
                faults.setdefault(name, []).append((ref, fault))
    said = []
    for name, found in faults.items():
        record = records[found[0][0][0]]
        maker = f", the first made by {record['s']}[{record['i']}]," if "i" in record else ""
        events = "event" if len(found) == 1 else "events"
        verb = "does" if len(found) == 1 else "do"
        what = f"{len(found):,} pending {events} {name}{maker}"
        said.append(f"{what} {verb} not fit the class as it is now ({found[0][1]})")
    fault = _names_fault(restored.model)
    if fault:
        name = type(restored.model).__name__
        said.append(f"the state {name} does not fit the class as it is now ({fault})")
    return "; ".join(said)


def _edited(
    records: Sequence[Record], parts: Mapping[str, Mapping[str, str]], value: Callable[[Any], Any]
) -> set[str]:
    """Names of event classes that differ from those of the run's last life."""
    written = next((r["code"] for r in reversed(records) if r["k"] == "L" and "code" in r), None)
    if written is None:
        return set()
    return {
        part.removeprefix("event ")
        for step, (_, before) in value(written).items()
        for part, known in before.items()
        if part.startswith("event ") and parts.get(step, {}).get(part, known) != known
    }


def _fault(event: Event) -> str:
    """What the class as it is now has against an event, or nothing."""
    cls, held = type(event), event.__dict__
    fault = _names_fault(event)
    if fault:
        return fault
    try:
        cls.model_validate({name: held[name] for name in cls.model_fields if name in held})
    except Exception as error:  # noqa: BLE001  # the class's validators are the user's and may raise anything
        return fault_of(error)
    return ""


def _names_fault(model: StateModel) -> str:
    """What the names of a model's fields have against it, or nothing."""
    cls, held = type(model), model.__dict__
    for name, each in cls.model_fields.items():
        if each.is_required() and name not in held:
            return f"it has no '{name}'"
    gone = [name for name in held if name not in cls.model_fields]
    if gone and cls.model_fields.keys() - model.model_fields_set:
        # Renamed, perhaps: a default in the place of what is on record would go unnoticed.
        return f"it holds '{gone[0]}', which the class no longer has"
    return ""
