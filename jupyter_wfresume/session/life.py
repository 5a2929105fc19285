"""One life of one run: how it begins, what it shows, and how it ends."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from ..codec import encode
from ..effects import Doubt, Unclear
from ..engine import (
    StopEvent,
    Workflow,
    WorkflowCancelledByUser,
    WorkflowCancelledEvent,
    WorkflowTimeoutError,
    detach,
    snapshot_from_state,
)
from ..errors import CannotKeepError, RunEnded, WfresumeError
from ..journal import dump_header
from ..records import ErrorView, RunHeader, RunView, Status
from ..runtime import SETTLED, Drive, Flight, StepInterrupt, apart
from . import words
from .above import without_result
from .answers import Answers
from .asked import asked
from .codes import Codes, codes_of
from .failures import Failures, error_view
from .identity import ATTRIBUTES
from .reuse import Reuse
from .unclear import Marks, doubts_of, joined, once_answered, set_aside_ends, waits_for
from .waiting import Waiting

if TYPE_CHECKING:
    from .session import Session

STOP_GRACE_S = 10.0
"""How long executions under way may go on after a first Stop, in seconds (the contract)."""

HEADER_EVERY_S = 1.0
"""The header, with the board's counts, is written at most this often, in seconds."""

NAME_AFTER_S = 1.0
"""Executions that cannot be stopped are named after this time, in seconds."""


