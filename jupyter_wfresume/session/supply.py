"""Make an input again that could not be written down."""

from __future__ import annotations

from ..codec import Blobs
from ..engine import Event, Workflow
from ..errors import JournalError
from ..journal import FindClass, Record, Restored
from ..runtime import Flight


class Supply:
    """Fills events of which only the class is on record, before a step sees them.

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
        self._lost = {} if restored is None else restored.lost
        self._blobs = blobs
        self._find_class = find_class

    async def fill(self, flight: Flight) -> None:
        """Give a step's inputs their content back, where it was not kept.

        Raises:
            JournalError: the execution that made it does not make it again.
        """
        for event in flight.inputs:
            if id(event) in self._lost:
                await self._again(event)

    async def _again(self, event: Event) -> None:
        _, ref, said = self._lost[id(event)]
        record = self._records[ref[0]]
        raise JournalError(
            f"cannot be resumed past {record['s']}[{record['i']}]: its {said[1]}{said[2]} ({said[3]}) was not kept"
        )
