"""What earlier runs of a name can answer: finished executions, by what they depended on."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
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
        workflow: the class of the run's workflow.
        made: digest of what it made, by index of a result (or -1 - index of a send).
    """

    run_id: str
    number: int
    label: str
    code: str
    seconds: float
    record: Record
    workflow: str = ""
    made: Callable[[int], str | None] = lambda index: None

    @property
    def reads(self) -> list[tuple[tuple[Any, ...], str | None]]:
        """What it read of the state: path, and digest of what it saw there."""
        return [(tuple(path), seen) for path, seen in self.record.get("rd", ())]


class Evidence:
    """Finished executions by step and input.

    Args:
        code_of: digest of a step's code, of the step and what its code is made of.
        runs: every run that is on record; what another one answered counts there.

    Attributes:
        steps: the steps of which an execution is on record.
    """

    def __init__(self, code_of: Callable[[str, Mapping[str, str]], str], runs: Container[str] = ()) -> None:
        self._code_of = code_of
        self._runs = runs
        self._repeated: set[tuple[str, int]] = set()
        self._last: dict[tuple[str, Inputs], tuple[str, str, str]] = {}
        self._sent: dict[str, dict[str, Any]] = defaultdict(dict)
        self._touched: set[str] = set()
        self._seconds: list[tuple[str, float]] = []
        self.steps: set[str] = set()
        self._by_input: dict[tuple[str, Inputs], list[Proof]] = defaultdict(list)
        self._codes: dict[str, dict[str, Mapping[str, str]]] = defaultdict(dict)

    def add(self, run_id: str, records: list[Record], reader: TickReader, workflow: str = "") -> None:
        """Take the executions of one run.

        Args:
            run_id: the run.
            records: its intact records.
            reader: makes values of their nodes.
            workflow: the class of its workflow.
        """
        digests: dict[Place, str | None] = {}
        codes: Mapping[str, Any] = {}
        for number, record in enumerate(records):
            if record["k"] == "L":
                codes = self._life(record, reader)
            elif record["k"] in "RF" and not self._counts_elsewhere(record):
                inputs = self._inputs(records, record, digests, reader)
                if inputs is not None:
                    code = record.get("uc", codes.get(record["s"], ""))
                    seconds = float(record["ud"] if "ud" in record else record["d"])
                    label = f"{record['s']}[{record['i']}]"
                    made = partial(self._digest_at, records, digests, reader, number)
                    proof = Proof(run_id, number, label, code, seconds, record, workflow, made)
                    self._take((record["s"], inputs), proof)

    def _counts_elsewhere(self, record: Record) -> bool:
        """Whether it was answered from a run that is on record, or from one that counts already."""
        if "u" not in record:
            return False
        source = (record["u"][0], record["u"][1])
        counts = source[0] in self._runs or source in self._repeated
        self._repeated.add(source)
        return counts

    def _take(self, key: tuple[str, Inputs], proof: Proof) -> None:
        record, step = proof.record, key[0]
        self.steps.add(step)
        for _, node, *_ in record.get("n", ()):
            if isinstance(node, dict):
                self._sent[step].setdefault(json.dumps(node.get("c", node.get("lost"))), node)
        if "wr" in record or "st" in record:
            self._touched.add(step)
        if record["k"] == "F":
            self._keep(key, proof, "")
            return
        self._seconds.append((step, proof.seconds))
        why = _why_not(record)
        if why:
            self._keep(key, proof, why)
        else:
            self._by_input[key].append(proof)

    def _keep(self, key: tuple[str, Inputs], proof: Proof, why: str) -> None:
        """Remember what came last of these inputs: newer runs are added first, their records in order."""
        known = self._last.get(key)
        if known is None or known[0] == proof.run_id:
            self._last[key] = (proof.run_id, why, proof.code)

    def _life(self, record: Record, reader: TickReader) -> Mapping[str, str]:
        if "code" not in record:
            return {}
        try:
            steps: dict[str, Any] = reader.value(record["code"])
        except DamagedError:
            # Of unknown code, so it answers nothing.
            return {}
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
        if "ie" in record:
            written = [_digest(node, reader) for node in record["ie"]]
            return None if None in written else tuple(sorted(one for one in written if one is not None))
        places = record.get("in")
        if places is None or not places:
            return None
        several = isinstance(places[0], list)
        found: list[str] = []
        for number, index in places if several else [places]:
            one = self._digest_at(records, digests, reader, number, index)
            if one is None:
                return None
            found.append(one)
        return tuple(sorted(found))

    @staticmethod
    def _digest_at(
        records: list[Record], digests: dict[Place, str | None], reader: TickReader, number: int, index: int
    ) -> str | None:
        place = (number, index)
        if place not in digests:
            digests[place] = _digest(node_at(records, place), reader)
        return digests[place]

    def find(self, step: str, inputs: Inputs) -> list[Proof]:
        """Executions of a step on these inputs, in the order in which their runs were added.

        Args:
            step: the step.
            inputs: sorted digests of its input events: the order in which a
                fan-in's events arrive is not part of a result.
        """
        return self._by_input.get((step, inputs), [])

    @property
    def size(self) -> int:
        """How many finished executions are on record."""
        return len(self._seconds)

    def durations(self) -> Iterator[tuple[str, float]]:
        """Step and seconds of each execution."""
        yield from self._seconds

    def failed_before(self, step: str, inputs: Inputs) -> bool:
        """Whether the last thing recorded of these inputs is a failure."""
        last = self._last.get((step, inputs))
        return last is not None and not last[1] and not self._by_input.get((step, inputs))

    def barred(self, step: str, inputs: Inputs) -> tuple[str, str] | None:
        """Why a finished execution on these inputs answers none, and digest of its code; or None."""
        last = self._last.get((step, inputs))
        return last[1:] if last is not None and last[1] else None

    def sent(self, step: str) -> list[Any]:
        """Nodes of what a step sent, one of each class."""
        return list(self._sent[step].values())

    def touches_state(self, step: str) -> bool:
        """Whether an execution of a step changed the state."""
        return step in self._touched

    def most(self, step: str, usable: Callable[[Proof], bool]) -> int:
        """How many executions of a step could answer at most.

        Args:
            step: the step.
            usable: whether one of them may.
        """
        return sum(usable(p) for (name, _), proofs in self._by_input.items() if name == step for p in proofs)

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


