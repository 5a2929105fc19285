"""What the user's migrations do to a run before it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..codec import Blobs, Migrating, call_migration, fault_of, missing_names, unknown_names
from ..engine import DictState, StateModel, Workflow, migrated_state, state_fields, steps_of
from ..errors import DamagedError, MigrationError, MissingClassError
from ..journal import Record, Restored, StateLog, TickReader, with_names
from ..migrations import migrate
from ..projection import node_at
from ..records import RunHeader


def renamed(workflow: Workflow, records: list[Record]) -> tuple[list[Record], dict[str, str]]:
    """A run's records with the names that its steps have now.

    Args:
        workflow: as it is now.
        records: the run's.

    Returns:
        The records; and the new names by those on record.

    Raises:
        UsageError: a registered name is no step of the workflow.
    """
    recorded = dict.fromkeys(record["s"] for record in records if "s" in record)
    names = migrate.of_steps(list(recorded), [info.name for info in steps_of(workflow)])
    return (with_names(records, names) if names else records), names


def recorded_label(header: RunHeader, step: str, index: int) -> str:
    """``STEP[N]`` under the step's first name, by which what belongs to the execution is found.

    Args:
        header: of the run.
        step: the step's name now.
        index: N.
    """
    return f"{header.extra.get('was', {}).get(step, step)}[{index}]"


def with_first_names(extra: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """A header's ``extra`` that knows the first name of each renamed step.

    Args:
        extra: as it was.
        names: new names by those on record.
    """
    if not names:
        return dict(extra)
    was = dict(extra.get("was", {}))
    for old, new in names.items():
        was[new] = was.pop(old, old)
    return {**extra, "was": was}


def migrate_state(workflow: Workflow, restored: Restored, blobs: Blobs) -> list[Any]:
    """Bring a run's state into the form of today, in place.

    Args:
        workflow: as it is now.
        restored: the run.
        blobs: where large values go.

    Returns:
        The changes, as a record holds them.

    Raises:
        MigrationError: the migration raised, or what it gave does not fit.
    """
    name = type(workflow).__name__
    function = migrate.of_state(name)
    if function is None:
        return []
    log = StateLog(blobs)
    log.accept(restored.model)
    made = call_migration(function, state_fields(restored.model), f"the state of {name}")
    restored.model = _state(restored.model, made, name)
    patch = log.diff(restored.model, [()])
    for lost in patch.lost:
        raise MigrationError(
            f"the migration of the state of {name} gave a value that cannot be kept: {lost.error}"
        )
    return patch.ops


def _state(model: StateModel, made: Any, name: str) -> StateModel:
    what, cls = f"the migration of the state of {name}", type(model)
    if isinstance(made, cls):
        return made
    if not isinstance(made, dict):
        raise MigrationError(
            f"{what} gave a {type(made).__name__}: it has to return the fields; "
            "mend it and run this cell again"
        )
    # A default in the place of what is on record would go unnoticed.
    missing = [] if isinstance(model, DictState) else missing_names(cls, made)
    wrong = [f"'{one}', which {cls.__name__} does not have" for one in unknown_names(cls, made)]
    wrong += [f"no '{one}'" for one in missing]
    if wrong:
        raise MigrationError(f"{what} gave {wrong[0]}; mend it and run this cell again")
    try:
        return migrated_state(model, made)
    except Exception as error:
        raise MigrationError(
            f"{what} gave fields that do not fit {cls.__name__} ({fault_of(error)}); "
            "mend it and run this cell again"
        ) from error


def strayed(workflow: Workflow, records: list[Record], reader: TickReader) -> str:
    """Which migration made an event that the step which had got the recorded one does not take; or nothing.

    Args:
        workflow: as it is now.
        records: the run's.
        reader: makes values of their nodes.
    """
    takes = {info.name: info.accepts for info in steps_of(workflow)}
    for record in records:
        accepted = takes.get(record.get("s", ""))
        places = record.get("in") if record["k"] == "R" else None
        if accepted is None or not places:
            continue
        for number, index in places if isinstance(places[0], list) else [places]:
            before = reader.migrations
            try:
                event = reader.event(node_at(records, (number, index)))
            except (MissingClassError, MigrationError, DamagedError):
                # That is what the refusal speaks of already.
                continue
            if reader.migrations > before and not isinstance(event, tuple(accepted)):
                made = f"the migration of {reader.latest} gave a {type(event).__name__}"
                return (
                    f"{made}, and step '{record['s']}', which had got the recorded one, does not take it; "
                    "mend it and run this cell again"
                )
    return ""


def untaken_of(find: Migrating, restored: Restored) -> str:
    """Which migration made an event that no step takes; or nothing.

    Args:
        find: what the run was read with.
        restored: the run.
    """
    for cls in restored.unaccepted:
        if find.made.get(cls, cls.__qualname__) != cls.__qualname__:
            return (
                f"the migration of {find.made[cls]} gave a {cls.__name__}, which no step takes; "
                "mend it and run this cell again"
            )
    return ""