class Life:
    """Drives one run from its opening to its end.

    Args:
        session: the cell.
        workflow: the workflow instance.
        codes: the code of its steps when this life began.
        header: the run's header as it begins this life.
        headline: how this life begins, for the board.
        parent: the life whose step runs this run, or None.
    """

    def __init__(
        self,
        session: Session,
        workflow: Workflow,
        codes: Codes,
        header: RunHeader,
        headline: str,
        parent: Life | None,
    ) -> None:
        self.session = session
        self.workflow = workflow
        self._codes = codes
        self.header = header
        self.headline = headline
        self.parent = parent
        self.children: list[Life] = []
        self.drive: Drive
        self.reuse: Reuse | None = None
        self.status: Status = "running"
        self.sentence = ""
        self.error: BaseException | None = None
        self.error_view: ErrorView | None = None
        self.notes: list[str] = list(header.notes)
        self.closed = asyncio.Event()
        self.concluded = False
        self.abandoned = False
        self._header_at = 0.0
        self._alive_s: float | None = None
        self._deadline: float | None = None
        self._hurry = False
        self._ending: Status | None = None
        self._ending_sentence = ""
        self._cause = ""
        self._doubts: list[Unclear] = []
        self._tasks: set[asyncio.Task[Any]] = set()
        self._failures = Failures()
        self._marks = Marks(self)
        self.answers = Answers(self)
        self.waiting = Waiting(self)
        self._still: list[Flight] = []

    # -- what is written and shown ----------------------------------------

    def header_bytes(self) -> bytes | None:
        """The header, when it is time to write it again."""
        now = time.monotonic()
        if now - self._header_at < HEADER_EVERY_S:
            return None
        return self.header_now(now)

    def header_now(self, now: float) -> bytes:
        """The header as it is."""
        self._header_at = now
        view = self.view()
        self.header = dataclasses.replace(
            self.header,
            status=self.status,
            updated=time.time(),
            elapsed_s=view.elapsed_s,
            saved_executions=view.saved_executions,
            saved_s=view.saved_s,
            sentence=self.sentence,
            notes=tuple(self.notes),
            steps=view.steps,
            error=self.error_view,
            questions=view.questions,
            failures=view.failures,
            extra={
                **self.header.extra,
                "records": self.drive.recorder.journal.length,
                **self.drive.progress.for_header(),
            },
        )
        return dump_header(self.header)

    def warn(self, sentence: str) -> None:
        """Keep a sentence in sight, on the board and in the header."""
        if sentence not in self.notes:
            self.notes.append(sentence)
            self._header_at = 0.0
            self.changed()

    def changed(self) -> None:
        """Something to show has changed."""
        self.waiting.look()
        self.session.show(self.top())

    def top(self) -> Life:
        """The run that the cell started."""
        top = self
        while top.parent is not None:
            top = top.parent
        return top

    def view(self) -> RunView:
        """What a board shows of this run now."""
        drive = self.drive
        state = drive.known_state()
        steps = () if state is None else drive.progress.views(state, drive.standing)
        children = tuple(child.view() for child in self.children)
        own = [] if state is None else drive.asking.open(state)
        notes = list(self.notes)
        if self._still:
            names = words.listed([f.label for f in self._still])
            notes.append(f"waits for {names}, which cannot be stopped; what it returns is recorded")
        if drive.held_back is not None and self._ending is None and not self.concluded:
            notes.append(f"{drive.held_back.label} failed; what is under way may finish, nothing new starts")
        left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
        return RunView(
            run_id=self.header.run_id,
            name=self.header.name,
            workflow=self.header.workflow,
            status=self.status,
            steps=steps,
            elapsed_s=drive.alive_s(time.time()) if self._alive_s is None else self._alive_s,
            left_s=drive.progress.left_s(steps) if self.status == "running" and steps else None,
            saved_executions=drive.progress.saved,
            saved_s=drive.progress.saved_s,
            reused_executions=drive.progress.reused,
            headline=self.headline,
            sentence=self.sentence,
            notes=tuple(notes),
            error=self.error_view,
            questions=asked(own, self.header.run_id if self.parent is not None else "", children),
            stopping_s=None if self.concluded else left,
            can_stop=self.session.can_stop and not self.concluded,
            body_reads=drive.consumed,
            children=children,
            failures=self._marks.on(self._failures.of(drive.parked)),
            store=self.session.hint,
            answered=once_answered(self.status, self.concluded, self._doubts),
        )

    # -- waiting and being stuck ------------------------------------------

    @property
    def has_ending(self) -> bool:
        """How it ends is decided."""
        return self.concluded or self._ending is not None

    @property
    def is_ending(self) -> bool:
        """It stops, or has ended."""
        return self.has_ending or self._deadline is not None

    def fail_set_aside(self) -> None:
        """Nothing but what was set aside is left: the run ends as failed, or waits for a person's word."""
        status, sentence, self.error = set_aside_ends(self.drive.parked, self.header_with_steps())
        self._spawn(self.finish(status, sentence))

    def write_header(self) -> None:
        """Write the header at once.

        Raises:
            StoreError: it is not on disk.
        """
        journal = self.drive.recorder.journal
        journal.store.put_run(self.header.run_id, self.header_now(time.monotonic()), lease=journal.lease)

    def header_with_steps(self) -> RunHeader:
        """The header with the counts as they are now."""
        return dataclasses.replace(self.header, steps=self.view().steps)

    # -- stopping ---------------------------------------------------------

    def request_stop(self) -> None:
        """Stop: first with time for what is under way, a second time at once. Thread-safe."""
        loop = self.drive.loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        if self.concluded:
            return
        if self._deadline is not None:
            self._hurry = True
            self.drive.flights.poke()
            return
        self.drive.flights.gate.clear()
        self.changed()
        self._wind_down_to("waiting" if self.status == "waiting" else "paused")

    async def _wind_down(self, status: Status, grace_s: float) -> None:
        flights = self.drive.flights
        await flights.until(lambda: self._hurry or not flights.active(), grace_s)
        await self.finish(status, "")

    def cut_off(self, flight: Flight, ended: BaseException) -> None:
        """An execution will not finish: interrupted, in doubt, or a run of its own ended without a result."""
        is_first = self._deadline is None and self._ending is None and not (self.concluded or self.drive.over)
        if isinstance(ended, Doubt) and (is_first or self._doubts):
            # Several may come while the run ends; they are said together.
            self._doubts = joined(self._doubts, ended.doubts)
        if not is_first:
            return
        self.drive.flights.gate.clear()
        status: Status = "paused"
        if isinstance(ended, RunEnded) and ended.status in ("waiting", "stuck", "paused"):
            status = ended.status  # type: ignore[assignment]  # one of the three words just compared
            self._ending_sentence = "" if status == "waiting" else ended.sentence
        elif not isinstance(ended, (RunEnded, StepInterrupt, KeyboardInterrupt)):
            self._cause = f"{flight.label} raised {type(ended).__name__}; "
        self._wind_down_to(status)

    def _wind_down_to(self, status: Status) -> None:
        self._deadline = time.monotonic() + STOP_GRACE_S
        self._spawn(self._wind_down(status, STOP_GRACE_S))

    def given_up(self) -> None:
        """The body stopped waiting: as without us, the run ends."""
        self.abandoned = True
        if not self.concluded and self._ending is None:
            self._spawn(self.finish("paused", ""))

    def _spawn(self, work: Any) -> None:
        task: asyncio.Task[Any] = apart(lambda: asyncio.ensure_future(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self, status: Status, sentence: str) -> None:
        """End the engine's loop once nothing of the run is executing any more."""
        if self._ending is not None or self.concluded:
            return
        self._ending = status
        self._ending_sentence = sentence or self._ending_sentence
        self.drive.flights.gate.clear()
        await self._quiet()
        inner = self.drive.inner
        # Aborting one that has ended would take its queues away from the run's next life.
        if inner is not None and inner.is_running and not self.drive.over:
            inner.abort()

    async def _quiet(self) -> None:
        flights = self.drive.flights
        while flights.unfinished():
            flights.cancel_all()
            await flights.wait_finished(NAME_AFTER_S, self._name_still)
            await asyncio.sleep(0)
            await flights.until(
                lambda: all(not f.finished or f.dead or f.gated for f in flights.current()), 1.0
            )

    def _name_still(self, still: list[Flight]) -> None:
        self._still = still
        self.changed()

    async def conclude(self, inner: Awaitable[StopEvent]) -> StopEvent:
        """Wait for the engine, see that nothing runs any more, and write how it ended.

        Raises:
            RunEnded: there is no result; the sentence says how to go on.
            Exception: the step's own, for a failed run.
        """
        stop: StopEvent | None = None
        watch = apart(lambda: asyncio.ensure_future(self.answers.watch()))
        try:
            stop = await inner
            status: Status = "done"
        except asyncio.CancelledError:
            status = self._ending or "paused"
        except WorkflowTimeoutError as error:
            status, self.error = self._unless_a_steps("timed out"), error
        except WorkflowCancelledByUser as error:
            status, self.error = self._unless_a_steps("paused"), error
        except WfresumeError as error:
            if self.drive.failure is None or self.drive.failure[1] is not error:
                watch.cancel()
                return await self._broken(error)
            # A step raised it, and that is on record: a failure as any other.
            status, self.error = "failed", error
        except Exception as error:  # noqa: BLE001  # the user's own; it is written down and raised again
            status, self.error = "failed", error
        watch.cancel()
        await self._quiet()
        try:
            self.close(status)
        except WfresumeError as error:
            return await self._broken(error)
        except BaseException:
            self._leave()  # else the cell would wait for this run without end
            raise
        if stop is not None:
            return stop
        if self.error is not None:
            raise self.error
        if self._doubts:
            raise without_result(self, Doubt(self.header.run_id, self._doubts, self.sentence))
        raise without_result(self, RunEnded(self.header.run_id, status, self.sentence))

    def _unless_a_steps(self, status: Status) -> Status:
        """The engine's exception may come from a run that a step runs itself; then the step has failed."""
        return status if self.drive.failure is None else "failed"

    async def _broken(self, error: WfresumeError) -> StopEvent:
        """The store failed: the run stops here, and says so."""
        self.status = "paused"
        self.sentence = f"{self.header.name} stopped at {words.counted(self.view().steps)}: {error}"
        self.error = error
        await self._quiet()
        self._leave()
        raise without_result(self, RunEnded(self.header.run_id, "paused", self.sentence)) from error

    def close(self, status: Status) -> None:
        """Write how the run ended.

        Raises:
            StoreError: it is not on disk.
        """
        drive = self.drive
        for flight in drive.flights.current():
            if flight.held is not None and not flight.recorded:
                # The tick that ended the run is not folded, so it does not count.
                record = drive.recorder.failed(flight, flight.held, drive.state.journal_seq - 1, drive.now())
                drive.progress.recorded(record, "")
                flight.recorded = True
        self._note_moved()
        self.answers.tidy()
        self.status = status
        if status == "failed" and self.error is not None:
            failed = self.drive.failure or (self.drive.parked[0] if self.drive.parked else None)
            self.error_view = self._marks.of(error_view(self.error, failed[0] if failed else None))
        self.sentence = self._ending_sentence or self._sentence(status)
        end: dict[str, Any] = {"k": "E", "t": time.time(), "status": status, "sentence": self.sentence}
        self._alive_s = drive.alive_s(end["t"])
        # --timeout is for the run that the cell starts: one that a step runs has its own budget each time.
        end["el"] = 0.0 if self.parent is not None and status == "timed out" else self._alive_s
        if status == "done" and drive.stop_ref is not None:
            end["stop"] = drive.stop_ref
            end["snap"] = self._snapshot()
        if status == "done":
            passed = (*SETTLED, *(("a later resume runs",) if drive.stop_ref else ()))
            self.notes = [note for note in self.notes if not any(part in note for part in passed)]
            self.header = dataclasses.replace(
                self.header, extra={**self.header.extra, "unkept": drive.stop_ref is None}
            )
        self._header_at = 0.0
        drive.recorder.append({**end, **drive.progress.ended(drive.flights.cut)})
        self._leave()

    def _note_moved(self) -> None:
        """A global that the run itself has changed is no edit, now and in later kernels."""
        found = codes_of(self.workflow).moved_since(self._codes)
        if not found:
            return
        moved, now = self._codes.with_moved(found)
        for step in found:
            versions = self.drive.progress.versions.get(step)
            if versions is not None:
                versions[now.digests[step]] += versions.pop(self._codes.digests[step], 0)
        self.header = dataclasses.replace(self.header, extra={**self.header.extra, "moved": moved})

    def _leave(self) -> None:
        self.concluded = True
        drive = self.drive
        drive.restore_budget()
        drive.left()
        drive.tasks.end()
        ATTRIBUTES.after(self.workflow)
        detach(self.workflow, drive)
        if self.status != "done" and drive.internal is not None:
            self._spawn(drive.internal.publish(WorkflowCancelledEvent()))
        self.waiting.end()
        self.closed.set()
        self.session.left(self)

    def _snapshot(self) -> Any:
        state = self.drive.known_state()
        if state is None:
            return None
        try:
            return encode(snapshot_from_state(self.workflow, state), self.drive.recorder.journal.store_blobs)
        except (CannotKeepError, ValueError, TypeError):
            # The engine's form cannot hold some event: a later turn begins from an empty broker.
            return None

    def _sentence(self, status: Status) -> str:
        header = self.header_with_steps()
        if status == "failed":
            return words.failed(dataclasses.replace(header, error=self.error_view))
        if status == "timed out":
            own = self.session.options.timeout_s if self.parent is None else None
            return words.timed_out(header, self.workflow._timeout if own is None else own)
        if status == "paused":
            return self._cause + words.paused(header.steps)
        if status == "waiting":
            self._doubts = joined(self._doubts, doubts_of(self.drive.parked))
            return waits_for(header, self._doubts, self.drive.parked, self.view().questions)
        return self.waiting.why_stuck() if status == "stuck" else ""
