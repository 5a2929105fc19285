"""From a plan to a port: a new run, one that goes on, or a recorded result."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..codec import decode, encode
from ..engine import (
    Context,
    Port,
    StartEvent,
    StateModel,
    Workflow,
    default_state,
    engine_version,
    event_classes,
    snapshot_of,
    state_of,
)
from ..errors import CannotKeepError, JournalError, WfresumeError
from ..journal import (
    FORMAT,
    FindClass,
    Journal,
    Record,
    Restored,
    StoreBlobs,
    final,
    history,
    restore,
)
from ..plan import Plan
from ..records import Lease, RunHeader
from ..runtime import Beginning, Drive, Hooks
from . import words
from .life import Life
from .recorded import Recorded
from .supply import Supply

if TYPE_CHECKING:
    from .session import Session


@dataclass
class _Found:
    """What the store holds of a run that goes on."""

    records: list[Record]
    restored: Restored | None
    damage: str


def finder(workflow: Workflow) -> FindClass:
    """Finds a class among the workflow's own events, which a re-run cell may have made anew."""
    classes = event_classes(workflow)

    def find(module: str, qualname: str) -> type | None:
        return classes.get((module, qualname))

    return find


def begin(
    session: Session,
    workflow: Workflow,
    ctx: Context[Any],
    start_event: StartEvent | None,
    header: RunHeader,
    plan: Plan,
    lease: Lease,
    parent: Life | None,
) -> tuple[Port, Life | None]:
    """Make the port of a run.

    Args:
        session: the cell.
        workflow: the instance.
        ctx: the context passed or made for the call.
        start_event: the start event of the call.
        header: of a new run, or of the one found.
        plan: what the call does.
        lease: the right to write.
        parent: the life whose step runs this run, or None.

    Returns:
        The port; and the life, where there is one.

    Raises:
        WfresumeError: the run cannot go on; the sentence says why and how.
    """
    blobs = StoreBlobs(session.store)
    find = finder(workflow)
    model = _own_model(workflow, ctx, blobs, find)
    if plan.action == "recorded":
        records = history(session.store, header.run_id).records
        ended = final(records, blobs, find, model) if records else None
        if ended is not None:
            return _recorded(session, workflow, header, ended, parent), None
    found = _find(session, workflow, start_event, header, plan, lease, blobs, model)
    life = _life(session, workflow, header, plan, found, parent)
    drive = _drive(session, workflow, ctx, start_event, life, found, lease, model, find)
    life.drive = drive
    for record in found.records:
        if record["k"] in "RF":
            drive.progress.restored(record)
    if found.restored is not None and found.restored.stop is not None:
        # The process died between its last result and the record of its end.
        drive.stop_ref = found.restored.stop
        life.close("done")
        ended = final(history(session.store, header.run_id).records, blobs, find, model)
        return _recorded(session, workflow, life.header, ended, parent), None
    if found.restored is not None:
        life.headline = f"resumed at {words.counted(life.view().steps)} · {life.headline}"
    if found.damage:
        life.warn(found.damage)
    for event, _, said in () if found.restored is None else found.restored.lost.values():
        life.warn(
            f"{type(event).__name__}{said[2]} ({said[3]}) was not kept: the execution that made it runs again"
        )
    for shared in [] if found.restored is None else found.restored.overlaps:
        life.warn(
            f"state {shared} also holds what an execution wrote that did not finish: it may count twice"
        )
    if parent is None:
        _tell(session, life, plan, found)
    session.store.put_run(header.run_id, life.header_now(time.monotonic()), lease=lease)
    return drive, life


def _own_model(workflow: Workflow, ctx: Context[Any], blobs: StoreBlobs, find: FindClass) -> StateModel:
    """The state to begin with: a copy by our codec, so that both lives begin with the same."""
    given = state_of(ctx)
    if given is None:
        return default_state(workflow)
    try:
        copy = decode(encode(given, blobs, find), blobs, find)
    except CannotKeepError:
        return given
    assert isinstance(copy, StateModel)
    return copy


def _recorded(
    session: Session, workflow: Workflow, header: RunHeader, ended: Any, parent: Life | None
) -> Recorded:
    if parent is None:
        age = words.ago(time.time() - header.updated)
        elsewhere = _elsewhere(session, header)
        session.tell(
            f"{header.name}: recorded result of run {words.short(header.run_id)}, {age} old{elsewhere}; "
            "no step is executed (--fresh runs it again)"
        )
    return Recorded(workflow, header.engine_run_id, ended)


def _elsewhere(session: Session, header: RunHeader) -> str:
    if session.notebook and header.notebook and session.notebook != header.notebook:
        return f", made by {header.notebook}"
    return ""


