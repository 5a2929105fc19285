"""From a plan to a port: a new run, one that goes on, or a recorded result."""

from __future__ import annotations

import time
from collections.abc import Awaitable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..codec import encode
from ..engine import Port, StepWorkerOutput, StopEvent, count_tokens, engine_version, snapshot_of, steps_of
from ..errors import CannotKeepError, DryRun
from ..journal import FORMAT, Final, Journal, Record, has_replies, history, streamed
from ..plan import outdated
from ..runtime import CURRENT, Beginning, Drive, Flight, Hooks, as_written, spent
from ..store import is_alive, this_process
from . import words
from .forecast import forecast, lines, still_to_run
from .found import Decided, Found, Past
from .handed import hand_back
from .life import Life
from .migrating import renamed, with_first_names
from .recorded import Recorded
from .skips import left_out
from .supply import Supply
from .unmet import unmet
from .warned import Warned, before, lasting, typical_s
from .world import places

if TYPE_CHECKING:
    from .session import Session


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
        self._past = Past(session.store, call)
        self._blobs, self._find = self._past.blobs, self._past.find
        self._model = self._past.model

    def begin(self) -> tuple[Port, Life | None]:
        call = self._call
        if self._session.options.dry_run:
            self._rehearse()
        if call.plan.action == "recorded":
            ended = self._past.ended()
            if ended is not None:
                return self._recorded(ended), None
        found = self._past.found()
        life = self._life(found)
        drive = life.drive = self._drive(life, found)
        self._count(drive, found)
        if found.restored is not None and found.restored.stop is not None:
            # The process died between its last result and the record of its end.
            drive.stop_ref = found.restored.stop
            life.close("done")
            ended = self._past.ended()
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
            skips, without = self._past.leaves_out(records)
            said = [f"resumes run {short}{why}{without}{self._held_by()}"]
            if records:
                state = self._past.restored(records)[0].state
                said += still_to_run(steps_of(call.workflow), state, records, skips)
            said += [f"  waits for a person: {question.text}" for question in header.questions]
        else:
            said = [f"would be a new run{why}", *(self._forecast() or ["  every step would run"])]
        if call.plan.action != "recorded":
            said += unmet(call.workflow, self._session.cell, snapshot_of(call.ctx) is not None)
        self._session.tell("\n".join([f"{header.name}: {said[0]}", *said[1:]]))
        said_so = "nothing was executed: this was a dry run of the first call that the cell makes"
        raise DryRun(header.run_id, "new", said_so)

    def _held_by(self) -> str:
        """Who drives the run now, so that the cell would be refused."""
        lease = self._session.store.lease_of(self._header.run_id)
        if lease is None or lease.owner == this_process() or is_alive(lease.owner) is False:
            return ""
        return f"; not now: process {lease.owner.pid} on host {lease.owner.host} drives it"

    def _recorded(self, ended: Final) -> Recorded:
        header = self._header
        hand_back(self._call.start_event, ended.model)
        if self._call.parent is None:
            age = words.ago(time.time() - header.updated)
            kept = f"; {self._call.plan.why}" if self._call.plan.why else ""
            skips = header.extra.get("left_out", [])
            kept += f"; {words.left_out(skips)}" if skips else ""
            self._session.tell(
                f"{header.name}: recorded result of run {words.short(header.run_id)}, "
                f"{age} old{self._elsewhere()}{kept}; no step is executed (--fresh runs it again)"
            )
        earlier = streamed(self._past.records, Supply.reader(self._blobs, self._find))
        return Recorded(self._call.workflow, header.engine_run_id, ended, earlier)

    def _elsewhere(self) -> str:
        here, there = self._session.notebook, self._header.notebook
        return f", made by {there}" if here and there and here != there else ""

    def _life(self, found: Found) -> Life:
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

    def _drive(self, life: Life, found: Found) -> Drive:
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

        async def conclude(inner: Awaitable[StopEvent]) -> StopEvent:
            stop = await life.conclude(inner)
            # Without a result the same call is made again, and has to look the same.
            hand_back(call.start_event, drive.store.model)
            return stop

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
            place=places(session.store, life.header, call.lease, self._find, life.warn, session.hint),
            cut_off=life.cut_off,
            conclude=conclude,
            given_up=life.given_up,
            find_class=self._find,
        )
        count_tokens(spent)
        drive = Drive(call.workflow, self._header.engine_run_id, journal, beginning, hooks)
        if not has_replies(found.records):
            drive.earlier = streamed(found.records, Supply.reader(self._blobs, self._find))
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
                place = as_written(type(call.start_event).__name__, error.path)
                life.notes.append(
                    f"{place} ({error.type_name}) cannot be kept ({error.reason}): a resume takes it from "
                    "the cell again; to have it kept, pass what it is made from, such as a path or a setting"
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
        return lines(found, call.codes.parts)

    def _typical_s(self) -> dict[str, float]:
        """By step, the median seconds of an execution in earlier runs of the name."""
        reuse = self._call.reuse
        return {} if reuse is None else typical_s(reuse.matcher.evidence.durations())

    def _count(self, drive: Drive, found: Found) -> None:
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

    def _say(self, life: Life, found: Found) -> None:
        """What is said before work starts, in one line, and what is kept in sight."""
        call, header = self._call, self._header
        short, why = words.short(header.run_id), call.plan.why
        if found.restored is not None:
            counted = words.counted_of(life.view().steps)
            ended = life.headline
            life.headline = f"resumed at {counted} · {ended}"
            skips, without = self._past.leaves_out(found.records)
            said = f"resumes run {short} at {counted}; {why or ended}{self._elsewhere()}{without}"
        else:
            skips = []
            said = f"new run {short}{f' ({why})' if why else ''}"
        if call.parent is None:
            plan = self._forecast() if found.restored is None else []
            self._session.tell("\n".join([f"{header.name}: {said}", *plan]))
        if skips:
            life.warn(words.left_out(skips))
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
                f"{as_written(type(event).__name__, lost[2])} ({lost[3]}) was not kept: "
                "the execution that made it runs again"
            )
        for key, finished, dead in [] if found.restored is None else found.restored.overlaps:
            life.warn(
                f"state {key} ({finished}) also holds what {words.listed(dead)} wrote, "
                "which did not finish: that may be missing now, or count twice"
            )


async def _nothing(flight: Flight) -> list[StepWorkerOutput] | None:
    """No earlier run answers an execution."""
    return None
