"""Answer executions of a new run from what earlier runs of its name have finished."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..engine import EmissionKey, StepWorkerOutput, TickAddEvent
from ..journal import Evidence, Proof, TickReader, apply_ops, inputs_of
from ..runtime import CURRENT, Drive, Flight


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
        evidence: finished executions of the name.
        codes: digest of each step's code as it is now.
        any_code: accept outputs of code that has changed since.
        reader: makes values of their nodes.
    """

    def __init__(
        self, evidence: Evidence, codes: Mapping[str, str], any_code: bool, reader: TickReader
    ) -> None:
        self.evidence = evidence
        self.used = Reused()
        self.drive: Drive
        self._codes = codes
        self._any_code = any_code
        self._reader = reader
        self._taken: set[tuple[str, int]] = set()

    async def answer(self, flight: Flight) -> list[StepWorkerOutput] | None:
        """The recorded output that is right for an execution, its effects on the run done; or None.

        Args:
            flight: the execution about to run; retries always run.
        """
        proof = None if flight.attempt else self._find(flight)
        if proof is None:
            return None
        self._taken.add((proof.run_id, proof.number))
        self.used.runs[proof.run_id] += 1
        self.used.steps[flight.step] += 1
        self.used.seconds += proof.seconds
        flight.source = (proof.run_id, proof.number, proof.seconds, proof.code)
        return await self._repeat(flight, proof)

    def _find(self, flight: Flight) -> Proof | None:
        inputs = inputs_of(flight.inputs)
        for proof in () if inputs is None else self.evidence.find(flight.step, inputs):
            if (proof.run_id, proof.number) not in self._taken and self._holds(flight.step, proof):
                return proof
        return None

    def _holds(self, step: str, proof: Proof) -> bool:
        if not self._any_code and proof.code != self._codes.get(step):
            return False
        return all(self.drive.content(path) == seen for path, seen in proof.reads)

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
