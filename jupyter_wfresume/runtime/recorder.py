"""Writes a run's ticks down before their commands are carried out."""

from __future__ import annotations

import contextlib
import re
from typing import Any

from ..codec import encode
from ..engine import (
    Event,
    StepWorkerFailed,
    StepWorkerResult,
    StopEvent,
    TickAddEvent,
    TickStepResult,
    WorkflowTick,
)
from ..errors import CannotKeepError
from ..journal import Journal, Record, Restored, TickWriter, Unkept
from ..journal.state import Lost
from ..records import Tokens
from .flights import Flight
from .hooks import Hooks
from .mailbox import STREAM_KEPT
from .refs import Refs
from .watch import Watch

_FREE_FIELD = re.compile(r"\._data\['(\w+)'\]")
"""A field that an event's class does not declare."""


class Recorder:
    """Makes the records of one run and appends them.

    Args:
        journal: the run's log.
        watch: which execution changed what of the state.
        hooks: of the session.
    """

    def __init__(
        self,
        journal: Journal,
        watch: Watch,
        hooks: Hooks,
    ) -> None:
        self.journal = journal
        self.refs = Refs(journal.store_blobs, hooks.find_class)
        self._writer = TickWriter(journal.store_blobs, hooks.find_class)
        self._find_class = hooks.find_class
        self._watch = watch
        self._header = hooks.header
        self._warn = hooks.warn
        # As they arrive: a later migration may make something else of what is on record.
        self._arrived: dict[int, tuple[Event, Any]] = {}

    def remember(self, restored: Restored) -> None:
        """Know where the events that are still in use were written."""
        for event, ref in restored.refs.values():
            node: Any = {"lost": []}
            if id(event) not in restored.lost:
                # It was kept once; if its class has changed since, only the
                # check for changes in place is lost.
                with contextlib.suppress(CannotKeepError):
                    node = encode(event, self.journal.store_blobs, self._find_class)
            self.refs.put(event, ref, node)
            if id(event) in restored.changed:
                self.refs.has_changed(event)
            if id(event) in restored.migrated:
                self._arrived[id(event)] = (event, None if "lost" in node else node)

    def append(self, record: Record) -> int:
        """Write one record.

        Raises:
            StoreError: it is not on disk.
        """
        return self.journal.append(record, self._header())

    def other(self, tick: WorkflowTick, position: int, now: float, more: Record) -> None:
        """Write a tick that is no result.

        Args:
            tick: the tick.
            position: how many ticks were reduced before it.
            now: the loop's time.
            more: further members of the record.
        """
        self._body_changes(now)
        written = self._writer.tick(tick)
        written.record.update({"q": position, "t": now, **more})
        number = self.append(written.record)
        if isinstance(tick, TickAddEvent):
            self.refs.put(tick.event, [number, 0], written.record["e"])
        origin = more.get("o", "a send")
        # What an argument of run() lacks is said when the run begins.
        for one in () if origin == "start" else written.unkept:
            self._say(one, origin, type(tick).__name__)

    def result(self, tick: TickStepResult, flight: Flight, position: int, now: float, final: bool) -> Record:
        """Write the result of an execution.

        Args:
            tick: the result.
            flight: the execution.
            position: how many ticks were reduced before it.
            now: the loop's time.
            final: it is the failure that ends this life.

        Returns:
            The record.
        """
        self._body_changes(now)
        written = self._writer.result(tick)
        record = written.record
        # A run that ended with a result that is not on disk has to make it
        # again: its last execution counts as one that ended a life.
        unrecorded = final or _loses_stop(tick, record)
        record.update({"k": "F" if unrecorded else "R", "q": position, "t": now})
        self._describe(record, flight)
        ops, lost, shared = self._watch.finished(flight)
        if not unrecorded:
            if ops:
                record["st"] = ops
            if shared:
                record["ov"] = shared
            self._what_it_saw(record, flight)
            changed = self.refs.changed(flight.event)
            if changed is not None:
                record["m"] = changed
            elif any(map(self.refs.was_changed, flight.inputs)):
                record["mi"] = 1
        if flight.parked is not None:
            record["pk"] = [self._writer.exception(flight.parked.exception), flight.parked.failed_at]
        if flight.skipped:
            record["sk"] = flight.skipped
        number = self.append(record)
        self._remember(number, tick, record)
        for one in written.unkept:
            self._say(one, flight.label, "")
        for gone in lost:
            self._say_state(gone, flight)
        return record

    def _what_it_saw(self, record: Record, flight: Flight) -> None:
        """What another run has to see alike to be answered from this record."""
        if flight.source is not None:
            run_id, number, seconds, code = flight.source
            record.update({"u": [run_id, number], "ud": seconds, "uc": code})
        if flight.seen:
            record["rd"] = [[list(path), seen] for path, seen in flight.seen.items()]
        if flight.writes:
            record["wr"] = [list(path) for path in flight.writes]
        if len(flight.published) > STREAM_KEPT:
            record["p"] = None
        elif flight.published:
            record["p"] = [self._writer.event(event, "a streamed event", []) for event in flight.published]
        if flight.asked:
            record["pa"] = [self._writer.event(event, "a streamed question", []) for event in flight.asked]

    def failed(self, flight: Flight, failure: StepWorkerFailed, position: int, now: float) -> Record:
        """Write a final failure that the engine does not get to see, because another ended the run."""
        record: Record = {
            "k": "F",
            "q": position,
            "t": now,
            "s": flight.step,
            "v": flight.invocation_id,
            "r": [["x", self._writer.exception(failure.exception), failure.failed_at, None, None]],
        }
        self._describe(record, flight)
        self.append(record)
        return record

    def _describe(self, record: Record, flight: Flight) -> None:
        took_s = record["t"] + flight.behind_s - flight.began
        record.update({"i": flight.index, "b": round(flight.began, 3), "d": round(took_s, 3)})
        if flight.attempt:
            record["a"] = flight.attempt
        below = sum((tokens() for tokens in flight.below), Tokens())
        for key, tokens in (("tk", sum(flight.tokens, Tokens())), ("tb", below), ("ut", flight.saved)):
            if tokens:
                record[key] = [tokens.prompt, tokens.completion, tokens.total]
        refs = [self.refs.get(event) for event in flight.inputs]
        if all(ref is not None for ref in refs):
            record["in"] = refs[0] if len(refs) == 1 else refs
        if "in" not in record or any(id(event) in self._arrived for event in flight.inputs):
            record["ie"] = [self._as_it_arrived(event) for event in flight.inputs]

    def _as_it_arrived(self, event: Event) -> Any:
        _, node = self._arrived.get(id(event), (event, None))
        unkept: list[Unkept] = []
        return self._writer.event(event, "input", unkept) if node is None else node

    def _remember(self, number: int, tick: TickStepResult, record: Record) -> None:
        for index, (item, written) in enumerate(zip(tick.result, record["r"], strict=True)):
            if isinstance(item, StepWorkerResult) and item.result is not None:
                self.refs.put(item.result, [number, index], written[1])
        for sent, (index, node, *_) in zip(tick.sends, record.get("n", ()), strict=True):
            if self.refs.get(sent.event) is None:
                self.refs.put(sent.event, [number, -1 - index], node)

    def _body_changes(self, now: float) -> None:
        ops = self._watch.body_ops()
        if ops:
            self.append({"k": "B", "t": now, "st": ops})

    def _say(self, one: Unkept, label: str, what: str) -> None:
        error = one.error
        place = f"{label}: " if label else what
        self._warn(
            f"{place}{as_written(one.where, error.path)} ({error.type_name}) cannot be kept "
            f"({error.reason}); "
            f"the run goes on, but a later resume runs {label or 'it'} again: put it into a Resource"
        )

    def _say_state(self, gone: Lost, flight: Flight) -> None:
        key = ".".join(str(part) for part in gone.path)[2:]
        error = gone.error
        self._warn(
            f"{flight.label}: state key '{key}'{error.path} ({error.type_name}) cannot be kept "
            f"({error.reason}); the run goes on, but cannot be resumed past here: put it into a Resource"
        )


def as_written(what: str, path: str) -> str:
    """A place in an event as its user writes it: ``event.client``, not where the event's class holds it.

    Args:
        what: the event in a word, such as ``result``.
        path: from there.
    """
    path = _FREE_FIELD.sub(r".\1", path)
    if what == "result":
        return f"{what}{path.removeprefix('._result')}"
    return f"{what}{path.replace('._result', '.result', 1)}"


def result_events(tick: TickStepResult) -> list[Event]:
    """The events that a step returned."""
    return [r.result for r in tick.result if isinstance(r, StepWorkerResult) and r.result is not None]


def first_failure(tick: TickStepResult) -> Any | None:
    """The failure in a result, if there is one."""
    return next((r for r in tick.result if isinstance(r, StepWorkerFailed)), None)


def _loses_stop(tick: TickStepResult, record: Record) -> bool:
    return any(
        isinstance(item, StepWorkerResult)
        and isinstance(item.result, StopEvent)
        and isinstance(written[1], dict)
        and "lost" in written[1]
        for item, written in zip(tick.result, record["r"], strict=True)
    )
