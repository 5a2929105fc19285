"""The plan of a call, in numbers: what would be answered, what would run, and why."""

from __future__ import annotations

import copy
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..codec import digest
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
from ..errors import CannotKeepError
from ..fingerprint import changes
from ..journal import Evidence, Proof, Record, TickReader, apply_ops
from ..journal.state import slots
from ..projection import executions
from .match import OTHER_CODE, Matcher, Runs

LOOK_S = 1.5
"""How long the look ahead may take, in seconds; beyond, the plan says "at least"."""


@dataclass
class StepForecast:
    """What is known of one step before anything is executed.

    Args:
        reused: executions that would be answered.
        runs: executions that would run.
        reasons: why they would run, counted.
        open: more may come that depends on outputs not yet known.
        seconds: predicted seconds for those that would run, or None.
    """

    reused: int = 0
    runs: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    open: bool = False
    seconds: float | None = None


class _State:
    """The state as it would be, for what executions read."""

    def __init__(self, model: StateModel) -> None:
        self._model = copy.deepcopy(model)

    def content(self, path: tuple[object, ...]) -> str | None:
        value: object = self._model
        try:
            if path:
                value = slots(self._model).get(str(path[0]))
            for part in path[1:]:
                value = value[part] if isinstance(value, dict) else getattr(value, str(part), None)
            return digest(value)
        except (CannotKeepError, KeyError, TypeError):
            return None

    def apply(self, proof: Proof, reader: TickReader) -> None:
        apply_ops(self._model, proof.record.get("st", ()), reader.value)


def forecast(
    workflow: Workflow,
    start: StartEvent,
    snapshot: dict[str, object] | None,
    model: StateModel,
    matcher: Matcher,
    parts: Mapping[str, Mapping[str, str]],
    reader: TickReader,
) -> dict[str, StepForecast]:
    """Look ahead over recorded outputs.

    Args:
        workflow: the workflow as it is now.
        start: the call's start event.
        snapshot: of the passed ``ctx=``, or None.
        model: the state it begins with.
        matcher: finds recorded executions.
        parts: by step, what its code is made of now.
        reader: makes values of nodes.

    Returns:
        By step, in the order of the graph.
    """
    infos = steps_of(workflow)
    found = {info.name: StepForecast() for info in infos}
    taken: set[tuple[str, int]] = set()
    state = _State(model)
    deadline = time.monotonic() + LOOK_S
    cut = False

    def answer(step: str, execution: InProgressState, events: list[Event]) -> TickStepResult | None:
        outcome = matcher.match(step, events, state.content, taken)
        if isinstance(outcome, Runs):
            found[step].runs += 1
            found[step].reasons[_reason(outcome, step, matcher.evidence, parts)] += 1
            return None
        taken.add((outcome.run_id, outcome.number))
        found[step].reused += 1
        state.apply(outcome, reader)
        tick = reader.result(outcome.record, execution.event)
        return tick.model_copy(
            update={"invocation_id": execution.invocation_id, "worker_id": execution.worker_id}
        )

    def go_on() -> bool:
        nonlocal cut
        cut = time.monotonic() > deadline
        return not cut

    scout(plain(state_from_snapshot(workflow, snapshot)), start, "forecast", answer, go_on)
    _mark_open(infos, found, cut)
    _predict(infos, found, matcher.evidence)
    return found


def _reason(outcome: Runs, step: str, evidence: Evidence, parts: Mapping[str, Mapping[str, str]]) -> str:
    if outcome.reason != OTHER_CODE:
        return outcome.reason
    old = evidence.codes(step).get(outcome.code, {})
    said = changes(old, parts.get(step, {})) if old else []
    return f"`{step}` changed: {', '.join(said[:3])}" if said else f"`{step}` changed"


def _mark_open(infos: list[StepInfo], found: dict[str, StepForecast], cut: bool) -> None:
    """Steps that take what a step returns that would run may get more."""
    produced = {cls for info in infos if found[info.name].runs or cut for cls in info.returns}
    changed = True
    while changed:
        changed = False
        for info in infos:
            if not found[info.name].open and any(cls in produced for cls in info.accepts):
                found[info.name].open = changed = True
                produced |= set(info.returns)


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


def lines(found: Mapping[str, StepForecast]) -> list[str]:
    """The plan as text, a line a step."""
    width = max((len(name) for name in found), default=0)
    return [f"  {name:<{width}}  {_line(step)}" for name, step in found.items()]


def _line(step: StepForecast) -> str:
    said: list[str] = []
    if step.reused:
        said.append(f"{'at least ' if step.open else ''}{step.reused:,} reused")
    if step.runs:
        reasons = ", ".join(
            why if why.startswith("`") or count == 1 else f"{count:,} × {why}"
            for why, count in step.reasons.most_common(3)
        )
        said.append(f"{'at least ' if step.open else ''}{step.runs:,} to run ({reasons})")
    if step.open and not said:
        said.append("depends on outputs not known yet")
    if not said:
        said.append("nothing known yet")
    if step.seconds is not None and step.seconds >= 0.1:
        said.append(f"about {step.seconds:.1f} s")
    return ", ".join(said)


def still_to_run(infos: list[StepInfo], state: LiveBrokerState, records: list[Record]) -> list[str]:
    """What a resume keeps and runs, a line a step.

    Args:
        infos: the steps.
        state: the broker state that the run would go on from.
        records: the run's records.
    """
    done = Counter(row.step for row in executions(records) if row.status == "done")
    width = max((len(info.name) for info in infos), default=0)
    said = []
    for info in infos:
        worker = state.workers.get(StepId.root(info.name))
        under_way = 0 if worker is None else len(worker.in_progress)
        queued = 0 if worker is None else len(worker.queue)
        coming = sum(type(one.event) in info.accepts and not info.joins for one in state.deliveries.values())
        more = under_way + queued + coming
        cut = f" ({under_way:,} cut off)" if under_way else ""
        said.append(f"  {info.name:<{width}}  {done[info.name]:,} kept, {more:,} to run{cut}")
    return said
