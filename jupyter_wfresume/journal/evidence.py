"""What earlier runs of a name can answer: finished executions, by what they depended on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..codec import digest
from ..errors import CannotKeepError, DamagedError, MissingClassError
from ..projection import Place, node_at
from .ticks import Record, TickReader

Inputs = tuple[str, ...]


@dataclass(frozen=True)
class Proof:
    """One finished execution of an earlier run.

    Args:
        run_id: the run.
        number: of its record there.
        label: ``work[17]``.
        code: digest of the step's code when it ran.
        seconds: how long it took.
        record: the record itself.
    """

    run_id: str
    number: int
    label: str
    code: str
    seconds: float
    record: Record

    @property
    def reads(self) -> list[tuple[tuple[Any, ...], str | None]]:
        """What it read of the state: path, and digest of what it saw there."""
        return [(tuple(path), seen) for path, seen in self.record.get("rd", ())]


class Evidence:
    """Finished executions by step and input.

    Args:
        code_of: digest of a step's code, of the step and what its code is made of.
    """

    def __init__(self, code_of: Callable[[str, Mapping[str, str]], str]) -> None:
        self._code_of = code_of
        self._by_input: dict[tuple[str, Inputs], list[Proof]] = defaultdict(list)
        self._codes: dict[str, dict[str, Mapping[str, str]]] = defaultdict(dict)
        self._failed: dict[tuple[str, Inputs], str] = {}
        self.count = 0

    def add(self, run_id: str, records: list[Record], reader: TickReader) -> None:
        """Take the executions of one run.

        Args:
            run_id: the run.
            records: its intact records.
            reader: makes values of their nodes.
        """
        digests: dict[Place, str | None] = {}
        codes: Mapping[str, Any] = {}
        for number, record in enumerate(records):
            if record["k"] == "L":
                codes = self._life(record, reader)
            elif record["k"] in "RF" and "u" not in record:
                step = record["s"]
                inputs = self._inputs(records, record, digests, reader)
                if inputs is None:
                    continue
                if record["k"] == "F":
                    self._failed[(step, inputs)] = f"{step}[{record['i']}]"
                elif _answers(record):
                    proof = Proof(
                        run_id, number, f"{step}[{record['i']}]", codes.get(step, ""), record["d"], record
                    )
                    self._by_input[(step, inputs)].append(proof)
                    self.count += 1

    def _life(self, record: Record, reader: TickReader) -> Mapping[str, str]:
        if "code" not in record:
            return {}
        steps: dict[str, Any] = reader.value(record["code"])
        codes = {step: self._code_of(step, parts) for step, (_, parts) in steps.items()}
        for step, (_, parts) in steps.items():
            self._codes[step][codes[step]] = parts
        return codes

    def _inputs(
        self,
        records: list[Record],
        record: Record,
        digests: dict[Place, str | None],
        reader: TickReader,
    ) -> Inputs | None:
        places = record.get("in")
        if places is None or not places:
            return None
        several = isinstance(places[0], list)
        found: list[str] = []
        for number, index in places if several else [places]:
            place = (number, index)
            if place not in digests:
                digests[place] = _digest(node_at(records, place), reader)
            one = digests[place]
            if one is None:
                return None
            found.append(one)
        return tuple(sorted(found))

    def find(self, step: str, inputs: Inputs) -> list[Proof]:
        """Executions of a step on these inputs, oldest first.

        Args:
            step: the step.
            inputs: sorted digests of its input events: the order in which a
                fan-in's events arrive is not part of a result.
        """
        return self._by_input.get((step, inputs), [])

    def durations(self) -> Iterator[tuple[str, float]]:
        """Step and seconds of each execution."""
        for (step, _), proofs in self._by_input.items():
            for proof in proofs:
                yield step, proof.seconds

    def failed_before(self, step: str, inputs: Inputs) -> bool:
        """Whether the last thing recorded of these inputs is a failure."""
        return (step, inputs) in self._failed and not self._by_input.get((step, inputs))

    def codes(self, step: str) -> Mapping[str, Mapping[str, str]]:
        """The parts of each version of a step's code that is on record, by digest."""
        return self._codes.get(step, {})


def inputs_of(events: list[Any]) -> Inputs | None:
    """Sorted digests of input events; None where one cannot be compared."""
    try:
        return tuple(sorted(digest(event) for event in events))
    except CannotKeepError:
        return None


def _digest(node: Any, reader: TickReader) -> str | None:
    if node is None or (isinstance(node, dict) and "lost" in node):
        return None
    try:
        return digest(reader.value(node))
    except (CannotKeepError, MissingClassError, DamagedError):
        # What cannot be read now proves nothing; it is executed again.
        return None


def _answers(record: Record) -> bool:
    """Whether a record holds all that an execution did, and needs nothing else to be right."""
    if any(item[0] != "r" or _lost(item[1]) for item in record["r"]):
        return False
    if any(_lost(send[1]) for send in record.get("n", ())) or "ov" in record or "m" in record:
        return False
    if record.get("p", ()) is None or any(_lost(node) for node in record.get("p", ())):
        return False
    if any(op[0] == "!" for op in record.get("st", ())):
        return False
    return all(seen is not None for _, seen in record.get("rd", ())) and _writes_hold(record)


def _writes_hold(record: Record) -> bool:
    """Whether a patch is right wherever what was read is the same.

    A patch says what changed. A value that was set to what stood there
    already is not in it, and a part of a value may be; both are right only
    where the execution had read that value, or where all of it was written.
    """
    read = [path for path, _ in record.get("rd", ())]
    whole = [op[1] for op in record.get("st", ()) if op[0] == "="]
    return all(
        path in whole or any(path[: len(known)] == known for known in read)
        for path in (*record.get("wr", ()), *(op[1] for op in record.get("st", ()) if op[0] != "="))
    )


def _lost(node: Any) -> bool:
    return isinstance(node, dict) and "lost" in node
