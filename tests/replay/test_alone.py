"""One step runs by itself, and nothing of it gets out."""

from __future__ import annotations

import asyncio
import threading
import time
import traceback
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel
from workflows import Context, Workflow, step
from workflows.events import Event, HumanResponseEvent, InputRequiredEvent, StartEvent, StopEvent
from workflows.resource import Resource

from jupyter_wfresume.engine import Alone, DictState, StepWorkerState, run_alone, run_sync
from jupyter_wfresume.errors import EngineError, UsageError
from jupyter_wfresume.session import list_runs
from jupyter_wfresume.store import Store
from tests.replay.flows import Counter, Counts, Done, Extra, Fan, Inner, Item, Outer, Recorded, Two


class Tool:
    def __init__(self) -> None:
        self.lock = threading.Lock()


def make_tool() -> Tool:
    return Tool()


class Kinds(Workflow):
    """Steps of every kind; only some of them are ever run."""

    release = threading.Event()
    entered = asyncio.Event()

    @step
    async def begin(self, ev: StartEvent) -> Item | Done | Extra | StopEvent:
        return StopEvent(result=None)

    @step
    async def all_ways(self, ctx: Context, ev: Item, tool: Annotated[Tool, Resource(make_tool)]) -> StopEvent:
        ctx.send_event(Extra(i=1))
        ctx.write_event_to_stream(Done(i=2, v="streamed"))
        await ctx.store.set("seen", [*(await ctx.store.get("seen", default=[])), type(tool).__name__])
        ctx.send_event(Extra(i=3))
        ev.i = 99
        return StopEvent(result="all")

    @step
    def in_a_thread(self, ev: Done) -> StopEvent:
        if ev.v == "blocks":
            self.release.wait()
        return StopEvent(result=threading.current_thread() is threading.main_thread())

    @step
    async def fails(self, ev: Extra) -> StopEvent:
        if ev.i == 0:
            raise ValueError("the user's own")
        if ev.i == 1:
            raise SystemExit(3)
        if ev.i == 2:
            raise asyncio.CancelledError
        if ev.i == 3:
            raise KeyboardInterrupt
        self.entered.set()
        await asyncio.Event().wait()
        return StopEvent()


class Free(Workflow):
    """Its step is a function added to it."""


@step(workflow=Free)
async def free(ctx: Context, ev: StartEvent) -> StopEvent:
    return StopEvent(result=[ev.x, await ctx.store.get("k")])


class Waits(Workflow):
    """It asks, with an id that is another one each time."""

    @step
    async def ask(self, ctx: Context, ev: StartEvent) -> StopEvent:
        said = await ctx.wait_for_event(
            HumanResponseEvent,
            waiter_event=InputRequiredEvent(prefix="go on?"),
            waiter_id=str(time.time_ns()),
        )
        return StopEvent(result=said.response)


def state(**values: Any) -> DictState:
    return DictState(**values)


async def test_all_that_a_step_does_is_in_what_is_returned() -> None:
    """Returned, sent and streamed events, the state it left and its time are told; it worked on copies."""
    model, ev = state(seen=["before"]), Item(i=1)
    alone = await run_alone(Kinds(), "all_ways", [ev], model)
    assert [one.result for one in alone.results] == ["all"]
    assert [one.i for one in alone.sends] == [1, 3]
    assert alone.published == [Done(i=2, v="streamed")]
    assert alone.state._data == {"seen": ["before", "Tool"]}
    assert (alone.error, alone.waits) == (None, False)
    assert 0 < alone.seconds < 60
    assert model._data == {"seen": ["before"]}
    assert ev.i == 1


async def test_a_step_in_a_thread() -> None:
    """A step that is a plain function runs in a thread, as in a run."""
    alone = await run_alone(Kinds(), "in_a_thread", [Done(i=1, v="")], state())
    assert alone.results[0].result is False


async def test_a_fan_in_gets_its_list_and_several_parameters_get_theirs() -> None:
    """A list goes to the list parameter, an empty one too; several events go to parameters by their class."""
    done = [Done(i=2, v="b"), Done(i=1, v="a")]
    assert (await run_alone(Fan(), "join", list(done), state())).results[0].result == ["a", "b"]
    assert (await run_alone(Fan(), "join", [], state())).results[0].result == []
    both = await run_alone(Two(), "both", [Extra(i=20), Item(i=1)], state())
    assert both.results[0].result == 21


async def test_a_step_that_is_a_free_function() -> None:
    """A step that was added to the workflow as a function sees its context."""
    alone = await run_alone(Free(), "free", [StartEvent(x=4)], state(k="v"))
    assert alone.results[0].result == [4, "v"]


