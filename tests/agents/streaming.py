"""A body that reads the stream and answers, one life a process: ``python -m tests.agents.streaming HOW``."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from typing import Any

from workflows import Context, Workflow, step
from workflows.events import Event, HumanResponseEvent, InputRequiredEvent, StartEvent, StopEvent

from jupyter_wfresume import durable
from tests.counting import bump


class Seen(Event):
    n: int


class Item(Event):
    n: int


class Done(Event):
    n: int


class Shows(Workflow):
    """Streams from each step, and asks at the end."""

    @step
    async def split(self, ctx: Context, ev: StartEvent) -> list[Item]:
        ctx.write_event_to_stream(Seen(n=-1))
        return [Item(n=n) for n in range(3)]

    @step
    async def work(self, ctx: Context, ev: Item) -> Done:
        bump("log", f"work {ev.n}")
        ctx.write_event_to_stream(Seen(n=ev.n))
        return Done(n=ev.n)

    @step
    async def join(self, evs: list[Done]) -> InputRequiredEvent:
        return InputRequiredEvent(prefix="sure?")

    @step
    async def end(self, ev: HumanResponseEvent) -> StopEvent:
        return StopEvent(result=ev.response)


def told(event: Event) -> str:
    """An event as the test compares it."""
    return f"{type(event).__name__}{event.n if isinstance(event, Seen) else ''}"


async def main(how: str) -> list[Any]:
    """Read the stream; ``die`` at the question, or answer it."""
    seen: list[Any] = []
    async with durable("shows", board="none", wait=0):
        handler = Shows(timeout=None).run()
        async for event in handler.stream_events(expose_internal=how == "internal"):
            seen.append(told(event))
            if isinstance(event, InputRequiredEvent):
                if how == "die":
                    os.kill(os.getpid(), signal.SIGKILL)
                handler.ctx.send_event(HumanResponseEvent(response="yes"))
        seen.append(await handler)
    return seen


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1]))))
