"""Answer executions of a new run from what earlier runs of its name have finished."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ..codec import digest
from ..engine import EmissionKey, StepWorkerOutput, TickAddEvent
from ..journal import Proof, TickReader, apply_ops
from ..runtime import CURRENT, Drive, Flight
from .fork import Fork
from .match import Matcher


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
        reader: makes values of their nodes.
        fork: the execution that gets an edited input, where this run is a fork.
    """

    def __init__(self, matcher: Matcher, reader: TickReader, fork: Fork | None = None) -> None:
        self.matcher = matcher
        self._fork = fork
        self._forked_at = ""
        self.used = Reused()
        self.drive: Drive
        self._reader = reader
        self._taken: set[tuple[str, int]] = set()

    async def answer(self, flight: Flight) -> list[StepWorkerOutput] | None:
        """The recorded output that is right for an execution, its effects on the run done; or None.

        Args:
            flight: the execution about to run; retries always run.
        """
        if self._is_forked(flight):
            return None
        proof = None if flight.attempt else self._find(flight)
        if proof is None:
            return None
        self._taken.add((proof.run_id, proof.number))
        self.used.runs[proof.run_id] += 1
        self.used.steps[flight.step] += 1
        self.used.seconds += proof.seconds
        flight.source = (proof.run_id, proof.number, proof.seconds, proof.code)
        return await self._repeat(flight, proof)

    def _is_forked(self, flight: Flight) -> bool:
        """Give the edited input to the execution that the fork is about, in each of its attempts."""
        fork = self._fork
        if fork is None or flight.step != fork.step:
            return False
        if self._forked_at and flight.work_item_id != self._forked_at:
            return False
        digests = [digest(event, opaque=True) for event in flight.inputs]
        if tuple(sorted(digests)) != fork.inputs:
            return False
        self._forked_at = flight.work_item_id
        left = list(zip(fork.digests, fork.edit, strict=True))
        for place, known in enumerate(digests):
            at = next(i for i, (one, _) in enumerate(left) if one == known)
            edited = left.pop(at)[1]
            flight.replaced[id(flight.inputs[place])] = edited
            flight.inputs[place] = edited
        flight.event = flight.replaced.get(id(flight.event), flight.event)
        return True

    def _find(self, flight: Flight) -> Proof | None:
        found = self.matcher.match(flight.step, flight.inputs, self.drive.content, self._taken)
        return found if isinstance(found, Proof) else None

    async def _repeat(self, flight: Flight, proof: Proof) -> list[StepWorkerOutput]:
        internal, record = self.drive.internal, proof.record
        if internal is None:
            raise RuntimeError("an execution cannot be answered before its run has begun")
        tick = self._reader.result(record, flight.event)
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
            for node in record.get("p", ()):
                await internal.write_to_event_stream(self._reader.event(node))
        finally:
            CURRENT.reset(token)
        ops = record.get("st", ())
        apply_ops(self.drive.store.model, ops, self._reader.value)
        flight.writes.update(tuple(op[1]) for op in ops)
        return [*tick.result, *tick.sends]
