"""From a plan to a port: a new run, one that goes on, or a recorded result."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..codec import Migrating, decode, encode
from ..engine import (
    Context,
    Port,
    StartEvent,
    StateModel,
    StepWorkerOutput,
    Workflow,
    count_tokens,
    default_state,
    engine_version,
    event_classes,
    snapshot_of,
    state_of,
    steps_of,
)
from ..errors import CannotKeepError, DryRun, JournalError, WfresumeError
from ..journal import (
    FORMAT,
    Final,
    FindClass,
    Journal,
    Record,
    Restored,
    StoreBlobs,
    final,
    history,
    restore,
)
from ..migrations import migrate
from ..plan import Plan, outdated
from ..records import Lease, RunHeader
from ..runtime import CURRENT, Beginning, Drive, Flight, Hooks, spent
from . import words
from .codes import Codes
from .fits import misfits
from .forecast import forecast, lines, still_to_run
from .life import Life
from .migrating import migrate_state, renamed, with_first_names
from .recorded import Recorded
from .reuse import Reuse
from .skips import left_out, pending
from .supply import Supply
from .unmet import unmet
from .warned import Warned, before, lasting, typical_s
from .world import places

if TYPE_CHECKING:
    from .session import Session


@dataclass
class _Found:
    """What the store holds of a run that goes on."""

    records: list[Record]
    restored: Restored | None
    damage: str
    migrated: Record = field(default_factory=dict)


@dataclass(frozen=True)
class Decided:
    """A call, and what was decided for it.

    Args:
        workflow: the instance.
        ctx: the context passed or made for the call.
        start_event: the start event of the call.
        codes: the code of the workflow's steps.
        header: of a new run, or of the one found.
        plan: what the call does.
        lease: the right to write.
        parent: the life whose step runs this run, or None.
        reuse: answers executions of a new run from earlier ones, or None.
    """

    workflow: Workflow
    ctx: Context[Any]
    start_event: StartEvent | None
    codes: Codes
    header: RunHeader
    plan: Plan
    lease: Lease
    parent: Life | None
    reuse: Reuse | None


def finder(workflow: Workflow) -> FindClass:
    """Finds a class among the workflow's own events, which a re-run cell may have made anew."""
    classes = event_classes(workflow)

    def find(module: str, qualname: str) -> type | None:
        return classes.get((module, qualname))

    return Migrating(find, migrate.of_class)


def begin(session: Session, call: Decided) -> tuple[Port, Life | None]:
    """Make the port of a run.

    Args:
        session: the cell.
        call: the call and what was decided for it.

    Returns:
        The port; and the life, where there is one.

    Raises:
        WfresumeError: the run cannot go on; the sentence says why and how.
    """
    return _Beginner(session, call).begin()


