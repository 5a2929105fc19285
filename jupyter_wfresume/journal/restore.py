"""From records back to a run that can go on."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..codec import Blobs, digest
from ..engine import (
    CommandRunWorker,
    Event,
    Fold,
    InProgressState,
    LiveBrokerState,
    StateModel,
    StopEvent,
    TickStepResult,
    Workflow,
    executions,
    find_execution,
    input_events,
    mark,
    open_waiters,
    release_parked,
    set_workers,
    state_from_snapshot,
    unmark,
    workers_of,
)
from ..errors import CannotKeepError, DamagedError, JournalError
from ..projection import node_at
from .restored import Ref, Restored, Waiter
from .state import Op, apply_ops
from .ticks import FindClass, Record, TickReader


class _Restorer:
    def __init__(
        self,
        workflow: Workflow,
        engine_run_id: str,
        blobs: Blobs,
        find_class: FindClass,
        start: Event | None,
        model: StateModel | None,
    ) -> None:
        self._workflow = workflow
        self._run_id = engine_run_id
        self._reader = TickReader(blobs, find_class, self._found_lost, self._found_migrated)
        self._given_start = start
        self._given_model = model
        self._lost_now: list[tuple[Event, list[str]]] = []
        self._sent: dict[str, dict[int, Event]] = {}
        self._added_at: dict[tuple[str, str], tuple[float, float | None]] = {}
        self._driven = 0.0
        self._life_began: float | None = None
        self._overlaps: list[list[Any]] = []
        self._records: list[Record] = []
        self._migrated: dict[int, Event] = {}
        self.fold: Fold
        self.out: Restored

    def _found_lost(self, event: Event, lost: list[str]) -> None:
        self._lost_now.append((event, lost))

    def _found_migrated(self, event: Event) -> None:
        self._migrated[id(event)] = event

    def _on_dispatch(self, command: CommandRunWorker) -> None:
        found = find_execution(self.fold.holder.state, command.invocation_id)
        if found is not None:
            _number(self.out.indexes, str(command.step_id), found[1])

    def run(self, records: list[Record]) -> Restored:
        self._records = records
        self._open(records[0])
        today = workers_of(self.fold.state)
        _check_steps(today, records)
        for number, record in enumerate(records[1:], start=1):
            try:
                self._one(number, record)
            except (KeyError, IndexError, TypeError) as error:
                raise DamagedError(
                    f"record {number} of the journal cannot be read: {type(error).__name__}: {error}"
                ) from error
        # What was dispatched depends on how many could run at once in that life.
        set_workers(self.fold.holder.state, today)
        self._finish()
        return self.out

    def _open(self, record: Record) -> None:
        snapshot = record.get("snap")
        plain_snapshot = None if snapshot is None else self._reader.value(snapshot)
        state = state_from_snapshot(self._workflow, plain_snapshot)
        self.fold = Fold(state, self._run_id, self._on_dispatch)
        model = self._given_model
        if "state" in record:
            model = self._reader.value(record["state"])
        if not isinstance(model, StateModel):
            raise DamagedError("the journal's opening record holds no state")
        start: Any = self._given_start
        node = record.get("start")
        if node is not None and not (isinstance(node, dict) and "lost" in node):
            start = self._reader.event(node)
        self.out = Restored(state=self.fold.state, model=model, start=start)

    def _one(self, number: int, record: Record) -> None:
        kind = record["k"]
        if kind == "L":
            # Before the stamp moves on: the time between two lives does not count.
            self._life(record)
        if "t" in record:
            self.out.last_stamp = record["t"]
        if kind == "L":
            pass
        elif kind == "E":
            self.fold.holder.state.elapsed_alive = record.get("el", self.fold.holder.state.elapsed_alive)
        elif kind == "B":
            self._patch(record["st"])
        elif kind == "F":
            self._failed_for_good(record)
        elif kind == "R":
            self._result(number, record)
        elif kind == "A":
            self._event(number, record)
        else:
            if kind == "S":
                self._carry()
            tick = self._reader.tick(record)
            if tick is None:
                self.fold.advance(record["q"])
                self.fold.skip()
            else:
                self.fold.apply(tick, record["q"], record["t"])

    def _life(self, record: Record) -> None:
        previous = record.get("prev")
        if self._life_began is not None:
            end = max(previous or 0.0, self.out.last_stamp)
            self._driven += max(0.0, end - self._life_began)
        self._life_began = record["t"]
        if self.out.lives:
            release_parked(self.fold.holder.state)
        set_workers(self.fold.holder.state, record.get("w", {}))
        if "st" in record:
            self._patch(record["st"])
        self.out.lives += 1

    def _now_driven(self, stamp: float) -> float:
        return self._driven + max(0.0, stamp - (self._life_began or stamp))

    def _carry(self) -> None:
        """Remember what unfinished executions had sent, before they are rewound."""
        for _, one in executions(self.fold.holder.state):
            if one.work_item_id is not None and one.received:
                known = self.out.carried.setdefault(one.work_item_id, {})
                sent = self._sent.get(one.invocation_id or "", {})
                known.update({index: sent[index] for index in one.received if index in sent})

    def _event(self, number: int, record: Record) -> None:
        tick = self._reader.tick(record)
        if tick is None or tick.type != "add_event":
            raise DamagedError(f"record {number} of the journal holds no event")
        event = tick.event
        if record.get("o") == "start":
            self.out.started = True
        if record.get("o") == "start" and self.out.start is not None:
            tick = tick.model_copy(update={"event": self.out.start})
            event = tick.event
        self._keep_refs(number, [event])
        self._lost_now.clear()
        if tick.emission is not None:
            self._sent.setdefault(tick.emission.invocation_id, {})[tick.emission.index] = event
            self._fill(tick.emission.invocation_id)
            if record.get("x"):
                self._forget(tick.emission.invocation_id, tick.emission.index)
        if record.get("o") == "body":
            self.out.body_sends.append(event)
        if record.get("to"):
            mark(event, record["to"])
        self.fold.apply(tick, record["q"], record["t"])
        unmark(event)
        if "an" in record:
            self.out.answers.add(record["an"])
        self.out.questions.event(event, self.fold.holder.state, record.get("to", ""))

    def _keep_refs(self, number: int, events: list[Event], first: int = 0, sends: bool = False) -> None:
        for offset, event in enumerate(events):
            index = -1 - (first + offset) if sends else first + offset
            self.out.refs[id(event)] = (event, [number, index])

    def _fill(self, invocation_id: str | None) -> None:
        """An execution counts as sent what its dead forerunner had delivered."""
        found = find_execution(self.fold.holder.state, invocation_id)
        if found is not None and found[1].work_item_id in self.out.carried:
            found[1].received |= self.out.carried[found[1].work_item_id].keys()

    def _forget(self, invocation_id: str | None, index: int) -> None:
        found = find_execution(self.fold.holder.state, invocation_id)
        if found is not None:
            found[1].received.discard(index)
            self.out.carried.get(found[1].work_item_id or "", {}).pop(index, None)

    def _result(self, number: int, record: Record) -> None:
        self.fold.advance(record["q"])
        found = find_execution(self.fold.holder.state, record["v"])
        if found is None:
            raise JournalError(
                f"the result of {record['s']}[{record.get('i', '?')}] is in the journal, but the workflow "
                f"as it is now never starts that execution"
            )
        execution = found[1]
        if str(found[0]) != record["s"]:
            raise JournalError(
                f"the result of {record['s']}[{record['i']}] is in the journal, but the workflow as it is "
                f"now gives its input to step '{found[0]}'"
            )
        self._check_inputs(record, execution)
        if "m" in record:
            before = self._reader.migrations
            overwrite(execution.event, self._reader.value(record["m"]))
            if self._reader.migrations > before:
                self._found_migrated(execution.event)
            self.out.changed[id(execution.event)] = execution.event
        tick = self._reader.result(record, execution.event)
        self._note_lost(number, record, tick)
        self._keep_refs(
            number, [r.result for r in tick.result if r.type == "result" and r.result is not None]
        )
        self._keep_refs(number, [sent.event for sent in tick.sends], sends=True)
        self._fill(record["v"])
        self._note_waits(record, tick)
        self.out.questions.result(tick, self._streamed(record), record["t"])
        self.fold.apply(tick, record["q"], record["t"])
        self._ask_again(record)
        self.out.carried.pop(execution.work_item_id or "", None)
        if record.get("st"):
            self._patch(record["st"])
        if "ov" in record:
            self._overlaps.append(record["ov"])
        stop = next(
            (i for i, r in enumerate(tick.result) if r.type == "result" and isinstance(r.result, StopEvent)),
            None,
        )
        if stop is not None:
            self.out.stop = [number, stop]
        self._sent.pop(record["v"], None)

    def _streamed(self, record: Record) -> list[Event]:
        """What the execution asked by way of the stream."""
        nodes = [node for node in record.get("pa", ()) if not (isinstance(node, dict) and "lost" in node)]
        return [self._reader.event(node) for node in nodes]

    def _ask_again(self, record: Record) -> None:
        """Let the engine ask a step for the requirements of its waiter, where they were not kept."""
        for item in record["r"]:
            if item[0] == "w" and item[3] is None:
                for step_id, waiter in open_waiters(self.fold.holder.state):
                    if str(step_id) == record["s"] and waiter.waiter_id == item[1]:
                        waiter.requirements, waiter.has_requirements = {}, True

    def _check_inputs(self, record: Record, execution: InProgressState) -> None:
        """A changed workflow may give an id to another execution than the one that had it."""
        places = record.get("in")
        if not places:
            return
        events = input_events(execution)
        several = places if isinstance(places[0], list) else [places]
        if len(several) != len(events) or not all(map(self._stands_at, events, several)):
            raise JournalError(
                f"the result of {record['s']}[{record['i']}] is in the journal, but the workflow as it "
                f"is now gives that execution another input"
            )

    def _stands_at(self, event: Event, place: Ref) -> bool:
        known = self.out.refs.get(id(event))
        if known is not None and known[1] == place:
            return True
        # One event object may have been written down in several places.
        node = node_at(self._records, (place[0], place[1]))
        if isinstance(node, dict) and "lost" in node:
            return True
        try:
            return digest(event) == digest(self._reader.value(node))
        except CannotKeepError:
            return True

    def _note_lost(self, number: int, record: Record, tick: TickStepResult) -> None:
        if not self._lost_now:
            return
        lost = {id(event): said for event, said in self._lost_now}
        self._lost_now.clear()
        for index, item in enumerate(tick.result):
            event = getattr(item, "result", None)
            if event is not None and id(event) in lost:
                self.out.lost[id(event)] = (event, [number, index], lost[id(event)])
        for sent in tick.sends:
            if id(sent.event) in lost:
                self.out.lost[id(sent.event)] = (sent.event, [number, -1 - sent.index], lost[id(sent.event)])

    def _note_waits(self, record: Record, tick: TickStepResult) -> None:
        for item in tick.result:
            if item.type == "add_waiter":
                key = (record["s"], item.waiter_id)
                if key not in self._added_at:
                    self._added_at[key] = (self._now_driven(record["t"]), item.timeout)
            elif item.type == "delete_waiter":
                self._added_at.pop((record["s"], item.waiter_id), None)

    def _failed_for_good(self, record: Record) -> None:
        self.fold.advance(record["q"])
        found = find_execution(self.fold.holder.state, record.get("v"))
        if found is None:
            return
        # It ended the life, so the user has seen it; the next life tries it
        # with its whole retry budget.
        found[1].attempts = 0
        found[1].first_attempt_at = 0.0
        found[1].last_exception = None
        found[1].last_failed_at = None

    def _patch(self, ops: list[Op]) -> None:
        apply_ops(self.out.model, ops, self._reader.value)

    def _finish(self) -> None:
        self._carry()
        state = self.fold.holder.state
        self.out.state, self.out.unaccepted = state, self.fold.unaccepted
        numbers = {step: dict(known) for step, known in self.out.indexes.items()}
        for step_id, one in self.fold.ahead():
            self.out.in_flight.append((str(step_id), _number(numbers, str(step_id), one)))
        release_parked(state)
        running = {
            one.invocation_id: f"{step_id}[{_number(numbers, str(step_id), one)}]"
            for step_id, one in executions(state)
        }
        for path, finished, others in (item for overlap in self._overlaps for item in overlap):
            dead = [running[other] for other in others if other in running]
            if dead:
                self.out.overlaps.append((path, finished, dead))
        end = self._now_driven(self.out.last_stamp)
        still_open = {(str(step_id), waiter.waiter_id) for step_id, waiter in open_waiters(state)}
        for (step, waiter_id), (added, timeout) in self._added_at.items():
            if (step, waiter_id) in still_open:
                self.out.waiters.append(Waiter(step, waiter_id, timeout, max(0.0, end - added)))
        live = {id(event) for event in _events_in(state)}
        self.out.refs = {key: value for key, value in self.out.refs.items() if key in live}
        self.out.lost = {key: value for key, value in self.out.lost.items() if key in live}
        self.out.migrated = {key: value for key, value in self._migrated.items() if key in live}


def _check_steps(steps: Collection[str], records: list[Record]) -> None:
    """Refuse a step that is gone before the fold, which would stumble over what follows from it."""
    for record in records:
        if record["k"] == "R" and record["s"] not in steps:
            raise JournalError(
                f"step '{record['s']}' is in the journal but no longer in the workflow "
                f"(renamed? migrate.step('{record['s']}', to=...) says so)"
            )


def _number(indexes: dict[str, dict[str, int]], step: str, execution: InProgressState) -> int:
    known = indexes.setdefault(step, {})
    return known.setdefault(execution.work_item_id or "", len(known))


def overwrite(event: Event, now: Event) -> None:
    """Give an event, in place, the content that its execution left in it."""
    event.__dict__.clear()
    event.__dict__.update(now.__dict__)
    for slot in ("__pydantic_private__", "__pydantic_extra__", "__pydantic_fields_set__"):
        object.__setattr__(event, slot, getattr(now, slot))


def _events_in(state: LiveBrokerState) -> list[Event]:
    """Every event that the state still needs."""
    found: list[Event] = []
    for worker in state.workers.values():
        for attempt in worker.queue:
            found += [attempt.event, *(attempt.bound_events or {}).values()]
            if attempt.collection_release_payload is not None:
                found += attempt.collection_release_payload.events
        for one in worker.in_progress:
            found += [one.event, *(one.bound_events or {}).values()]
            if one.shared_state.collection_release_payload is not None:
                found += one.shared_state.collection_release_payload.events
        found += [event for events in worker.collected_events.values() for event in events]
        found += worker.static_collect_events
        for waiter in worker.collected_waiters:
            found.append(waiter.event)
            found += (waiter.bound_events or {}).values()
            if waiter.resolved_event is not None:
                found.append(waiter.resolved_event)
            if waiter.collection_release_payload is not None:
                found += waiter.collection_release_payload.events
    for release in state.collection_release_states.values():
        found += release.buffer
    found += [delivery.event for delivery in state.deliveries.values()]
    return found


def restore(
    workflow: Workflow,
    engine_run_id: str,
    records: list[Record],
    blobs: Blobs,
    find_class: FindClass,
    start: Event | None = None,
    model: StateModel | None = None,
) -> Restored:
    """Bring a run back from its records.

    Args:
        workflow: the workflow as it is defined now.
        engine_run_id: the id the engine knows the run by.
        records: the intact records, from the opening one.
        blobs: where large values are.
        find_class: asked first for each class.
        start: today's start event, for one that could not be kept.
        model: today's initial state, for one that could not be kept.

    Raises:
        MissingClassError: a class is not defined in this kernel.
        JournalError: the workflow is not the one that wrote the journal.
        DamagedError: a record cannot be read.
    """
    return _Restorer(workflow, engine_run_id, blobs, find_class, start, model).run(records)
