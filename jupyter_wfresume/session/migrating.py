"""What the user's migrations do to a run before it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..codec import Blobs, call_migration, fault_of
from ..engine import StateModel, Workflow, migrated_state, state_fields, steps_of
from ..errors import MigrationError
from ..journal import Record, Restored, StateLog, with_names
from ..migrations import migrate
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
    if isinstance(made, StateModel):
        return made
    try:
        return migrated_state(model, made)
    except Exception as error:
        raise MigrationError(
            f"the migration of the state of {name} gave fields that do not fit {type(model).__name__} "
            f"({fault_of(error)}); mend it and run this cell again"
        ) from error