class _Beginner:
    def __init__(self, session: Session, call: Decided) -> None:
        self._session = session
        self._call = call
        self._header = call.header
        self._blobs = StoreBlobs(session.store)
        self._find = finder(call.workflow)
        self._model = self._own_model()

    def begin(self) -> tuple[Port, Life | None]:
        call = self._call
        if self._session.options.dry_run:
            self._rehearse()
        if call.plan.action == "recorded":
            ended = self._ended()
            if ended is not None:
                return self._recorded(ended), None
        found = self._found()
        life = self._life(found)
        drive = life.drive = self._drive(life, found)
        self._count(drive, found)
        if found.restored is not None and found.restored.stop is not None:
            # The process died between its last result and the record of its end.
            drive.stop_ref = found.restored.stop
            life.close("done")
            ended = self._ended()
            if ended is not None:
                return self._recorded(ended), None
        self._say(life, found)
        self._session.store.put_run(self._header.run_id, life.header_now(time.monotonic()), lease=call.lease)
        return drive, life

    def _rehearse(self) -> None:
        """Say what would be done, and end the body."""
        call, header = self._call, self._header
        short, why = words.short(header.run_id), f"; {call.plan.why}" if call.plan.why else ""
        said: list[str] = []
        if call.plan.action == "recorded":
            said = [f"gives the recorded result of run {short}{why}; no step would be executed"]
        elif call.plan.action == "resume":
            records, _ = renamed(call.workflow, history(self._session.store, header.run_id).records)
            said = [f"resumes run {short}{why}{self._leaves_out(records)[1]}"]
            if records:
                said += still_to_run(steps_of(call.workflow), self._restored(records)[0].state, records)
        else:
            said = [f"would be a new run{why}", *(self._forecast() or ["  every step would run"])]
        if call.plan.action != "recorded":
            said += unmet(call.workflow, self._session.cell, snapshot_of(call.ctx) is not None)
        self._session.tell("\n".join([f"{header.name}: {said[0]}", *said[1:]]))
        raise DryRun(header.run_id, "new", "nothing was executed: this was a dry run")

    def _ended(self) -> Final | None:
        records = history(self._session.store, self._header.run_id).records
        return final(records, self._blobs, self._find, self._model) if records else None

    def _own_model(self) -> StateModel:
        """The state to begin with: a copy by our codec, so that both lives begin with the same."""
        given = state_of(self._call.ctx)
        if given is None:
            return default_state(self._call.workflow)
        try:
            copy = decode(encode(given, self._blobs, self._find), self._blobs, self._find)
        except CannotKeepError:
            return given
        assert isinstance(copy, StateModel)
        return copy

    def _recorded(self, ended: Final) -> Recorded:
        header = self._header
        if self._call.parent is None:
            age = words.ago(time.time() - header.updated)
            kept = f"; {self._call.plan.why}" if self._call.plan.why else ""
            skips = header.extra.get("left_out", [])
            kept += f"; {words.left_out(skips)}" if skips else ""
            self._session.tell(
                f"{header.name}: recorded result of run {words.short(header.run_id)}, "
                f"{age} old{self._elsewhere()}{kept}; no step is executed (--fresh runs it again)"
            )
        return Recorded(self._call.workflow, header.engine_run_id, ended)

    def _leaves_out(self, records: list[Record]) -> tuple[list[str], str]:
        """What a person has left out of a run that goes on, and how its line says so."""
        skips = pending(self._session.store, self._header, records)
        return skips, f"; leaves out {words.listed(skips)}" if skips else ""

    def _elsewhere(self) -> str:
        here, there = self._session.notebook, self._header.notebook
        return f", made by {there}" if here and there and here != there else ""

    def _found(self) -> _Found:
        header, store = self._header, self._session.store
        if self._call.plan.action == "new":
            return _Found([], None, "")
        read = history(store, header.run_id)
        damage = ""
        written = int(header.extra.get("records", 0))
        if read.damage is None and len(read.records) < written:
            damage = (
                f"{written - len(read.records)} records at the end of run {words.short(header.run_id)} "
                "are missing: what they held runs again"
            )
        if read.damage is not None:
            lost = store.cut(header.run_id, len(read.records), lease=self._call.lease)
            from_there = f"{lost} record{'' if lost == 1 else 's'} from there on were dropped and run again"
            damage = f"{read.damage}; {from_there}"
        if not read.records:
            return _Found([], None, damage)
        _check_engine(header, read.records[0])
        records, names = renamed(self._call.workflow, read.records)
        restored, ops = self._restored(records)
        migrated: Record = {"rn": names} if names else {}
        return _Found(records, restored, damage, {**migrated, "st": ops} if ops else migrated)

    def _restored(self, records: list[Record]) -> tuple[Restored, list[Any]]:
        """The run as its records leave it, and what its state's migration changed."""
        call = self._call
        try:
            restored = restore(
                call.workflow,
                self._header.engine_run_id,
                records,
                self._blobs,
                self._find,
                call.start_event,
                self._model,
            )
        except JournalError as error:
            raise _refusal(self._header, error) from error
        reader = Supply.reader(self._blobs, self._find)
        ops = migrate_state(call.workflow, restored, self._blobs)
        wrong = misfits(records, restored, call.codes.parts, reader.value)
        if wrong:
            raise JournalError(
                f"cannot resume run {words.short(self._header.run_id)} of {self._header.name}: {wrong}; "
                "restore the class or give what is new a default, register a migration (README), make "
                "them again in a new run with --stale rerun, or start over with --fresh"
            )
        return restored, ops

    def _life(self, found: _Found) -> Life:
        header, session = self._header, self._session
        headline = ""
        if found.restored is not None:
            headline = words.how_it_ended(header, found.restored.in_flight, session.previous_beat)
        began = replace(
            header,
            status="running",
            lives=header.lives + 1,
            sentence="",
            error=None,
            cell=session.cell or header.cell,
            notebook=session.notebook or header.notebook,
            notes=() if found.restored is None else lasting(header.notes),
            extra=with_first_names(
                {key: value for key, value in header.extra.items() if key != "died"},
                found.migrated.get("rn", {}),
            ),
        )
        return Life(session, self._call.workflow, self._call.codes, began, headline, self._call.parent)

    def _drive(self, life: Life, found: _Found) -> Drive:
        call, session = self._call, self._session
        journal = Journal(session.store, self._header.run_id, call.lease, len(found.records))
        supply = Supply(call.workflow, found.records, found.restored, self._blobs, self._find)
        beginning = Beginning(
            restored=found.restored,
            model=self._model,
            opening={} if found.records else self._opening(life),
            previous_beat=session.previous_beat,
            timeout_s=session.options.timeout_s if call.parent is None else None,
            codes=call.codes.digests,
            life={"code": encode(call.codes.written(), self._blobs), **found.migrated},
        )
        life.answers.skips.knows(left_out(session.store, self._header.run_id))
        warned = Warned(life, self._typical_s)
        hooks = Hooks(
            header=life.header_bytes,
            changed=warned.changed,
            idle=life.waiting.idle,
            asked=life.waiting.asked,
            warn=life.warn,
            blocked=warned.blocked,
            unaccepted=warned.unaccepted,
            reads=lambda waits: session.movers.reads(life, waits),
            supply=supply.fill,
            reuse=_nothing if call.reuse is None else call.reuse.answer,
            skip=life.answers.skips.at,
            keep_going=session.options.keep_going,
            place=places(session.store, life.header, call.lease, self._find, life.warn),
            cut_off=life.cut_off,
            conclude=life.conclude,
            given_up=life.given_up,
            find_class=self._find,
        )
        count_tokens(spent)
        drive = Drive(call.workflow, self._header.engine_run_id, journal, beginning, hooks)
        above = CURRENT.get() if call.parent is not None else None
        if above is not None:
            above.below.append(lambda: drive.progress.tally.tokens)
        if call.reuse is not None:
            call.reuse.drive = drive
            if found.restored is not None:
                call.reuse.goes_on(found.records, found.restored.indexes)
            life.reuse = call.reuse
        return drive

    def _opening(self, life: Life) -> Record:
        call = self._call
        record: Record = {"v": FORMAT, "engine": engine_version()}
        snapshot = snapshot_of(call.ctx)
        if snapshot is not None:
            record["snap"] = encode(snapshot, self._blobs, self._find)
        try:
            record["state"] = encode(self._model, self._blobs, self._find)
        except CannotKeepError as error:
            life.notes.append(
                f"the state passed with ctx= cannot be kept at {error.path} ({error.type_name}): "
                "a resume takes it from the cell again"
            )
        if call.start_event is not None:
            try:
                record["start"] = encode(call.start_event, self._blobs, self._find)
            except CannotKeepError as error:
                life.notes.append(
                    f"{type(call.start_event).__name__}{error.path} ({error.type_name}) cannot be kept "
                    f"({error.reason}): a resume takes it from the cell again"
                )
        return record

    def _forecast(self) -> list[str]:
        """What earlier runs answer, a line a step, before anything is executed."""
        call = self._call
        if call.reuse is None or call.start_event is None:
            return []
        found = forecast(
            call.workflow,
            call.start_event,
            snapshot_of(call.ctx),
            self._model,
            call.reuse,
            call.codes.parts,
            Supply.reader(self._blobs, self._find),
        )
        return lines(found)

    def _typical_s(self) -> dict[str, float]:
        """By step, the median seconds of an execution in earlier runs of the name."""
        reuse = self._call.reuse
        return {} if reuse is None else typical_s(reuse.matcher.evidence.durations())

    def _count(self, drive: Drive, found: _Found) -> None:
        if found.restored is not None:
            drive.progress.unaccepted.update(found.restored.unaccepted)
        codes: dict[str, str] = {}
        reader = Supply.reader(self._blobs, self._find)
        for record in found.records:
            if record["k"] == "L" and "code" in record:
                codes = self._call.codes.of_life(reader.value(record["code"]))
            elif record["k"] in "RF":
                drive.progress.restored(record, codes.get(record["s"], ""))
            elif record["k"] == "E":
                drive.progress.tally.add(record)

    def _say(self, life: Life, found: _Found) -> None:
        """What is said before work starts, in one line, and what is kept in sight."""
        call, header = self._call, self._header
        short, why = words.short(header.run_id), call.plan.why
        if found.restored is not None:
            counted = words.counted(life.view().steps)
            ended = life.headline
            life.headline = f"resumed at {counted} · {ended}"
            skips, without = self._leaves_out(found.records)
            if skips:
                life.warn(words.left_out(skips))
            said = f"resumes run {short} at {counted} executions; {why or ended}{self._elsewhere()}{without}"
        else:
            said = f"new run {short}{f' ({why})' if why else ''}"
        if call.parent is None:
            plan = self._forecast() if found.restored is None else []
            self._session.tell("\n".join([f"{header.name}: {said}", *plan]))
        if call.parent is None:
            before(life, snapshot_of(call.ctx) is not None)
        if found.damage:
            life.warn(found.damage)
        old = outdated(header, call.codes.digests) if found.restored is not None else {}
        for step, count in old.items():
            were = "execution is" if count == 1 else "executions are"
            life.warn(f"{count:,} finished {were} of an earlier version of `{step}`")
        for event, _, lost in () if found.restored is None else found.restored.lost.values():
            life.warn(
                f"{type(event).__name__}{lost[2]} ({lost[3]}) was not kept: "
                "the execution that made it runs again"
            )
        for key, finished, dead in [] if found.restored is None else found.restored.overlaps:
            life.warn(
                f"state {key} ({finished}) also holds what {words.listed(dead)} wrote, "
                "which did not finish: that may be missing now, or count twice"
            )


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
        f"cannot resume run {words.short(header.run_id)} of {header.name}: {error}; restore what was "
        "changed, reuse what still fits in a new run with --stale rerun, or start over with --fresh"
    )


async def _nothing(flight: Flight) -> list[StepWorkerOutput] | None:
    """No earlier run answers an execution."""
    return None
