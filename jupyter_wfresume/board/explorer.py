"""What the board's section on executions shows, and who is asked for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ..records import InputField, RunView
from .shown import ExecutionPage

Edits = Mapping[tuple[int, str], Any]
"""By number of the event and name of the field, what a person left in the field."""


@dataclass(frozen=True)
class Line:
    """One execution in the list.

    Args:
        step: the step.
        index: N of ``STEP[N]``.
        status: what became of it; ``reused`` where it was answered from another run.
        seconds: how long its last attempt took.
        said: its input in short.
    """

    step: str
    index: int
    status: str
    seconds: float
    said: str


@dataclass(frozen=True)
class Lines:
    """One page of the list.

    Args:
        rows: its executions.
        first: position of the first of them among those that are asked for.
        matching: how many executions are asked for.
        steps: each step with its number of executions.
        statuses: each status with its number of executions.
        whole: how many executions there are.
    """

    rows: tuple[Line, ...] = ()
    first: int = 0
    matching: int = 0
    steps: tuple[tuple[str, int], ...] = ()
    statuses: tuple[tuple[str, int], ...] = ()
    whole: int = 0


@dataclass(frozen=True)
class Sheet:
    """One execution, with its input as a form.

    Args:
        page: what is on record of it; its input only where there is no form.
        fields: the fields of one of its events.
        event: number of that event.
        events: how many events it received.
        kind: the event's class.
        refused: why it cannot be replayed here and now; else empty.
    """

    page: ExecutionPage
    fields: tuple[InputField, ...] = ()
    event: int = 0
    events: int = 0
    kind: str = ""
    refused: str = ""


@dataclass(frozen=True)
class Going:
    """What is told of a new run while it goes on.

    Args:
        on_view: given what makes its view, whenever it changed.
        on_close_view: given its last view.
        on_start: given what stops it.
    """

    on_view: Callable[[Callable[[], RunView]], None]
    on_close_view: Callable[[RunView], None]
    on_start: Callable[[Callable[[], None]], None]


class Explorer(Protocol):
    """A recorded run as the section needs it; what it cannot do it says with a `WfresumeError`.

    It is called on threads of the board's own, by one at a time but for `replay` and `go_on`.
    """

    def lines(self, step: str, status: str, first: int, count: int) -> Lines:
        """Some of the run's executions.

        Args:
            step: of this step alone; empty for all.
            status: of this status alone; empty for all.
            first: position of the first one.
            count: how many at the most.
        """

    def sheet(self, step: str, index: int, event: int) -> Sheet:
        """One execution.

        Args:
            step: the step.
            index: N of ``STEP[N]``.
            event: number of the event whose fields are wanted.
        """

    def misfits(self, step: str, index: int, edits: Edits) -> dict[tuple[int, str], str]:
        """One sentence for each edit that does not fit."""

    def replay(self, step: str, index: int, edits: Edits) -> str:
        """Executes it again, alone, with these edits; returns what came of it, as HTML."""

    def go_on(self, step: str, index: int, edits: Edits, going: Going) -> str:
        """Goes on from it in a new run, to its end; returns one sentence."""
