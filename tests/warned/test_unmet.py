"""Events that meet no step, or never come, are named before work starts; nothing where it is not sure."""

from __future__ import annotations

from typing import Any

import pytest
from workflows import Context, Workflow, step
from workflows.errors import WorkflowValidationError
from workflows.events import StartEvent, StopEvent

from jupyter_wfresume.session.unmet import unmet
from tests.agents.fakes import helper, team
from tests.warned.conftest import Life, Lives
from tests.warned.flows import (
    ByAHelper,
    Few,
    Hello,
    Item,
    Late,
    Mute,
    Open,
    Pair,
    Plainly,
    Runs,
    Sends,
    Special,
    Takes,
)

ACCEPT = (
    "which no step accepts: `work` takes its parent class `Item` only; let it accept `Special` too, "
    "or decorate it with @step(accept_event_subclasses=True)"
)


@pytest.mark.parametrize("workflow", [Plainly, Sends])
async def test_a_class_of_which_only_the_parent_is_accepted_is_seen_in_the_code(
    live: Lives, workflow: type[Workflow]
) -> None:
    """What a step returns or sends in so many words is named before it runs, and only once."""
    life = await live(lambda life: workflow(timeout=None).run())
    assert life.notes == [f"`split` makes a `Special`, {ACCEPT}"]


async def test_such_a_class_is_seen_at_the_latest_when_nobody_takes_the_event(live: Lives) -> None:
    """An event that is made out of sight is named when it is sent."""
    life = await live(lambda life: Mute(timeout=None).run())
    assert life.notes == [f"a `Special` was sent, {ACCEPT}"]


async def test_in_a_run_below_a_step_it_is_said_where_the_user_looks(live: Lives) -> None:
    """The board shows the notes of the run that the cell started."""
    life = await live(lambda life: Runs(Mute(timeout=None), timeout=None).run())
    assert life.notes == [f"a `Special` was sent, {ACCEPT}"]


async def test_a_dry_run_says_it_too(live: Lives) -> None:
    """The plan of a run that is not made holds the warning."""
    life = await live(lambda life: Plainly(timeout=None).run(), dry_run=True)
    assert f"`split` makes a `Special`, {ACCEPT}" in life.told[0]


class Waiting(Workflow):
    """Waits for such an event in a step's midst."""

    @step
    async def split(self, ctx: Context, ev: StartEvent) -> Item:
        ctx.send_event(Special(n=1))
        return Item(n=0)

    @step
    async def work(self, ctx: Context, ev: Item) -> StopEvent:
        return StopEvent(result=(await ctx.wait_for_event(Special)).n)


def test_the_engine_itself_refuses_what_is_declared() -> None:
    """An accepted class that no step declares to return is the engine's to refuse, so we do not repeat it."""
    with pytest.raises(WorkflowValidationError, match="consumed but never produced: Hello"):
        Late(timeout=None).validate()


async def test_an_accepted_event_that_nobody_makes_is_named(live: Lives) -> None:
    """Where the engine was told not to look, we do."""
    life = await live(lambda life: Late(timeout=None, disable_validation=True).run())
    assert life.notes == [
        "`late` accepts `Hello`, which no step makes and this cell does not send: let a step return a "
        "`Hello`, or take it out of `late`"
    ]


async def test_what_the_body_names_it_may_send(live: Lives) -> None:
    """A class in the code of the body, or in the cell's text, is taken for sent."""

    async def sends(life: Life) -> Any:
        handler = Late(timeout=None, disable_validation=True).run()
        assert handler.ctx is not None or Hello()
        return await handler

    assert (await live(sends)).notes == []

    late = Late(timeout=None, disable_validation=True)
    assert (await live(lambda life: late.run(), cell="handler.ctx.send_event(Hello())")).notes == []


async def test_a_body_that_calls_what_makes_it_may_send_it(live: Lives) -> None:
    """The functions that a body names are read as well."""

    async def sends(life: Life) -> Any:
        handler = Late(timeout=None, disable_validation=True).run()
        assert handler.ctx is not None or _make()
        return await handler

    assert (await live(sends)).notes == []


def _make() -> Hello:
    return Hello()


@pytest.mark.parametrize("workflow", [ByAHelper, Takes, Open, Pair, Few])
async def test_nothing_is_said_where_it_is_not_sure(live: Lives, workflow: type[Workflow]) -> None:
    """A helper that makes it, subclasses that are taken, what comes from outside: no warning."""

    async def body(life: Life) -> Any:
        off = {"disable_validation": True} if workflow is ByAHelper else {}
        return await workflow(timeout=None, **off).run()

    assert (await live(body)).notes == []


def test_a_step_that_waits_in_its_midst_may_take_it() -> None:
    """Where some step waits for events by itself, the code does not tell which."""
    assert unmet(Waiting(timeout=None), "", has_context=False) == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the agents' own
async def test_agents_get_no_warning(live: Lives) -> None:
    """A function agent with a tool, and two agents of which one hands over."""
    life = await live(lambda life: helper().run("call add a 1 b 2"))
    assert "the tool said 3" in str(life.result)
    assert life.notes == []
    life = await live(lambda life: team().run("call handoff to_agent two reason none"))
    assert life.result is not None
    assert life.notes == []