def _find(
    session: Session,
    workflow: Workflow,
    start_event: StartEvent | None,
    header: RunHeader,
    plan: Plan,
    lease: Lease,
    blobs: StoreBlobs,
    model: StateModel,
) -> _Found:
    if plan.action == "new":
        return _Found([], None, "")
    read = history(session.store, header.run_id)
    damage = ""
    written = int(header.extra.get("records", 0))
    if read.damage is None and len(read.records) < written:
        damage = (
            f"{written - len(read.records)} records at the end of run {words.short(header.run_id)} "
            "are missing: what they held runs again"
        )
    if read.damage is not None:
        lost = session.store.cut(header.run_id, len(read.records), lease=lease)
        damage = (
            f"{read.damage}; {lost} record{'' if lost == 1 else 's'} from there on were dropped and run again"
        )
    if not read.records:
        return _Found([], None, damage)
    _check_engine(header, read.records[0])
    try:
        restored = restore(
            workflow, header.engine_run_id, read.records, blobs, finder(workflow), start_event, model
        )
    except JournalError as error:
        raise _refusal(header, error) from error
    return _Found(read.records, restored, damage)


def _check_engine(header: RunHeader, opening: Record) -> None:
    written = str(opening.get("engine", ""))
    if written.split(".")[:2] != engine_version().split(".")[:2]:
        raise JournalError(
            f"run {words.short(header.run_id)} was written with llama-index-workflows {written}, and "
            f"{engine_version()} may read it wrongly: install that version to go on, or start over with "
            "--fresh"
        )


def _refusal(header: RunHeader, error: JournalError) -> WfresumeError:
    """A journal that cannot be folded, in one sentence with the way out."""
    if type(error) is not JournalError:
        return error
    return JournalError(
        f"cannot resume run {words.short(header.run_id)} of {header.name}: {error}; "
        "restore what was changed, or start over with --fresh"
    )


def _life(
    session: Session,
    workflow: Workflow,
    header: RunHeader,
    plan: Plan,
    found: _Found,
    parent: Life | None,
) -> Life:
    headline = ""
    if found.restored is not None:
        headline = _why(session, header, found)
    began = replace(
        header,
        status="running",
        lives=header.lives + 1,
        sentence="",
        error=None,
        cell=session.cell or header.cell,
        notebook=session.notebook or header.notebook,
        notes=() if found.restored is None else header.notes,
        extra={key: value for key, value in header.extra.items() if key != "died"},
    )
    return Life(session, workflow, began, headline, parent)


def _why(session: Session, header: RunHeader, found: _Found) -> str:
    in_flight = [] if found.restored is None else [f"{step}[{i}]" for step, i in found.restored.in_flight]
    return words.how_it_ended(header, in_flight, session.previous_beat)


def _drive(
    session: Session,
    workflow: Workflow,
    ctx: Context[Any],
    start_event: StartEvent | None,
    life: Life,
    found: _Found,
    lease: Lease,
    model: StateModel,
    find: FindClass,
) -> Drive:
    journal = Journal(session.store, life.header.run_id, lease, len(found.records))
    supply = Supply(workflow, found.records, found.restored, journal.store_blobs, find)
    opening = {} if found.records else _opening(ctx, start_event, journal.store_blobs, model, find, life)
    beginning = Beginning(
        restored=found.restored,
        model=model,
        opening=opening,
        previous_beat=session.previous_beat,
        timeout_s=session.options.timeout_s if life.parent is None else None,
    )
    hooks = Hooks(
        header=life.header_bytes,
        changed=life.changed,
        idle=life.idle,
        warn=life.warn,
        supply=supply.fill,
        cut_off=life.cut_off,
        conclude=life.conclude,
        given_up=life.given_up,
        find_class=find,
    )
    return Drive(workflow, life.header.engine_run_id, journal, beginning, hooks)


def _opening(
    ctx: Context[Any],
    start_event: StartEvent | None,
    blobs: StoreBlobs,
    model: StateModel,
    find: FindClass,
    life: Life,
) -> Record:
    record: Record = {"v": FORMAT, "engine": engine_version()}
    snapshot = snapshot_of(ctx)
    if snapshot is not None:
        record["snap"] = encode(snapshot, blobs, find)
    try:
        record["state"] = encode(model, blobs, find)
    except CannotKeepError as error:
        life.notes.append(
            f"the state passed with ctx= cannot be kept at {error.path} ({error.type_name}): "
            "a resume takes it from the cell again"
        )
    if start_event is not None:
        try:
            record["start"] = encode(start_event, blobs, find)
        except CannotKeepError as error:
            life.notes.append(
                f"{type(start_event).__name__}{error.path} ({error.type_name}) cannot be kept "
                f"({error.reason}): a resume takes it from the cell again"
            )
    return record


def _tell(session: Session, life: Life, plan: Plan, found: _Found) -> None:
    header = life.header
    short = words.short(header.run_id)
    if found.restored is not None:
        why = plan.why or life.headline.split(" · ", 1)[-1]
        session.tell(
            f"{header.name}: resumes run {short} at {words.counted(life.view().steps)} executions; {why}"
            f"{_elsewhere(session, header)}"
        )
    else:
        said = f" ({plan.why})" if plan.why else ""
        session.tell(f"{header.name}: new run {short}{said}")
