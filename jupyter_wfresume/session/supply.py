"""Make an input again that could not be written down."""

from __future__ import annotations

from typing import Any

from ..codec import Blobs
from ..effects import looking_only
from ..engine import Event, StepWorkerFailed, StepWorkerResult, Workflow, run_step
from ..errors import JournalError
from ..journal import FindClass, Record, Restored, TickReader, overwrite
from ..projection import node_at
from ..runtime import CURRENT, Flight


class Supply:
    """Fills events of which only the class is on record, before a step sees them.

    The execution that made such an event runs again, alone: what it sends,
    streams or returns goes nowhere but into the events that are missing.

    Args:
        workflow: the workflow as it is now.
        records: the run's records.
        restored: the run as its records leave it, or None for a new one.
        blobs: where large values are.
        find_class: asked first for each class.
    """

    def __init__(
        self,
        workflow: Workflow,
        records: list[Record],
        restored: Restored | None,
        blobs: Blobs,
        find_class: FindClass,
    ) -> None:
        self._workflow = workflow
        self._records = records
        self._start = None if restored is None else restored.start
        self._lost = {} if restored is None else restored.lost
        self._made: dict[int, dict[int, Event]] = {}
        self._reader = TickReader(blobs, find_class, lambda event, said: None)

    @staticmethod
    def reader(blobs: Blobs, find_class: FindClass) -> TickReader:
        """A reader for values of records, which takes no note of what was lost."""
        return TickReader(blobs, find_class, lambda event, said: None)

    async def fill(self, flight: Flight) -> None:
        """Give a step's inputs their content back, where it was not kept.

        Raises:
            JournalError: the execution that made it does not make it again.
        """
        for event in flight.inputs:
            found = self._lost.pop(id(event), None)
            if found is not None:
                overwrite(event, await self._event(found[1][0], found[1][1]))

    async def _event(self, number: int, index: int) -> Event:
        record = self._records[number]
        node = node_at(self._records, (number, index))
        if not (isinstance(node, dict) and "lost" in node):
            return self._reader.event(node)
        if record["k"] == "A":
            if record.get("o") == "start" and self._start is not None:
                return self._start
            raise self._refusal(record, node["lost"], "it came from outside")
        if number not in self._made:
            self._made[number] = await self._run_again(record, node["lost"])
        made = self._made[number].get(index)
        if made is None or type(made) is not type(self._reader.event(node)):
            raise self._refusal(record, node["lost"], "run again, it did not make it")
        return made

    async def _run_again(self, record: Record, said: list[str]) -> dict[int, Event]:
        places = record.get("in")
        if places is None:
            raise self._refusal(record, said, "its own input is not on record")
        nested = bool(places) and isinstance(places[0], list)
        inputs = [await self._event(n, i) for n, i in (places if nested else [places])]
        flight = Flight(
            invocation_id="",
            step=record["s"],
            index=record["i"],
            work_item_id="",
            attempt=0,
            event=inputs[0],
            inputs=inputs,
            sync=False,
            alone=True,
        )
        token = CURRENT.set(flight)
        try:
            with looking_only():
                output = await run_step(self._workflow, record["s"], inputs)
        finally:
            CURRENT.reset(token)
        if flight.writes:
            raise self._refusal(record, said, "it also changes the state, which it must not do twice")
        return self._collect(output)

    def _collect(self, output: list[Any]) -> dict[int, Event]:
        made: dict[int, Event] = {}
        for index, item in enumerate(item for item in output if not hasattr(item, "index")):
            if isinstance(item, StepWorkerFailed):
                raise item.exception
            if isinstance(item, StepWorkerResult) and item.result is not None:
                made[index] = item.result
        made.update({-1 - item.index: item.event for item in output if hasattr(item, "index")})
        return made

    def _refusal(self, record: Record, said: list[str], why: str) -> JournalError:
        label = f"{record['s']}[{record['i']}]" if "s" in record else "the start event"
        return JournalError(
            f"cannot be resumed past {label}: its {said[1]}{said[2]} ({said[3]}) was not kept, and {why}; "
            "put it into a Resource, or start over with --fresh"
        )
