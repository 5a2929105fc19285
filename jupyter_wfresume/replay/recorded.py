"""What the records say of one execution: its input, the state it saw, what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..codec import Blobs
from ..engine import Event, RetryAttempt, StateModel, StepWorkerState, Workflow, find_execution
from ..errors import DamagedError, JournalError, MissingClassError, UsageError
from ..journal import FindClass, LostValue, Record, TickReader, apply_ops, content_at, restore
from ..journal.state import slots
from ..projection import Place, node_at
from .outcome import NotKept

ROUNDED_S = 0.0005
"""What rounding may have taken from the time an execution began at, in seconds."""


def find(records: list[Record], step: str, index: int) -> int:
    """The number of the record that ends ``STEP[N]``: of its last attempt.

    Raises:
        UsageError: there is none.
    """
    # What a person left out did not run then; what it had raised before is what can be seen again.
    ends = [number for number, record in enumerate(records) if record["k"] in "RF" and "sk" not in record]
    found = [n for n in ends if (records[n]["s"], records[n]["i"]) == (step, index)]
    if found:
        return found[-1]
    steps = sorted({records[n]["s"] for n in ends})
    if step not in steps:
        raise UsageError(f"no step '{step}' in this run; recorded steps: {', '.join(steps) or 'none'}")
    known = [records[n]["i"] for n in ends if records[n]["s"] == step]
    raise UsageError(
        f"no {step}[{index}] in this run: recorded are {min(known)} to {max(known)}, "
        "and an execution that has not ended cannot be replayed"
    )


def recorded_input(records: list[Record], step: str, index: int, reader: TickReader) -> list[Event]:
    """The events that an execution received, as they were when it began; several for a fan-in.

    Args:
        records: a run's records, from the first.
        step: the step.
        index: N of ``STEP[N]``.
        reader: makes values of their nodes.

    Raises:
        UsageError: there is no such execution, or its input was not kept.
        MissingClassError: a class is not defined in this kernel.
    """
    number = find(records, step, index)
    label = f"{step}[{index}]"
    changed = [
        record["m"]
        for record in records[:number]
        if record["k"] == "R" and "m" in record and (record["s"], record["i"]) == (step, index)
    ]
    if changed:
        # An attempt that failed left it changed, and the next one got it so.
        nodes = [changed[-1]]
    else:
        nodes = [node_at(records, place) for place in _places(records[number])]
        nodes = records[number].get("ie", nodes)
    return [_kept(node, label, reader) for node in nodes]


def _places(record: Record) -> list[Place]:
    places: list[Any] = record.get("in", [])
    several = not places or isinstance(places[0], list)
    return [(int(n), int(i)) for n, i in (places if several else [places])]


def _kept(node: Any, label: str, reader: TickReader) -> Event:
    if node is None:
        raise DamagedError(f"the input of {label} is not where the journal says it is")
    lost = lost_event(node)
    if lost is not None:
        raise UsageError(
            f"{label} cannot be replayed as it was: its input {lost.name}{lost.path} ({lost.type_name}) was "
            "not kept; give the whole event as the edited input"
        )
    return reader.event(node)


def lost_event(node: Any) -> NotKept | None:
    """What a node says of an event that was not kept; None for one that was."""
    if not (isinstance(node, dict) and "lost" in node):
        return None
    _, name, path, type_name = node["lost"]
    return NotKept(name, path, type_name)


def recorded_output(records: list[Record], step: str, index: int, reader: TickReader) -> list[Any]:
    """The events that an execution returned, then those that it sent; ``NotKept`` for one that was not kept.

    Args:
        records: a run's records, from the first.
        step: the step.
        index: N of ``STEP[N]``.
        reader: makes values of their nodes.

    Raises:
        UsageError: there is no such execution.
        MissingClassError: a class is not defined in this kernel.
    """
    record = records[find(records, step, index)]
    nodes = [item[1] for item in record["r"] if item[0] == "r" and item[1] is not None]
    nodes += [send[1] for send in record.get("n", ())]
    return [lost_event(node) or reader.event(node) for node in nodes]


def recorded_error(record: Record, reader: TickReader) -> Exception | None:
    """What a recorded execution raised, or None."""
    node = next((item[1] for item in record["r"] if item[0] == "x"), None)
    if "pk" in record:
        node = record["pk"][0]  # to the engine, one that was set aside waits
    return None if node is None else reader.exception(node)


def recorded_retry(records: list[Record], number: int, reader: TickReader) -> RetryAttempt:
    """Which attempt a recorded execution was, for ``ctx.retry_info()``."""
    record = records[number]
    if not record.get("a"):
        return RetryAttempt()
    before = [
        item
        for one in records[:number]
        if one["k"] == "R" and (one["s"], one["i"]) == (record["s"], record["i"])
        for item in one["r"]
        if item[0] == "x"
    ]
    if not before:
        return RetryAttempt(retry_number=record["a"], first_attempt_at=record["b"])
    _, node, failed_at, _, first_at = before[-1]
    return RetryAttempt(
        retry_number=record["a"],
        first_attempt_at=first_at or failed_at,
        last_exception=reader.exception(node),
        last_failed_at=failed_at,
    )


def state_before(
    records: list[Record], step: str, index: int, reader: TickReader, model: StateModel
) -> StateModel:
    """The state as an execution saw it.

    That is the opening state with what was on record when it began. Where the
    record says what it read, and others changed that while it ran, it is the
    first state on the way to its end in which all that it read stood so.

    Args:
        records: a run's records, from the first.
        step: the step.
        index: N of ``STEP[N]``.
        reader: makes values of their nodes.
        model: today's initial state, for one that was not kept.

    Raises:
        UsageError: there is no such execution.
        MissingClassError: a class is not defined in this kernel.
    """
    return state_seen(records, find(records, step, index), reader, model)[0]


def state_seen(
    records: list[Record], number: int, reader: TickReader, model: StateModel
) -> tuple[StateModel, bool]:
    """The state as the execution of a record saw it, and whether all that it read is so in it."""
    record = records[number]
    begun = _begun(records, number)
    seen = [(tuple(path), value) for path, value in record.get("rd", ()) if value is not None]
    state = _state_at(records, begun, reader, model)
    if _stands(state, seen):
        return state, True
    for later in range(begun, number):
        if _patches(records[later]):
            apply_ops(state, records[later]["st"], reader.value)
            if _stands(state, seen):
                return state, True
    return _state_at(records, begun, reader, model), False


def _begun(records: list[Record], number: int) -> int:
    """How many records were there when the execution of a record began."""
    record = records[number]
    cause = max((place[0] for place in _places(record)), default=0)
    began = record["b"] + ROUNDED_S
    on_time = [n for n in range(number) if records[n].get("t", 0.0) <= began]
    return max([cause, *on_time[-1:]]) + 1


def _patches(record: Record) -> bool:
    return record["k"] in "RB" and bool(record.get("st"))


def _state_at(records: list[Record], count: int, reader: TickReader, model: StateModel) -> StateModel:
    opening = records[0]
    state = reader.value(opening["state"]) if "state" in opening else model
    if not isinstance(state, StateModel):
        raise DamagedError("the journal's opening record holds no state")
    for record in records[:count]:
        if _patches(record):
            apply_ops(state, record["st"], reader.value)
    return state


def _stands(state: StateModel, seen: list[tuple[tuple[Any, ...], str]]) -> bool:
    return all(content_at(state, path) == value for path, value in seen)


def lost_in(state: StateModel) -> list[str]:
    """Paths of a state's parts that were not kept."""
    return [path for slot, value in slots(state).items() for path in _lost_below(value, slot[2:])]


