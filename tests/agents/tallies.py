"""Steps that count in the state at once, one life in a process: ``python -m tests.agents.tallies KEY``."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys

from workflows import Context, Workflow, step
from workflows.events import Event, StartEvent, StopEvent

from jupyter_wfresume import durable
from tests.counting import bump, counts


class Item(Event):
    n: int
    key: str


class Done(Event):
    n: int


class Noted(Event):
    n: int


def killing() -> bool:
    """Whether this life is one that dies."""
    return os.path.exists("kill")


class Tallies(Workflow):
    """Four counts are in the state when the process dies, and two of the four executions are finished."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(n=n, key="all" if ev.key == "shared" else f"own{n}") for n in range(4)]

    @step(num_workers=4)
    async def work(self, ctx: Context, ev: Item) -> Done:
        async with ctx.store.edit_state() as state:
            state[ev.key] = state.get(ev.key, 0) + 1
        bump("log", "counted")
        while counts("log")["counted"] < 4:  # noqa: ASYNC110  # one file tells the test and the steps alike
            await asyncio.sleep(0.01)
        while ev.n > 1 and killing():
            if counts("log")["noted"] == 2:
                os.unlink("kill")
                os.kill(os.getpid(), signal.SIGKILL)
            await asyncio.sleep(0.01)
        return Done(n=ev.n)

    @step
    async def note(self, ev: Done) -> Noted:
        bump("log", "noted")
        return Noted(n=ev.n)

    @step
    async def join(self, ctx: Context, evs: list[Noted]) -> StopEvent:
        state = await ctx.store.get_state()
        return StopEvent(result=dict(sorted(state.items())))


async def main(key: str) -> dict[str, int]:
    """Run it."""
    async with durable("tallies", board="none"):
        result: dict[str, int] = await Tallies(timeout=None).run(key=key)
        return result


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1]))))