async def test_a_typed_state_stays_typed() -> None:
    """The step sees the model of its own class, and a default value is not lost."""
    alone = await run_alone(Counts(), "one", [StartEvent()], Counter(count=6))
    assert alone.state == Counter(count=7, seen=["one"])


async def test_a_step_that_waits_says_so() -> None:
    """A step that waits for a person ends there, and its question is what it streamed."""
    alone = await run_alone(Waits(), "ask", [StartEvent()], state())
    assert alone.waits
    assert [one.prefix for one in alone.published] == ["go on?"]
    assert alone.results == []


async def test_a_step_with_its_answer_goes_on() -> None:
    """With the waiter of a recorded execution around it, a step finds the answer, by whatever id it asks."""
    from workflows.runtime.types.results import StepWorkerWaiter

    waiter: Any = StepWorkerWaiter(
        waiter_id="another",
        event=StartEvent(),
        waiting_for_event=HumanResponseEvent,
        requirements={},
        has_requirements=False,
        resolved_event=HumanResponseEvent(response="yes"),
        work_item_id="w",
    )
    around = StepWorkerState("ask", {}, [waiter], work_item_id="w")
    alone = await run_alone(Waits(), "ask", [StartEvent()], state(), around=around)
    assert alone.results[0].result == "yes"


async def test_the_users_exception_keeps_its_traceback() -> None:
    """What the step raises is told, with the user's own line in its traceback."""
    alone = await run_alone(Kinds(), "fails", [Extra(i=0)], state())
    assert isinstance(alone.error, ValueError)
    lines = traceback.extract_tb(alone.error.__traceback__)
    assert lines[-1].name == "fails"
    assert lines[-1].line == 'raise ValueError("the user\'s own")'


@pytest.mark.parametrize(("i", "kind"), [(1, SystemExit), (2, asyncio.CancelledError)])
async def test_what_would_end_the_loop_is_contained(i: int, kind: type[BaseException]) -> None:
    """A step that exits or cancels itself ends by itself; the loop and the caller go on."""
    alone = await run_alone(Kinds(), "fails", [Extra(i=i)], state())
    assert type(alone.error) is kind


async def test_an_interrupt_reaches_the_caller() -> None:
    """A keyboard interrupt inside the step is the caller's, who asked for an end."""
    with pytest.raises(KeyboardInterrupt):
        await run_alone(Kinds(), "fails", [Extra(i=3)], state())


async def test_a_step_that_takes_too_long_is_cancelled() -> None:
    """After its time a step is cancelled, and that is its error; one in a thread is left behind."""
    alone = await run_alone(Kinds(), "fails", [Extra(i=4)], state(), timeout_s=0.05)
    assert isinstance(alone.error, TimeoutError)
    assert str(alone.error) == "fails took longer than 0.05 s"
    try:
        left = await run_alone(Kinds(), "in_a_thread", [Done(i=1, v="blocks")], state(), timeout_s=0.05)
        assert isinstance(left.error, TimeoutError)
    finally:
        Kinds.release.set()


async def test_cancelling_the_caller_cancels_the_step() -> None:
    """Whoever gives up waiting takes the step along, and no queue of it is left in the runtime."""
    workflow = Kinds()
    workflow.entered = asyncio.Event()
    before = set(workflow._runtime._queues)
    task = asyncio.ensure_future(run_alone(workflow, "fails", [Extra(i=4)], state()))
    await workflow.entered.wait()
    assert set(workflow._runtime._queues) != before
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert set(workflow._runtime._queues) == before


async def test_a_run_that_is_under_way_is_not_touched() -> None:
    """A step run alone beside a run of the same workflow sends nothing into it and leaves its state alone."""
    entered, go_on = asyncio.Event(), asyncio.Event()

    class Beside(Workflow):
        @step
        async def begin(self, ctx: Context, ev: StartEvent) -> Item:
            await ctx.store.set("k", 1)
            entered.set()
            await go_on.wait()
            return Item(i=await ctx.store.get("k"))

        @step
        async def other(self, ctx: Context, ev: Item) -> StopEvent:
            await ctx.store.set("k", 50)
            ctx.send_event(Item(i=7))
            return StopEvent(result=ev.i)

    workflow = Beside(timeout=None)
    handler = workflow.run()
    await entered.wait()
    alone = await run_alone(workflow, "other", [Item(i=5)], state())
    go_on.set()
    assert alone.results[0].result == 5
    assert await handler == 1


