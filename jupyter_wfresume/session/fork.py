"""Where a new run leaves another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..codec import encode
from ..engine import Event, StateModel
from ..journal import FindClass, Inputs, StoreBlobs


@dataclass(frozen=True)
class Fork:
    """Where a new run leaves another one.

    Args:
        run_id: the run it leaves.
        step: the step.
        index: N of ``STEP[N]``.
        inputs: the recorded inputs, by content, sorted.
        digests: the same in the order in which they were recorded.
        edit: the inputs in their place.
        model: the state the run had begun with.
    """

    run_id: str
    step: str
    index: int
    inputs: Inputs
    digests: list[str]
    edit: list[Event]
    model: StateModel

    @property
    def said(self) -> str:
        """``leaves run 7f3a at work[17]``."""
        return f"leaves run {self.run_id[:4]} at {self.step}[{self.index}]"

    def written(self, blobs: StoreBlobs, find_class: FindClass) -> dict[str, Any]:
        """What the header of the new run says of it."""
        return {
            "run": self.run_id,
            "at": f"{self.step}[{self.index}]",
            "edit": encode(self.edit, blobs, find_class),
        }