def _why_not(record: Record) -> str:
    """Why a record does not hold all that an execution did, or needs more to be right; or nothing."""
    kinds = {item[0] for item in record["r"]}
    if "sk" in record:
        return "left out last time"
    if "x" in kinds or "pk" in record:
        return "failed last time"
    if kinds - {"r"}:
        return "collects or waits for events"
    if "pa" in record:
        return "asked a person"
    if "m" in record or "mi" in record:
        return "its input was changed in place"
    if record.get("p", ()) is None:
        return "streamed too many events to keep"
    made = [item[1] for item in record["r"]] + [send[1] for send in record.get("n", ())]
    if any(_lost(node) for node in (*made, *record.get("p", ()))):
        return "made what could not be kept"
    if any(op[0] == "!" for op in record.get("st", ())):
        return "wrote state that could not be kept"
    if "ov" in record:
        return "shared state with executions beside it"
    if any(seen is None for _, seen in record.get("rd", ())):
        return "read state that cannot be compared"
    return "" if _writes_hold(record) else "changed a part of a state that it had not read"


def _writes_hold(record: Record) -> bool:
    """Whether a patch is right wherever what was read is the same.

    A patch says what changed. A value that was set to what stood there
    already is not in it, and a part of a value may be; both are right only
    where the execution had read that value, or where all of it was written.
    """
    read = [path for path, _ in record.get("rd", ())]
    whole = [op[1] for op in record.get("st", ()) if op[0] == "=" and len(op[1]) == 1]
    return all(
        path in whole or any(path[: len(known)] == known for known in read)
        for path in (*record.get("wr", ()), *(op[1] for op in record.get("st", ())))
    )


def _lost(node: Any) -> bool:
    return isinstance(node, dict) and "lost" in node
