"""A process that asks and answers, one life at a time in forked children, each killed by a real SIGKILL.

Boundaries are counted from the first answer on, before and after each write to the store. Lines of JSON
come in and go out.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from workflows import Workflow

from jupyter_wfresume import durable, open_run
from jupyter_wfresume.errors import UsageError
from jupyter_wfresume.session import answers
from jupyter_wfresume.store.rows import Rows
from tests.people.flows import Loop, Unlinked

FLOWS: dict[str, Callable[[], Workflow]] = {"loop": Loop, "unlinked": Unlinked}
SAYS = {"Round 0?": "no", "Round 1?": "yes", **{f"Number {n}?": str(n) for n in range(3)}}
"""What a person answers, by the question."""

LIFE_S = 30.0
"""A life that takes longer hangs."""

_counts = False


def die_at(number: int) -> None:
    """Count the boundaries of this process, which ends at one of them."""
    change: Callable[..., Any] = Rows.change
    passed = 0

    def boundary() -> None:
        nonlocal passed
        passed += _counts
        if passed == number > 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def counted(self: Rows, write: Callable[..., Any]) -> Any:
        boundary()
        result = change(self, write)
        boundary()
        return result

    Rows.change = counted  # type: ignore[method-assign]  # of a forked child that lives one life


async def person() -> None:
    """Answer each question, once: what is answered already waits to be delivered."""
    global _counts
    while True:
        try:
            run = open_run("it")
            for question in run.questions:
                _counts = True
                run.answer(SAYS[str(question)], question=question)
        except UsageError:
            pass  # there is no run yet, or what was answered is on its way
        await asyncio.sleep(0.02)  # the store is no event that could be awaited


async def life(flow: str) -> Any:
    """One life, with somebody who answers beside it."""
    answering = asyncio.create_task(person())
    try:
        async with durable("it", wait="forever", board="none"):
            return await FLOWS[flow]().run()
    finally:
        answering.cancel()


def main() -> None:
    """Fork a child for each job, and say how it ended."""
    for line in sys.stdin:
        job = json.loads(line)
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                os.chdir(job["folder"])
                sys.stdout = sys.stderr  # what a run tells is no line of ours
                die_at(job["number"])
                answers.LOOK_EVERY_S = 0.01
                with open("result", "w", encoding="utf-8") as out:
                    json.dump(asyncio.run(asyncio.wait_for(life(job["flow"]), LIFE_S)), out)
                code = 0
            finally:
                sys.stderr.flush()
                os._exit(code)
        _, status = os.waitpid(pid, 0)
        print(json.dumps(os.waitstatus_to_exitcode(status)), flush=True)


if __name__ == "__main__":
    main()
