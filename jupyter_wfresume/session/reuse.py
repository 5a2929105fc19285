"""Answer executions of a new run from what earlier runs of its name have finished."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..codec import digest
from ..engine import EmissionKey, Event, StepWorkerOutput, TickAddEvent
from ..journal import Record, tokens_in
from ..runtime import CURRENT, Drive, Flight
from .fork import Fork
from .match import Answer, Matcher, Taken


@dataclass
class Reused:
    """What of a run was answered from others.

    Args:
        runs: how many executions each run answered.
        steps: how many executions of each step.
        seconds: how long they took there.
    """

    runs: Counter[str] = field(default_factory=Counter)
    steps: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0


class Reuse:
    """Decides for each execution of a run whether an earlier one answers it.

    Equal inputs are counted: two recorded executions answer two of three.

    Args:
        matcher: finds recorded executions.
        taken: those that have answered already, for this run or an equal call of its cell.
        fork: the execution that gets an edited input, where this run is a fork.
    """

    def __init__(self, matcher: Matcher, taken: Taken, fork: Fork | None = None) -> None:
        self.matcher = matcher
        self.taken = taken
        self._fork = fork
        self._forked_at = ""
        self.used = Reused()
        self.drive: Drive

    async def answer(self, flight: Flight) -> list[StepWorkerOutput] | None:
        """The recorded output that is right for an execution, its effects on the run done; or None.

        Args:
            flight: the execution about to run; retries always run.
        """
        if self._is_forked(flight):
            return None
        found = None if flight.attempt else self._find(flight)
        if found is None:
            return None
        proof = found.proof
        self.used.runs[proof.run_id] += 1
        self.used.steps[flight.step] += 1
        self.used.seconds += proof.seconds
        flight.source = (proof.run_id, proof.number, proof.seconds, proof.code)
        flight.saved = tokens_in(proof.record)
        return await self._repeat(flight, found)

    def goes_on(self, records: Sequence[Record], indexes: Mapping[str, Mapping[str, int]]) -> None:
        """Know, in a fork that is resumed, which execution had got the edited input.

        Args:
            records: the run's.
            indexes: by step, N of each work item.
        """
        fork = self._fork
        if fork is not None:
            # Only an input in another's place is written down with its execution, and no place.
            own = [record for record in records if record.get("s") == fork.step and "ie" in record]
            at = {record["i"] for record in own if "in" not in record}
            found = [item for item, index in indexes.get(fork.step, {}).items() if index in at]
            self._forked_at = found[0] if found else ""

    @property
    def is_fork(self) -> bool:
        """Whether the run leaves another one."""
        return self._fork is not None

    def is_at_fork(self, step: str, events: Sequence[Event]) -> bool:
        """Whether an execution with these recorded inputs is the one that the fork is about.

        Args:
            step: the step.
            events: its input events.
        """
        fork = self._fork
        if fork is None or step != fork.step:
            return False
        return tuple(sorted(digest(event, opaque=True) for event in events)) == fork.inputs

    def _is_forked(self, flight: Flight) -> bool:
        """Give the edited input to the execution that the fork is about, in each of its attempts."""
        fork = self._fork
        if self._forked_at and flight.work_item_id != self._forked_at:
            return False
        if fork is None or not self.is_at_fork(flight.step, flight.inputs):
            return False
        self._forked_at = flight.work_item_id
        digests = [digest(event, opaque=True) for event in flight.inputs]
        left = list(zip(fork.digests, fork.edit, strict=True))
        for place, known in enumerate(digests):
            at = next(i for i, (one, _) in enumerate(left) if one == known)
            edited = left.pop(at)[1]
            flight.replaced[id(flight.inputs[place])] = edited
            flight.inputs[place] = edited
        flight.event = flight.replaced.get(id(flight.event), flight.event)
        return True

    def _find(self, flight: Flight) -> Answer | None:
        found = self.matcher.match(flight.step, flight.event, flight.inputs, self.drive.content, self.taken)
        return found if isinstance(found, Answer) else None

    async def _repeat(self, flight: Flight, found: Answer) -> list[StepWorkerOutput]:
        internal, tick = self.drive.internal, found.tick
        if internal is None:
            raise RuntimeError("an execution cannot be answered before its run has begun")
        token = CURRENT.set(flight)
        try:
            for sent in tick.sends:
                # Returned sends alone would be waited for without end.
                await internal.send_event(
                    TickAddEvent(
                        event=sent.event,
                        step_id=sent.step_id,
                        recovery_counts=dict(sent.recovery_counts),
                        emission=EmissionKey(invocation_id=flight.invocation_id, index=sent.index),
                    )
                )
            for event in found.streamed:
                await internal.write_to_event_stream(event)
        finally:
            CURRENT.reset(token)
        record = found.proof.record
        found.write(self.drive.store.model)
        flight.seen.update(found.proof.reads)
        flight.writes.update(tuple(path) for path in record.get("wr", ()))
        flight.writes.update(tuple(op[1]) for op in record.get("st", ()))
        return [*tick.result, *tick.sends]
