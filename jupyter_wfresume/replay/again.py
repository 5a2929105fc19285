"""Execute one recorded step again, alone, with today's code; nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ..codec import Blobs
from ..engine import (
    Alone,
    Event,
    Workflow,
    default_state,
    run_alone,
    run_sync,
    steps_of,
)
from ..errors import UsageError
from ..journal import FindClass, Record, TickReader
from . import recorded, shown
from .edits import Edit, check_changes, edited
from .outcome import Outcome, compare, not_compared
from .words import Difference


@dataclass(repr=False)
class Replayed:
    """One recorded execution and what came of it when it ran again.

    Args:
        label: ``work[17]``.
        input: what it was given, edits included.
        old_output: events on record that it returned, then those that it sent.
        old_error: the exception on record, or None.
        old_seconds: how long it took then.
        new: what it did now.
        differences: between then and now; empty where the outcome is the same.
        notes: where it could not run as it had, each one sentence.
        edited: its input is not the recorded one as it was.
        did_effects: its side effects were really done.
    """

    label: str
    input: list[Event]
    old_output: list[Any]
    old_error: Exception | None
    old_seconds: float
    new: Alone
    differences: list[Difference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    edited: bool = False
    did_effects: bool = False

    @property
    def new_output(self) -> list[Event]:
        """Events that it returned now, then those that it sent."""
        return [*self.new.results, *self.new.sends]

    def __repr__(self) -> str:
        return shown.replay_text(self)

    def _repr_html_(self) -> str:
        return shown.replay_html(self)


class Replays(list[Replayed]):
    """Several replays, which show themselves as a table.

    Args:
        found: the replays.
        refused: label and reason of each execution that could not be replayed.
    """

    def __init__(self, found: Iterable[Replayed] = (), refused: Iterable[tuple[str, str]] = ()) -> None:
        super().__init__(found)
        self.refused = list(refused)

    def __repr__(self) -> str:
        return shown.replays_text(self, self.refused)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    def _repr_html_(self) -> str:
        return shown.replays_html(self, self.refused)


async def replay(
    workflow: Workflow,
    records: list[Record],
    step: str,
    index: int,
    *,
    blobs: Blobs,
    find_class: FindClass,
    edit: Edit | None = None,
    timeout_s: float | None = None,
    check: Callable[[list[Event]], None] = lambda events: None,
) -> Replayed:
    """Execute ``STEP[N]`` of a run again, alone: with today's code, its recorded input and the state it saw.

    It writes nothing: what the step sends, streams or stores is only in what is returned.

    Args:
        workflow: the workflow as it is now.
        records: the run's records, from the first.
        step: the step.
        index: N of ``STEP[N]``.
        blobs: where large values are.
        find_class: asked first for each class.
        edit: what to change of the input: a function of the event (of the list,
            for a fan-in) that changes it or returns another, fields, or the whole input.
        timeout_s: seconds after which the step is cancelled; None waits for ever.
        check: given the input before the step starts; what it raises is raised.

    Raises:
        UsageError: there is no such execution, its input was not kept, or the edit does not fit.
        MissingClassError: a class is not defined in this kernel.
        EngineError: the workflow has a runtime of its own.
    """
    reader = TickReader(blobs, find_class, lambda event, said: None)
    number = recorded.find(records, step, index)
    record = records[number]
    label = f"{step}[{index}]"
    inputs = edited_input(workflow, records, step, index, reader, edit)
    check(inputs)
    around, unknown = recorded.surroundings(
        workflow, records, number, blobs, find_class, default_state(workflow)
    )
    state, as_it_was = recorded.state_seen(records, number, reader, default_state(workflow))
    new = await run_alone(
        workflow,
        step,
        inputs,
        state,
        timeout_s=timeout_s,
        around=around,
        retry=recorded.recorded_retry(records, number, reader),
    )
    done = Replayed(
        label=label,
        input=inputs,
        old_output=recorded.recorded_output(records, step, index, reader),
        old_error=recorded.recorded_error(record, reader),
        old_seconds=float(record["ud"] if "ud" in record else record["d"]),
        new=new,
        notes=_notes(recorded.lost_in(state), as_it_was, unknown),
        edited=edit is not None,
    )
    waited = "pk" not in record and any(item[0] == "w" for item in record["r"])
    then = Outcome(done.old_output, done.old_error, waited)
    now = Outcome(done.new_output, new.error, new.waits)
    done.differences = compare(then, now)
    done.notes += [
        f"its recorded {one.name}{one.path} ({one.type_name}) was not kept, so it is not compared"
        for one in not_compared(then, now)
    ]
    return done


def replay_sync(
    workflow: Workflow,
    records: list[Record],
    step: str,
    index: int,
    *,
    blobs: Blobs,
    find_class: FindClass,
    edit: Edit | None = None,
    timeout_s: float | None = None,
) -> Replayed:
    """``replay`` for plain code, with its arguments.

    Where a loop is running, as in a notebook, the step gets a thread with a loop of its own.
    """
    return run_sync(
        lambda: replay(
            workflow,
            records,
            step,
            index,
            blobs=blobs,
            find_class=find_class,
            edit=edit,
            timeout_s=timeout_s,
        )
    )


def edited_input(
    workflow: Workflow,
    records: list[Record],
    step: str,
    index: int,
    reader: TickReader,
    edit: Edit | None,
) -> list[Event]:
    """The recorded input of an execution with an edit made.

    Raises:
        UsageError: there is no such execution, or the edit does not fit.
    """
    joins = any(info.joins for info in steps_of(workflow) if info.name == step)
    try:
        events = recorded.recorded_input(records, step, index, reader)
    except UsageError:
        if not isinstance(edit, (Event, list, tuple)):
            raise
        events = []
    given, label = list(events), f"{step}[{index}]"
    left = edited(edit, events, joins or len(events) > 1, label)
    if edit is not None and given:
        check_changes(recorded.recorded_input(records, step, index, reader), given, left, label)
    return left


def _notes(lost: list[str], as_it_was: bool, unknown: str) -> list[str]:
    notes = [f"state key '{path}' was not kept: the step sees a stand-in for it" for path in lost]
    if not as_it_was:
        notes.append("others were changing the state that it read, so it may see another state than it did")
    return [*notes, *([unknown] if unknown else [])]
