"""A process that lives one life at a time in forked children, each killed by a real SIGKILL at a boundary.

Boundaries are counted: before and after each write to the store, and before and after each side effect.
Lines of JSON come in and go out.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from workflows import Context, Workflow, step
from workflows.events import Event, StartEvent, StopEvent
from workflows.retry_policy import retry_policy, stop_after_attempt, wait_fixed

from jupyter_wfresume import effect, open_run
from jupyter_wfresume.errors import RunEnded
from jupyter_wfresume.records import Options
from jupyter_wfresume.session import Session
from jupyter_wfresume.store.rows import Rows
from tests.counting import bump, counts

NAME = "shop"
EFFECTS = ("reserve[81]", "charge[81]", "ship[81]", "mail[81]")
RESULT = [f"receipt of {name}" for name in EFFECTS]
ASKS = 3
"""Exit code of a life that ended with a question for a person."""
FAILS = 4
"""Exit code of a life in which there was no courier for good."""

_place: dict[str, Any] = {}
_passed = 0


def boundary() -> None:
    """Count one, and die at the one that was told."""
    global _passed
    _passed += 1
    if _passed == _place.get("number"):
        os.kill(os.getpid(), signal.SIGKILL)


def happen(name: str) -> str:
    """The world outside: each effect is a line in a file."""
    boundary()
    bump(_place["counter"], name)
    boundary()
    return f"receipt of {name}"


def look_up(effect_name: str) -> Callable[[Any], str | None] | None:
    """What ``verify`` is in this life."""

    def verify(key: Any) -> str | None:
        name = f"{effect_name}[{key}]"
        return f"receipt of {name}" if counts(_place["counter"])[name] else None

    return verify if _place["verify"] else None


async def reserve(key: int) -> str:
    await asyncio.sleep(0)
    return happen(f"reserve[{key}]")


def charge(key: int) -> str:
    return happen(f"charge[{key}]")


def ship(key: int) -> str:
    if _place.get("closed"):
        raise ConnectionError("closed today")
    if not os.path.exists(_place["refused"]):
        bump(_place["refused"], "no courier")
        raise ConnectionError("no courier")
    return happen(f"ship[{key}]")


async def mail(key: int) -> str:
    return happen(f"mail[{key}]")


class Reserved(Event):
    receipts: list[str]


class Charged(Event):
    receipts: list[str]


class Shipped(Event):
    receipts: list[str]


class Mail(Workflow):
    @step
    async def send(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=await effect("mail", key=ev.order, do=mail, verify=look_up("mail")))


class Shop(Workflow):
    """An effect a step: awaited, tried again after it, refused once before it, in a run of its own."""

    @step
    async def reserve(self, ev: StartEvent) -> Reserved:
        return Reserved(receipts=[await effect("reserve", key=81, do=reserve, verify=look_up("reserve"))])

    @step(retry_policy=retry_policy(wait=wait_fixed(0), stop=stop_after_attempt(2)))
    async def charge(self, ctx: Context, ev: Reserved) -> Charged:
        receipt = await effect("charge", key=81, do=charge, verify=look_up("charge"))
        if ctx.retry_info().retry_number == 0:
            raise TimeoutError("after the charge")
        return Charged(receipts=[*ev.receipts, receipt])

    @step(retry_policy=retry_policy(wait=wait_fixed(0), stop=stop_after_attempt(2)))
    def ship(self, ev: Charged) -> Shipped:
        receipt = effect.sync("ship", key=81, do=ship, verify=look_up("ship"))
        return Shipped(receipts=[*ev.receipts, receipt])

    @step
    async def mail(self, ev: Shipped) -> StopEvent:
        return StopEvent(result=[*ev.receipts, await Mail(timeout=None).run(order=81)])


class Item(Event):
    n: int


class Twins(Workflow):
    """Four executions ask at the same time for one effect."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(n=n) for n in range(4)]

    @step(num_workers=4)
    async def pay(self, ev: Item) -> Reserved:
        return Reserved(receipts=[await effect("reserve", key=81, do=reserve, verify=look_up("reserve"))])

    @step
    async def close(self, evs: list[Reserved]) -> StopEvent:
        return StopEvent(result=[ev.receipts for ev in evs])


def counted_writes() -> None:
    """Make each write to the store two boundaries; this process ends here."""
    change: Callable[..., Any] = Rows.change

    def counted(self: Rows, write: Callable[..., Any]) -> Any:
        boundary()
        result = change(self, write)
        boundary()
        return result

    Rows.change = counted  # type: ignore[method-assign]  # of a forked child that lives one life


async def life(flow: type[Workflow], options: Options) -> object:
    """One life, as a cell would have it."""
    session = Session(
        NAME,
        options,
        on_view=lambda view: None,
        on_close_view=lambda view: None,
        tell=lambda line: None,
    )
    with session:
        return await flow(timeout=None).run()


def fork(store: str) -> object:
    """Go on from the charge, with another input, in a new run."""
    charged = open_run(NAME, store).execution("charge", 0)
    return charged.replay(edit={"receipts": ["edited"]}, continue_=True, workflow=Shop(timeout=None))


def child(job: dict[str, Any]) -> int:
    """Live, and write the result, or the question, beside the store."""
    _place.update(job)
    counted_writes()
    what, options = job.get("what", "shop"), Options(store=job["store"], fresh=job.get("fresh", 0))
    try:
        if what == "fork":
            result = fork(job["store"])
        else:
            result = asyncio.run(life(Twins if what == "twins" else Shop, options))
    except RunEnded as ended:
        with open(job["asked"], "a", encoding="utf-8") as out:
            out.write(f"{ended.status}: {ended.sentence}\n")
        return ASKS
    except ConnectionError:
        return FAILS
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
                sys.stdout = sys.stderr  # what a fork tells is no line of ours
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
