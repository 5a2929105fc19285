"""Time at a question, over several kernels' lives: it counts against no budget."""

from __future__ import annotations

import asyncio
import time

import pytest
from workflows import Context, Workflow, step
from workflows.events import StartEvent, StopEvent

from jupyter_wfresume import open_run
from tests.counting import bump, counts
from tests.people.conftest import Live, until
from tests.people.flows import LOG, Ask, Item, Said

HOUR_S = 3600.0
BUDGET_S = 30.0


class Patient(Workflow):
    """Asks twice, with work before, between and after."""

    @step
    async def first(self, ev: StartEvent) -> Item:
        bump(LOG, "first")
        return Item(n=1)

    @step
    async def ask(self, ctx: Context, ev: Item) -> StopEvent:
        bump(LOG, "asked")
        said = [
            (await ctx.wait_for_event(Said, waiter_event=Ask(about=f"Part {n}?"), waiter_id=f"part {n}")).text
            for n in range(2)
        ]
        return StopEvent(result=said)


async def test_waiting_over_two_restarts_is_no_time_alive(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hours at a question, with a kernel and without one, leave a budget of 30 s nearly untouched."""
    real, passed = time.time, 0.0
    monkeypatch.setattr(time, "time", lambda: real() + passed)
    for part in range(2):
        running = asyncio.create_task(live(Patient(timeout=BUDGET_S), wait=0.5))
        await until(lambda run, text=f"Part {part}?": [str(one) for one in run.questions] == [text])
        passed += HOUR_S  # a kernel waits with the run
        assert (await running).status == "waiting"
        passed += HOUR_S  # nothing drives it
        open_run("it").answer(f"answer {part}")
    assert await live(Patient(timeout=BUDGET_S)) == ["answer 0", "answer 1"]
    run = open_run("it")
    assert run.cost.lives == 3
    assert run.header.elapsed_s < BUDGET_S
    assert counts(LOG) == {"first": 1, "asked": 3}
