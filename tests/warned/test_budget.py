"""The engine's default time budget is told of when events queue up, unless it is enough or was chosen."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from workflows.errors import WorkflowCancelledByUser

from jupyter_wfresume.engine import DEFAULT_TIMEOUT_S
from jupyter_wfresume.session import warned
from tests.warned import flows
from tests.warned.conftest import Life, Lives
from tests.warned.flows import Held, OneByOne, Runs


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look as soon as events queue up."""
    monkeypatch.setattr(warned, "FIRST_LOOK_S", 0.0)


def held(n: int, until_noted: bool = True, **more: Any) -> Callable[[Life], Awaitable[Any]]:
    """A body with a fan-out that is held until something was said of it, or a moment."""

    async def body(life: Life) -> Any:
        handler = Held(**more).run(n=n)
        # Long after it has been looked at, where nothing is to be said.
        await (life.noted.wait() if until_noted else asyncio.sleep(0.3))
        flows.GO.set()
        return await handler

    return body


async def cancelled(life: Life, handler: Any) -> str:
    """Cancel a run once something was said of it."""
    await life.noted.wait()
    await handler.cancel_run()
    with pytest.raises(WorkflowCancelledByUser):
        await handler
    return "cancelled"


async def test_a_fan_out_under_the_default_budget_is_told_of_at_once(live: Lives) -> None:
    """Before the first execution has finished: the budget, how many wait, and the way out; once."""
    life = await live(held(20), cell="…")
    assert life.result == 20
    assert life.notes == [
        "16 executions of `work` are waiting, and the run's time budget is the engine's default of 45 s: "
        "if that may be too short, stop and run again with --timeout none"
    ]


async def test_in_a_script_the_way_out_is_an_argument(live: Lives) -> None:
    """Where no cell is, the sentence says what ``durable`` takes."""
    life = await live(held(20))
    assert life.notes[0].endswith("stop and run again with timeout=None")


@pytest.mark.parametrize("chosen", [{"timeout": None}, {"timeout": 45}, {"timeout": 60.0}])
async def test_a_budget_that_was_chosen_is_not_told_of(live: Lives, chosen: dict[str, Any]) -> None:
    """A workflow's own timeout is the user's, also one that is as long as the default."""
    assert (await live(held(20, until_noted=False, **chosen))).notes == []


async def test_with_a_timeout_option_it_is_not_told_of(live: Lives) -> None:
    """``--timeout`` says it all."""
    assert (await live(held(20, until_noted=False), timeout_s=float("inf"))).notes == []


async def test_executions_that_all_run_at_once_are_not_told_of(live: Lives) -> None:
    """Nothing queues up: it is no fan-out that could take long."""
    assert (await live(held(4, until_noted=False))).notes == []


async def test_a_run_below_a_step_is_not_told_of(live: Lives) -> None:
    """--timeout is not for it."""

    async def body(life: Life) -> Any:
        asyncio.get_running_loop().call_later(0.3, flows.GO.set)
        return await Runs(_HeldOf20(), timeout=None).run()

    assert (await live(body)).notes == []


class _HeldOf20(Held):
    def run(self, **more: Any) -> Any:
        return super().run(n=20, **more)


async def test_recorded_durations_that_fit_the_budget_keep_it_quiet(live: Lives) -> None:
    """Twelve executions of a moment each need no more than the budget."""

    flows.GO.set()
    await live(lambda life: Held(timeout=None).run(n=8))
    life = await live(lambda life: Held().run(n=12))
    assert (life.result, life.notes) == (12, [])


async def test_recorded_durations_predict_what_is_needed(live: Lives) -> None:
    """From an earlier run of the name: how many, how long each, on how many workers, and the sum."""
    await live(lambda life: OneByOne(timeout=None).run(n=3))

    async def body(life: Life) -> str:
        handler = OneByOne().run(n=400)
        return await cancelled(life, handler)

    life = await live(body, cell="…")
    found = re.fullmatch(
        r"(\d+) executions of `work` of about ([\d.]+) s on 1 worker need about (\d+) s, "
        r"and the run's time budget is the engine's default of 45 s(?: \(\d+ s are used\))?: "
        r"stop and run again with --timeout none",
        life.notes[0],
    )
    assert found is not None, life.notes
    assert int(found[1]) in (397, 398, 399, 400)
    assert float(found[2]) >= 0.2
    assert int(found[3]) > DEFAULT_TIMEOUT_S


async def test_a_resumed_run_says_it_anew_or_not(live: Lives) -> None:
    """A note of the life before does not stay where it no longer holds."""

    async def stopped(life: Life) -> Any:
        handler = Held().run(n=20)
        return await cancelled(life, handler)

    first = await live(stopped)
    assert len(first.notes) == 1
    flows.GO.set()
    again = await live(lambda life: Held().run(n=20), timeout_s=float("inf"))
    assert (again.result, again.notes) == (20, [])
