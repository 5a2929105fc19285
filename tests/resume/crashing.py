"""A process that lives one life at a time in forked children, each killed by a real SIGKILL where told.

The modules are imported once; a child runs the workflow, counts its writes to the store, and kills itself
before or after the N-th. Lines of JSON come in and go out.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from workflows import Workflow, step
from workflows.events import Event, StartEvent, StopEvent

from jupyter_wfresume.records import Options
from jupyter_wfresume.session import Session
from jupyter_wfresume.store.rows import Rows
from tests.counting import bump

ITEMS = 5
WORKERS = 2
LARGE = 50_000
"""Characters of a value that lies apart from its record."""

_counter = ""


def paid(label: str) -> None:
    """The side effect of a step: counted in a file, over all lives."""
    bump(_counter, label)


class Item(Event):
    i: int


class Done(Event):
    i: int
    text: str


class Total(Event):
    value: int


class Four(Workflow):
    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        paid("split[0]")
        return [Item(i=i) for i in range(ITEMS)]

    @step(num_workers=WORKERS)
    async def work(self, ev: Item) -> Done:
        paid(f"work[{ev.i}]")
        await asyncio.sleep(0)
        return Done(i=ev.i * 10, text=f"{ev.i}" * LARGE)

    @step
    async def join(self, ev: list[Done]) -> Total:
        paid("join[0]")
        assert all(len(d.text) == LARGE for d in ev)
        return Total(value=sum(d.i for d in ev))

    @step
    async def publish(self, ev: Total) -> StopEvent:
        paid("publish[0]")
        return StopEvent(result=ev.value)


def kill_at(number: int, when: str) -> None:
    """Kill this process before, or after, its N-th write to the store."""
    change: Callable[..., Any] = Rows.change
    done = 0

    def counted(self: Rows, write: Callable[..., Any]) -> Any:
        nonlocal done
        done += 1
        if done == number and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = change(self, write)
        if done == number and when == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    Rows.change = counted  # type: ignore[method-assign]  # this process ends here


async def life(store: str) -> object:
    """One life, as a cell would have it."""
    session = Session(
        "four",
        Options(store=store),
        on_view=lambda view: None,
        on_close_view=lambda view: None,
        tell=lambda line: None,
    )
    with session:
        return await Four(timeout=None).run()


def child(job: dict[str, Any]) -> int:
    """Live, and write the result beside the store."""
    global _counter
    _counter = job["counter"]
    if job["number"]:
        kill_at(job["number"], job["when"])
    result = asyncio.run(life(job["store"]))
    with open(job["result"], "w", encoding="utf-8") as out:
        json.dump(result, out)
    return 0


def main() -> None:
    """Fork a child for each job, and say how it ended."""
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                code = child(json.loads(line))
            finally:
                sys.stderr.flush()
                os._exit(code)
        _, status = os.waitpid(pid, 0)
        print(
            json.dumps({"killed": os.WIFSIGNALED(status), "code": os.waitstatus_to_exitcode(status)}),
            flush=True,
        )


if __name__ == "__main__":
    main()
