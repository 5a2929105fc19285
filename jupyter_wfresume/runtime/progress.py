"""Counts of one run, and the view of it that boards draw."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from ..engine import InProgressState, LiveBrokerState, StepId, StepInfo, open_waiters
from ..journal import Record, Tally, cost_for_header, saved_for_record
from ..projection import finishes
from ..records import Saved, StepView

_RECENT = 200

Standing = Literal["running", "queued", "failed", "counted"]
"""Of a dispatched execution: it runs, has not begun, has failed, or is counted as failed already."""


@dataclass
class StepCount:
    """What is known of one step.

    Args:
        restored: work items finished in earlier lives or in other runs.
        reused: those of them that were answered from other runs.
        done: work items finished in this life.
        failed: work items that failed for good in this life.
        skipped: work items that a person left out.
        recent: the last durations in seconds.
    """

    restored: set[int] = field(default_factory=set)
    reused: set[int] = field(default_factory=set)
    done: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)
    skipped: set[int] = field(default_factory=set)
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=_RECENT))

    @property
    def typical_s(self) -> float | None:
        """Median of the last durations."""
        if not self.recent:
            return None
        return sorted(self.recent)[len(self.recent) // 2]


class Progress:
    """Counts executions by step.

    Args:
        steps: the steps in the order of the graph.
    """

    def __init__(self, steps: list[StepInfo]) -> None:
        self.steps = steps
        self.counts = {info.name: StepCount() for info in steps}
        self.saved_s = 0.0
        self.tally = Tally()
        self.versions: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.unaccepted: Counter[type] = Counter()

    @property
    def saved(self) -> int:
        """Executions that earlier lives or other runs finished."""
        return sum(len(count.restored) for count in self.counts.values())

    @property
    def reused(self) -> int:
        """Those of `saved` that were answered from other runs."""
        return sum(len(count.reused) for count in self.counts.values())

    @property
    def finished(self) -> int:
        """Executions finished over all lives."""
        return self.saved + sum(len(count.done) for count in self.counts.values())

    def restored(self, record: Record, code: str) -> None:
        """An earlier life finished an execution.

        Args:
            record: of its result.
            code: digest of the step's code then.
        """
        self.tally.add(record, earlier=True)
        count = self.counts.setdefault(record["s"], StepCount())
        if "sk" in record:
            count.skipped.add(record["i"])
        elif finishes(record) and record["i"] not in count.restored:
            count.restored.add(record["i"])
            if "u" in record:
                count.reused.add(record["i"])
            self.versions[record["s"]][record.get("uc", code)] += 1
            seconds = float(record["ud"] if "ud" in record else record["d"])
            count.recent.append(seconds)
            self.saved_s += seconds

    def recorded(self, record: Record, code: str) -> None:
        """This life recorded a result.

        Args:
            record: the result.
            code: digest of the step's code now.
        """
        self.tally.add(record)
        count = self.counts.setdefault(record["s"], StepCount())
        if "pk" in record or (record["k"] == "F" and any(item[0] == "x" for item in record["r"])):
            count.failed.add(record["i"])
        elif record["k"] == "F":
            # It ended the run with a result that was not kept.
            count.done.add(record["i"])
        elif "sk" in record:
            count.skipped.add(record["i"])
            count.failed.discard(record["i"])
        elif "u" in record:
            self.versions[record["s"]][record["uc"]] += 1
            count.restored.add(record["i"])
            count.reused.add(record["i"])
            self.saved_s += record["ud"]
        elif finishes(record):
            self.versions[record["s"]][code] += 1
            count.done.add(record["i"])
            count.failed.discard(record["i"])
            count.recent.append(record["d"])

    def ended(self, cut: Saved) -> Record:
        """A life ends; what its record says of executions that it cut off.

        Args:
            cut: what was lost of them.
        """
        said: Record = {"cut": saved_for_record(cut)} if cut.executions else {}
        self.tally.add({"k": "E", **said})
        return said

    def for_header(self) -> dict[str, Any]:
        """What the header keeps beside the board's lines."""
        said: dict[str, Any] = {
            "versions": {step: dict(found) for step, found in self.versions.items()},
            "cost": cost_for_header(self.tally.cost()),
        }
        return {**said, "left_out": list(self.tally.left_out)} if self.tally.left_out else said

    def views(
        self, state: LiveBrokerState, standing: Callable[[str, InProgressState], Standing]
    ) -> tuple[StepView, ...]:
        """The lines of the board.

        Args:
            state: the live state.
            standing: of a step's execution that the state holds as dispatched.
        """
        coming = self._coming(state)
        return tuple(self._view(info, state, standing, coming[info.name]) for info in self.steps)

    def _coming(self, state: LiveBrokerState) -> Counter[str]:
        """By step, events on their way to it that the loop has not queued yet."""
        found: Counter[str] = Counter()
        for delivery in state.deliveries.values():
            for info in self.steps:
                if delivery.step_id is not None:
                    found[info.name] += delivery.step_id == StepId.root(info.name)
                elif type(delivery.event) in info.accepts and not info.joins:
                    found[info.name] += 1
        return found

    def _view(
        self,
        info: StepInfo,
        state: LiveBrokerState,
        standing: Callable[[str, InProgressState], Standing],
        coming: int,
    ) -> StepView:
        count = self.counts[info.name]
        worker = state.workers.get(StepId.root(info.name))
        queue = worker.queue if worker is not None else []
        under_way = worker.in_progress if worker is not None else []
        stand = Counter(standing(info.name, one) for one in under_way)
        failed = len(count.failed) + stand["failed"]
        running = stand["running"]
        queued = len(queue) + stand["queued"] + coming
        done, restored, skipped = len(count.done), len(count.restored), len(count.skipped)
        note = ""
        if info.joins and worker is not None and not (done or restored or running):
            note = self._waits(info, state)
        asking = {one.work_item_id for step, one in open_waiters(state) if step == StepId.root(info.name)}
        waiting = len(asking)
        if waiting:
            note = "waits for an answer" if waiting == 1 else f"{waiting:,} wait for an answer"
        return StepView(
            name=info.name,
            done=done,
            restored=restored,
            running=running,
            queued=queued,
            failed=failed,
            retrying=sum(bool(a.attempts) for a in queue) + sum(bool(a.attempts) for a in under_way),
            # A join that waits will run once at the least.
            total=max(
                done + restored + running + queued + failed + waiting + skipped,
                1 if note.startswith("waits for ") else 0,
            ),
            typical_s=count.typical_s,
            note=note,
            reused=len(count.reused),
            skipped=skipped,
        )

    def _waits(self, info: StepInfo, state: LiveBrokerState) -> str:
        open_items = sum(
            stream.open_work_items
            for stream in state.streams.values()
            if any(
                state.config.collection_bindings[b].target_step == StepId.root(info.name)
                for b in stream.accepting_binding_ids
                if b in state.config.collection_bindings
            )
        )
        gathered = sum(
            len(release.buffer)
            for release in state.collection_release_states.values()
            if state.config.collection_bindings[release.binding_id].target_step == StepId.root(info.name)
        )
        if not open_items:
            return ""
        return f"waits for {open_items:,} of {open_items + gathered:,}"

    def left_s(self, views: tuple[StepView, ...]) -> float | None:
        """Estimated seconds left: known work, each step at its own pace."""
        total, known = 0.0, False
        for info, view in zip(self.steps, views, strict=True):
            waiting = view.queued + view.running
            if waiting and view.typical_s is not None:
                total += waiting * view.typical_s / max(1, min(info.workers, waiting))
                known = True
            elif waiting:
                return None
        return total if known else None
