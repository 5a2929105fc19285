"""The plan of a call, in numbers: what would be answered, what would run, and why."""

from __future__ import annotations

import contextlib
import copy
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..engine import (
    Event,
    InProgressState,
    LiveBrokerState,
    StartEvent,
    StateModel,
    StepId,
    StepInfo,
    TickStepResult,
    Workflow,
    plain,
    scout,
    state_from_snapshot,
    steps_of,
)
from ..errors import JournalError, StoreError
from ..fingerprint import by_type_only, changes
from ..journal import Evidence, Proof, Record, TickReader, content_at
from ..projection import executions
from .match import FAILED_BEFORE, NEW_INPUT, OTHER_CODE, OTHER_STATE, Answer, Matcher, Runs
from .reuse import Reuse
from .wide import look_wide

LOOK_S = 1.0
"""How long the look ahead may take, in seconds; beyond, the plan says "at least"."""


OPAQUE_SAID = 6
"""How many objects that count by their type only the plan names."""

WIDE = 1_000
"""From so many recorded executions on, workflows of a plain shape are looked at by digests alone."""


@dataclass
class StepForecast:
    """What is known of one step before anything is executed.

    Args:
        reused: executions that would be answered.
        runs: executions that would run.
        reasons: why they would run, counted.
        open: more may come that depends on outputs not yet known.
        unsure: which of them are answered depends on state that is written meanwhile.
        most: how many executions are on record that could answer, used ones included.
        by_state: how many were told apart by the state they read.
        seconds: predicted seconds for those that would run, or None.
    """

    reused: int = 0
    runs: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    open: bool = False
    unsure: bool = False
    most: int = 0
    by_state: int = 0
    seconds: float | None = None


class _State:
    """The state as it would be, for what executions read."""

    def __init__(self, model: StateModel) -> None:
        self._model = copy.deepcopy(model)

    def content(self, path: tuple[object, ...]) -> str | None:
        return content_at(self._model, path)

    def apply(self, answer: Answer) -> None:
        answer.write(self._model)


def forecast(
    workflow: Workflow,
    start: StartEvent,
    snapshot: dict[str, object] | None,
    model: StateModel,
    reuse: Reuse,
    parts: Mapping[str, Mapping[str, str]],
    reader: TickReader,
) -> dict[str, StepForecast]:
    """Look ahead over recorded outputs.

    Args:
        workflow: the workflow as it is now.
        start: the call's start event.
        snapshot: of the passed ``ctx=``, or None.
        model: the state it begins with.
        reuse: finds recorded executions.
        parts: by step, what its code is made of now.
        reader: makes values of nodes.

    Returns:
        By step, in the order of the graph.
    """
    infos, matcher = steps_of(workflow), reuse.matcher
    found = {info.name: StepForecast() for info in infos}
    if snapshot is None and not reuse.is_fork and matcher.evidence.size > WIDE:
        seen = look_wide(infos, start, matcher, reuse.taken.copy(), reader)
        if seen is not None:
            for step, outcome in seen:
                _count(found[step], step, outcome, matcher.evidence, parts)
            return _completed(infos, found, False, matcher, reader)
    taken = reuse.taken.copy()
    state = _State(model)
    deadline = time.monotonic() + LOOK_S
    cut = forked = False

    def answer(step: str, execution: InProgressState, events: list[Event]) -> TickStepResult | None:
        nonlocal forked
        if not forked and reuse.is_at_fork(step, events):
            forked = True
            found[step].runs += 1
            found[step].reasons["the fork"] += 1
            return None
        outcome = matcher.match(step, execution.event, events, state.content, taken)
        if isinstance(outcome, Runs):
            _count(found[step], step, outcome, matcher.evidence, parts)
            return None
        _count(found[step], step, outcome.proof, matcher.evidence, parts)
        state.apply(outcome)
        return outcome.tick.model_copy(
            update={"invocation_id": execution.invocation_id, "worker_id": execution.worker_id}
        )

    def go_on() -> bool:
        nonlocal cut
        cut = time.monotonic() > deadline
        return not cut

    scout(plain(state_from_snapshot(workflow, snapshot)), start, "forecast", answer, go_on)
    return _completed(infos, found, cut, matcher, reader)


