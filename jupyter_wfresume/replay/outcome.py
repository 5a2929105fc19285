"""What came of an execution, and what differs from what came of another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..engine import UnreconstructedException
from .diff import differences
from .words import Difference, Shown, difference, show


@dataclass(frozen=True)
class NotKept:
    """Stands where an event could not be written down.

    Args:
        name: of the event's class.
        path: where in it.
        type_name: the type that stood in the way.
    """

    name: str
    path: str
    type_name: str

    def __repr__(self) -> str:
        return f"<{self.name} that could not be kept: {self.path} is a {self.type_name}>"


@dataclass(frozen=True)
class Outcome:
    """What came of an execution.

    Args:
        output: events that it returned, then those that it sent.
        error: what it raised, or None.
        waits: it waits for an event.
    """

    output: list[Any]
    error: BaseException | None = None
    waits: bool = False

    @property
    def word(self) -> str:
        """How it ended, where that was not with its output; else empty."""
        if self.waits:
            return "waits for an event"
        error = self.error
        if error is None:
            return ""
        name = type(error).__qualname__
        if isinstance(error, UnreconstructedException) and error.original_type:
            name = error.original_type.rpartition(".")[2]
        return f"raised {name}: {error}" if str(error) else f"raised {name}"

    @property
    def text(self) -> str:
        """The whole in one line."""
        return self.word or show(self.output[0] if len(self.output) == 1 else self.output)


def compare(old: Outcome, new: Outcome) -> list[Difference]:
    """What differs: how they ended, or else the output, where it was kept.

    Args:
        old: what came of it then.
        new: what came of it now.
    """
    if old.word != new.word:
        shown = Shown("pair", (("-", old.text), ("+", new.text)))
        return [difference("", "changed", old.error or old.output, new.error or new.output, shown)]
    before, after = _comparable(old.output, new.output), _comparable(new.output, old.output)
    if len(before) == len(after) == 1:
        return differences(before[0], after[0])
    return differences(before, after)


def not_compared(old: Outcome, new: Outcome) -> list[NotKept]:
    """Outputs on record that count as equal to the like of them, because they were not kept."""
    pairs = zip(old.output, new.output, strict=False)
    return [one for one, other in pairs if isinstance(one, NotKept) and one.name == type(other).__qualname__]


def _comparable(output: list[Any], other: list[Any]) -> list[Any]:
    """The output, with the other's event where its like was not kept."""
    found = list(output)
    for at, (one, its) in enumerate(zip(output, other, strict=False)):
        if isinstance(one, NotKept) and one.name == type(its).__qualname__:
            found[at] = its
    return found
