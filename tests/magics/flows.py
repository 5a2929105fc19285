"""A small workflow for tests that need no kernel."""

from __future__ import annotations

from pathlib import Path

from workflows import Workflow, step
from workflows.events import Event, StartEvent, StopEvent


class Item(Event):
    """One work item."""

    n: int


class Done(Event):
    """Its result."""

    n: int


class Batch(Workflow):
    """Adds numbers; ``folder/bad<n>`` makes item n fail, ``folder/executed`` lists what was executed."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(n=n) for n in range(ev.size)]

    @step
    async def work(self, ev: Item) -> Done:
        folder = Path(self.folder)
        with (folder / "executed").open("a") as log:  # a line in a test's file
            log.write(f"{ev.n}\n")
        if (folder / f"bad{ev.n}").exists():
            raise ValueError(f"document {ev.n} is bad")
        return Done(n=ev.n)

    @step
    async def join(self, evs: list[Done]) -> StopEvent:
        return StopEvent(result=sum(ev.n for ev in evs))

    def __init__(self, folder: Path) -> None:
        super().__init__(timeout=None)
        self.folder = str(folder)


def executed(folder: Path) -> list[int]:
    """Return which items were executed."""
    return sorted(int(line) for line in (folder / "executed").read_text().split())