def _count(
    step: StepForecast,
    name: str,
    outcome: Proof | Runs,
    evidence: Evidence,
    parts: Mapping[str, Mapping[str, str]],
) -> None:
    if isinstance(outcome, Runs):
        step.runs += 1
        step.reasons[_reason(outcome, name, evidence, parts)] += 1
        step.by_state += outcome.reason == OTHER_STATE
    else:
        step.reused += 1
        step.by_state += bool(outcome.reads)


def _completed(
    infos: list[StepInfo], found: dict[str, StepForecast], cut: bool, matcher: Matcher, reader: TickReader
) -> dict[str, StepForecast]:
    _mark(infos, found, cut, matcher.evidence, reader)
    for info in infos:
        found[info.name].most = matcher.evidence.most(info.name, matcher.accepts)
    _predict(infos, found, matcher.evidence)
    return found


def _reason(outcome: Runs, step: str, evidence: Evidence, parts: Mapping[str, Mapping[str, str]]) -> str:
    if outcome.reason != OTHER_CODE:
        return outcome.reason
    old = evidence.codes(step).get(outcome.code, {})
    said = changes(old, parts.get(step, {})) if old else []
    return f"`{step}` changed: {', '.join(said[:3])}" if said else f"`{step}` changed"


def _mark(
    infos: list[StepInfo],
    found: dict[str, StepForecast],
    cut: bool,
    evidence: Evidence,
    reader: TickReader,
) -> None:
    """Say of which steps not all is known: what they get, and what of the state they read."""
    made = {info.name: {*info.returns, *_sent(info, evidence, reader)} for info in infos}
    produced = {cls for info in infos if found[info.name].runs or cut for cls in made[info.name]}
    _spread(infos, produced, made, lambda one: not one.open, lambda one: setattr(one, "open", True), found)
    active = [info for info in infos if found[info.name].runs or found[info.name].open]
    if any(evidence.touches_state(i.name) or (i.context and i.name not in evidence.steps) for i in active):
        swaying = [info for info in infos if found[info.name].by_state]
        for info in swaying:
            found[info.name].unsure = True
        produced = {cls for info in swaying for cls in made[info.name]}
        _spread(
            infos, produced, made, lambda one: not one.unsure, lambda one: setattr(one, "unsure", True), found
        )


def _spread(
    infos: list[StepInfo],
    produced: set[Any],
    made: Mapping[str, set[Any]],
    is_left: Callable[[StepForecast], bool],
    mark: Callable[[StepForecast], None],
    found: Mapping[str, StepForecast],
) -> None:
    """Mark the steps that take events of these classes, and so on down from there."""
    left = [info for info in infos if is_left(found[info.name])]
    changed = True
    while changed:
        reached = [info for info in left if any(cls in produced for cls in info.accepts)]
        for info in reached:
            mark(found[info.name])
            produced |= made[info.name]
        left = [info for info in left if info not in reached]
        changed = bool(reached)


def _sent(info: StepInfo, evidence: Evidence, reader: TickReader) -> set[type]:
    """Classes of what a step is known to have sent."""
    found: set[type] = set()
    for node in evidence.sent(info.name):
        with contextlib.suppress(JournalError, StoreError):
            # A class that is gone is accepted by no step.
            found.add(type(reader.event(node)))
    return found