def _lost_below(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, LostValue):
        yield path
    elif type(value) is dict:
        for key, item in value.items():
            yield from _lost_below(item, f"{path}.{key}")
    elif type(value) is list:
        for at, item in enumerate(value):
            yield from _lost_below(item, f"{path}[{at}]")


def surroundings(
    workflow: Workflow,
    records: list[Record],
    number: int,
    blobs: Blobs,
    find_class: FindClass,
    model: StateModel,
) -> tuple[StepWorkerState | None, str]:
    """What ``collect_events`` and ``wait_for_event`` found in a recorded execution.

    Only the engine's own fold knows that, so a step that used neither is not
    looked at: a long run takes seconds to fold.

    Returns:
        None where there was nothing, and a sentence where it cannot be told.
    """
    record = records[number]
    uses = {"c", "d", "w", "e"}
    own = (one for one in records if one["k"] == "R" and one["s"] == record["s"])
    steps = (one for one in own if "pk" not in one and "sk" not in one)
    if not any(item[0] in uses for one in steps for item in one["r"]):
        return None, ""
    until = {"k": "N", "q": record["q"], "t": record["t"]}
    try:
        restored = restore(workflow, "", [*records[:number], until], blobs, find_class, model=model)
    except MissingClassError:
        raise
    except JournalError as error:
        return None, f"it runs without the events that it had collected or waited for: {error}"
    found = find_execution(restored.state, record["v"])
    return (None, "") if found is None else (found[1].shared_state, "")
