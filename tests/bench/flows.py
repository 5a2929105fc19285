"""Workflows with no work in them, so that only the machinery is measured."""

from __future__ import annotations

from pathlib import Path

from workflows import Workflow, step
from workflows.events import Event, StartEvent, StopEvent

from jupyter_wfresume.board import make_board
from jupyter_wfresume.records import Options
from jupyter_wfresume.session import Session


class Item(Event):
    """One document."""

    i: int


class Done(Event):
    """What became of it."""

    i: int


class Fan(Workflow):
    """A typed fan-out without work."""

    on_item = None

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        """Fan out."""
        return [Item(i=i) for i in range(ev.n)]

    @step(num_workers=4)
    async def work(self, ev: Item) -> Done:
        """Do nothing."""
        if Fan.on_item is not None:
            Fan.on_item(ev.i)
        return Done(i=ev.i)

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        """Join everything."""
        return StopEvent(result=len(ev))


async def durable_run(store: Path, n: int, *, board: bool = False) -> int:
    """Run the fan-out durably.

    Args:
        store: the store's folder.
        n: items.
        board: draw a text board into a file.

    Returns:
        The number of items joined.
    """
    store.parent.mkdir(parents=True, exist_ok=True)
    with (store.parent / "board.txt").open("a") as sink:
        drawn = make_board(
            "text" if board else "none", display=None, has_front_end=False, on_stop=None, stream=sink
        )
        with Session(
            "bench",
            Options(store=str(store)),
            on_view=drawn.update,
            on_close_view=drawn.close,
            tell=lambda line: None,
        ):
            joined: int = await Fan(timeout=None).run(n=n)
            return joined