def _predict(infos: list[StepInfo], found: dict[str, StepForecast], evidence: Evidence) -> None:
    seconds: dict[str, list[float]] = defaultdict(list)
    for step, took in evidence.durations():
        seconds[step].append(took)
    for info in infos:
        known = sorted(seconds[info.name])
        if known and found[info.name].runs:
            typical = known[len(known) // 2]
            runs = found[info.name].runs
            found[info.name].seconds = typical * runs / max(1, min(info.workers, runs))


def lines(found: Mapping[str, StepForecast], parts: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The plan as text, a line a step, and what an edit would not be seen of.

    Args:
        found: what is known of each step.
        parts: by step, what its code is made of now.
    """
    width = max((len(name) for name in found), default=0)
    said = [f"  {name:<{width}}  {_line(step)}" for name, step in found.items()]
    answered = [name for name, step in found.items() if step.reused or (step.open and step.most)]
    unseen = by_type_only(part for name in answered for part in parts.get(name, ()))
    if unseen:
        more = f" and {len(unseen) - OPAQUE_SAID:,} more" if len(unseen) > OPAQUE_SAID else ""
        said.append(f"  compared by type only: {', '.join(unseen[:OPAQUE_SAID])}{more}")
    return said


def _line(step: StepForecast) -> str:
    said: list[str] = []
    bound = "about " if step.unsure else "at least " if step.open else ""
    if step.reused:
        said.append(f"{bound}{step.reused:,} reused")
    if step.runs:
        reasons = ", ".join(_counted(why, count) for why, count in step.reasons.most_common(3))
        said.append(f"{bound}{step.runs:,} to run ({reasons})")
    if step.open and not said:
        said.append("depends on outputs not known yet")
    if step.open and not step.unsure and step.most:
        said.append(f"at most {step.most:,} reused")
    if not said:
        said.append("nothing known yet")
    if step.seconds is not None and step.seconds >= 0.1:
        said.append(f"about {step.seconds:.1f} s")
    return ", ".join(said)


def _counted(why: str, count: int) -> str:
    if why.startswith("`") or count == 1:
        return why
    if why == NEW_INPUT:
        return f"{count:,} new inputs"
    return f"{count:,} {why}" if why == FAILED_BEFORE else f"{count:,} × {why}"


def still_to_run(
    infos: list[StepInfo], state: LiveBrokerState, records: list[Record], left_out: Sequence[str] = ()
) -> list[str]:
    """What a resume keeps and runs, a line a step.

    Args:
        infos: the steps.
        state: the broker state that the run would go on from.
        records: the run's records.
        left_out: executions that a person has left out meanwhile.
    """
    skips = Counter(label.partition("[")[0] for label in left_out)
    rows = executions(records)
    done = Counter(row.step for row in rows if row.status == "done")
    failed = Counter(row.step for row in rows if row.status == "failed")
    width = max((len(info.name) for info in infos), default=0)
    more = {info.name: _pending(info, state) - skips[info.name] for info in infos}
    open_ = _reached(infos, {info.name for info in infos if more[info.name]})
    said = []
    for info in infos:
        worker = state.workers.get(StepId.root(info.name))
        under_way = 0 if worker is None else len(worker.in_progress)
        bad = failed[info.name] - skips[info.name]
        kinds = {"failed": bad, "cut off": max(0, under_way - failed[info.name])}
        why = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items() if count)
        runs = f"{more[info.name]:,} to run{f' ({why})' if why else ''}" if more[info.name] else ""
        rest = "depends on outputs not known yet" if info.name in open_ and not runs else runs
        said.append(f"  {info.name:<{width}}  {done[info.name]:,} kept, {rest or '0 to run'}")
    return said


def _pending(info: StepInfo, state: LiveBrokerState) -> int:
    worker = state.workers.get(StepId.root(info.name))
    begun = 0 if worker is None else len(worker.in_progress) + len(worker.queue)
    return begun + sum(
        type(one.event) in info.accepts and not info.joins for one in state.deliveries.values()
    )


def _reached(infos: list[StepInfo], active: set[str]) -> set[str]:
    """Steps that may get something of what active steps will make."""
    found = set(active)
    while True:
        made = {cls for info in infos if info.name in found for cls in info.returns}
        more = {info.name for info in infos if any(cls in made for cls in info.accepts)} - found
        if not more:
            return found - active
        found |= more