async def test_a_workflow_inside_runs_plainly_in_a_durable_cell(tmp_path: Path) -> None:
    """A workflow that the step runs itself makes no run in the store, in an open session too."""

    async def body(workflow: Workflow) -> Any:
        first = await workflow.run(x=1)
        alone = await run_alone(workflow, "call", [StartEvent(x=4)], state())
        return first, alone.results[0].result, await Inner(timeout=None).run(x=5)

    recorded = await Recorded(tmp_path / "store", Outer(timeout=None)).run(body)
    assert recorded.error is None
    assert recorded.result == (3, 9, 10)
    with Store.open(recorded.path, create=False) as store:
        found = [(run.header.workflow, bool(run.header.parent)) for run in list_runs(store, nested=True)]
    assert sorted(found) == [("Inner", False), ("Inner", True), ("Outer", False)]


async def test_an_attached_workflow_runs_alone_too(tmp_path: Path) -> None:
    """A workflow that a session has driven runs a step alone afterwards, and then a plain run."""
    recorded = await Recorded(tmp_path / "store", Fan(timeout=None)).run(lambda workflow: workflow.run(n=1))
    alone = await run_alone(recorded.workflow, "work", [Item(i=1, text="t")], state())
    assert alone.results == [Done(i=1, v="t!")]
    assert alone.published == [Extra(i=1)]
    assert await recorded.workflow.run(n=1) == ["text 0!"]


def test_plain_code_without_a_loop() -> None:
    """Without a running loop the coroutine gets one."""
    alone: Alone = run_sync(lambda: run_alone(Fan(), "work", [Item(i=1, text="t")], state()))
    assert alone.results == [Done(i=1, v="t!")]


async def test_plain_code_in_a_running_loop() -> None:
    """In a running loop, as in a notebook, the coroutine gets a thread with a loop of its own."""
    loops: list[object] = []

    async def look() -> Alone:
        loops.append(asyncio.get_running_loop())
        return await run_alone(Fan(), "work", [Item(i=1, text="t")], state())

    assert run_sync(look).results == [Done(i=1, v="t!")]
    assert loops[0] is not asyncio.get_running_loop()


async def test_an_error_of_plain_code_in_a_running_loop_is_raised() -> None:
    """What is raised in the thread is raised in the caller."""
    with pytest.raises(UsageError, match="no step 'nothing'"):
        run_sync(lambda: run_alone(Fan(), "nothing", [], state()))


REFUSED = [
    ("nothing", [Item(i=1)], "Fan has no step 'nothing' now; it has join, split, work"),
    ("work", [Done(i=1, v="")], "work does not take a Done; it takes Item"),
    ("work", [Item(i=1), Item(i=2)], "work takes 1 event at a time, not 2"),
    ("join", [Item(i=1)], "join does not take an Item; it takes Done"),
]


@pytest.mark.parametrize(("name", "inputs", "sentence"), REFUSED, ids=[str(case[2]) for case in REFUSED])
async def test_what_does_not_fit_is_refused(name: str, inputs: list[Event], sentence: str) -> None:
    """A step that is not there, or that does not take these events, is refused in one sentence."""
    with pytest.raises(UsageError) as refused:
        await run_alone(Fan(), name, inputs, state())
    assert str(refused.value) == sentence


async def test_a_fan_in_of_parameters_wants_one_of_each() -> None:
    """Two events of one class do not make a fan-in of two classes."""
    with pytest.raises(UsageError, match="both takes one Extra more"):
        await run_alone(Two(), "both", [Item(i=1), Item(i=2)], state())


async def test_a_class_defined_again_is_named() -> None:
    """An event of a class that was defined again is refused with what to run."""
    again = type("Item", (Event,), {"__module__": Item.__module__, "__qualname__": "Item"})
    with pytest.raises(UsageError, match="was defined again: run the workflow's cell again too"):
        await run_alone(Fan(), "work", [again()], state())


async def test_another_runtime_is_refused() -> None:
    """A workflow on a runtime that keeps its own records is refused."""
    workflow: Any = Fan()
    workflow._runtime = object()
    with pytest.raises(EngineError, match="runs on object"):
        await run_alone(workflow, "work", [Item(i=1)], state())


class Holds(BaseModel):
    model_config = {"arbitrary_types_allowed": True}
    lock: Any = None
    kept: list[int] = []


async def test_a_state_that_cannot_be_copied_is_shared_in_that_part_only() -> None:
    """A live handle in the state goes to the step as it is; the rest is a copy."""

    class Uses(Workflow):
        @step
        async def use(self, ctx: Context[Holds], ev: StartEvent) -> StopEvent:
            (await ctx.store.get("kept")).append(1)
            return StopEvent(result=(await ctx.store.get_state()).lock)

    model = Holds(lock=threading.Lock())
    alone = await run_alone(Uses(), "use", [StartEvent()], model)
    assert alone.results[0].result is model.lock
    assert model.kept == []
