"""Where a new run leaves another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..codec import digest, encode
from ..engine import Event, StateModel
from ..fingerprint import digest_of
from ..journal import FindClass, Inputs, StoreBlobs
from ..plan import Plan, is_unfinished
from ..records import RunHeader


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

    @property
    def key(self) -> str:
        """Equal for forks that leave the same run at the same place with the same edit."""
        edit = [digest(event, opaque=True) for event in self.edit]
        return digest_of(self.run_id, f"{self.step}[{self.index}]", *edit)

    def plan(self, known: Sequence[RunHeader]) -> Plan:
        """A new run, or what is left to do of an equal fork.

        Args:
            known: the runs of the name, newest first.
        """
        for header in known:
            if is_unfinished(header) and header.extra.get("fork", {}).get("key") == self.key:
                return Plan("resume", header, self.said, reuse=True)
        return Plan("new", None, self.said, reuse=True)

    def written(self, blobs: StoreBlobs, find_class: FindClass) -> dict[str, Any]:
        """What the header of the new run says of it."""
        return {
            "key": self.key,
            "run": self.run_id,
            "at": f"{self.step}[{self.index}]",
            "edit": encode(self.edit, blobs, find_class),
        }
