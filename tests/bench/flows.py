"""Workflows with no work in them, so that only the machinery is measured."""

from __future__ import annotations

import time
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


async def answered_run(store: Path, n: int) -> tuple[float, float]:
    """Run the fan-out as another call, all of which an earlier run answers.

    Args:
        store: the store's folder; it holds a finished run of ``n`` items.
        n: items.

    Returns:
        Seconds of the processor until the plan was told, and from there to the end.
    """
    told: list[float] = []
    began = time.process_time()
    with Session(
        "bench",
        Options(store=str(store)),
        on_view=lambda view: None,
        on_close_view=lambda view: None,
        tell=lambda line: told.append(time.process_time()),
    ) as session:
        flow = Fan(timeout=None)
        flow.note = "another call"  # type: ignore[attr-defined]  # an attribute that no step uses
        await flow.run(n=n)
        answered = session._ended[0].header.saved_executions
    if answered != n + 2:
        raise SystemExit(f"answered {answered} of {n + 2}")
    return told[0] - began, time.process_time() - told[0]


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
