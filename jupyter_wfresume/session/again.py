"""Replay a recorded execution, and fork a run at it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..codec import digest, fault, faults_inside
from ..effects import standing
from ..engine import Context, Event, StartEvent, Workflow, default_state
from ..errors import UsageError
from ..journal import Record, StoreBlobs, TickReader, inputs_of
from ..records import Options, RunView
from ..replay import Edit, Replayed, edited_input, recorded_at, recorded_input, replay
from .codes import codes_of
from .fits import edited_classes, event_fault
from .fork import Fork
from .found import finder
from .instances import instance_of
from .migrating import renamed
from .supply import Supply
from .world import replay_place

if TYPE_CHECKING:
    from .runs import Run


async def replay_of(
    run: Run, step: str, index: int, edit: Edit | None, workflow: Workflow | None
) -> Replayed:
    """Execute ``STEP[N]`` of a run again, alone; nothing is written, and side effects give their receipts.

    Args:
        run: the run.
        step: the step.
        index: N of ``STEP[N]``.
        edit: what to change of its input.
        workflow: an instance; None looks for one.

    Raises:
        UsageError: there is no such execution, or the edit does not fit.
        MissingClassError: a class is not defined in this kernel.
    """
    flow = instance_of(run.header.workflow, workflow)
    blobs = StoreBlobs(run.store)
    find = finder(flow)
    records, names = renamed(flow, run.records)
    step = names.get(step, step)

    def events() -> list[Event]:
        return edited_input(flow, records, step, index, Supply.reader(blobs, find), edit)

    with standing(replay_place(run, step, index, events, find)):
        return await replay(
            flow,
            records,
            step,
            index,
            blobs=blobs,
            find_class=find,
            edit=edit,
            check=lambda inputs: check_fit(run, flow, records, step, index, inputs),
        )


def input_of(run: Run, step: str, index: int) -> Any:
    """A copy of what ``STEP[N]`` of a run received: an event, or a list for a fan-in.

    Args:
        run: the run.
        step: the step.
        index: N of ``STEP[N]``.

    Raises:
        UsageError: there is no such execution, or its input was not kept.
        MissingClassError: a class is not defined in this kernel.
    """
    flow = instance_of(run.header.workflow)
    reader = Supply.reader(StoreBlobs(run.store), finder(flow))
    found: list[Any] = []
    records, names = renamed(flow, run.records)
    # An edit that changes nothing is given what an edit would be given.
    edited_input(flow, records, names.get(step, step), index, reader, found.append)
    return found[0]


def check_fit(
    run: Run, flow: Workflow, records: list[Record], step: str, index: int, inputs: list[Event]
) -> None:
    """Refuse an input whose class was edited since the execution, so that it does not fit it now.

    Args:
        run: the run.
        flow: an instance of the workflow.
        records: the run's, its steps by the names that they have now.
        step: the step.
        index: N of ``STEP[N]``.
        inputs: what the step is about to get.

    Raises:
        UsageError: it does not fit.
    """
    if not any(fault(event) or any(True for _ in faults_inside(event)) for event in inputs):
        return
    value = Supply.reader(StoreBlobs(run.store), finder(flow)).value
    since = records[: recorded_at(records, step, index)]
    edited = edited_classes(since, codes_of(flow).parts, value)
    for event in inputs:
        wrong = event_fault(event, edited)
        if wrong:
            raise UsageError(
                f"cannot replay {step}[{index}] of run {run.id[:8]}: its input {type(event).__name__} does "
                f"not fit the class as it is now ({wrong}); give the whole input, restore the class or give "
                "what is new a default, or register a migration (README)"
            )


async def fork_of(
    run: Run,
    step: str,
    index: int,
    edit: Edit | None,
    workflow: Workflow | None,
    *,
    on_view: Callable[[Callable[[], RunView]], None],
    on_close_view: Callable[[RunView], None],
    tell: Callable[[str], None],
    on_start: Callable[[Callable[[], None]], None] = lambda stop: None,
    can_stop: bool = False,
    headless: bool = False,
    cell: str = "",
) -> Any:
    """Go on from an edited execution: a new run that reuses all that the edit does not reach.

    Args:
        run: the run, which stays as it is.
        step: the step.
        index: N of ``STEP[N]``.
        edit: what to change of its input.
        workflow: an instance; None looks for one.
        on_view: given a function that makes the view of the new run, whenever it changed.
        on_close_view: given its last view.
        tell: prints one plain line before work starts.
        on_start: given what stops the new run.
        can_stop: a Stop button works meanwhile.
        headless: nobody is there to answer.
        cell: what is recorded as the new run's cell.

    Returns:
        The new run's result.

    Raises:
        UsageError: there is no such execution, or the edit does not fit.
        RunEnded: the new run ended without a result.
    """
    from .session import Session

    flow = instance_of(run.header.workflow, workflow)
    if run.header.parent:
        raise UsageError(f"run {run.id[:8]} was run by a step of run {run.header.parent[:8]}: fork that one")
    reader = Supply.reader(StoreBlobs(run.store), finder(flow))
    records, names = renamed(flow, run.records)
    step = names.get(step, step)
    fork = _fork(run, flow, records, reader, step, index, edit)
    start = reader.value(records[0]["start"]) if records[0].get("start") else None
    if not isinstance(start, StartEvent):
        raise UsageError(f"run {run.id[:8]} cannot be forked: its start event is not on record")
    snapshot = records[0].get("snap")
    ctx: Context[Any] = Context(flow) if snapshot is None else Context.from_dict(flow, reader.value(snapshot))
    session = Session(
        run.name,
        Options(store=str(run.store.path)),
        on_view=on_view,
        on_close_view=on_close_view,
        tell=tell,
        cell=cell,
        headless=headless,
        can_stop=can_stop,
        fork=fork,
    )
    with session:
        on_start(session.request_stop)
        return await flow.run(ctx=ctx, start_event=start)


def _fork(
    run: Run,
    flow: Workflow,
    records: list[Record],
    reader: TickReader,
    step: str,
    index: int,
    edit: Edit | None,
) -> Fork:
    inputs = recorded_input(records, step, index, reader)
    key = inputs_of(inputs)
    if key is None:
        raise UsageError(
            f"the input of {step}[{index}] cannot be compared, so the run cannot be forked there"
        )
    changed = edited_input(flow, records, step, index, reader, edit)
    if [type(one) for one in changed] != [type(one) for one in inputs]:
        raise UsageError(
            f"to go on from {step}[{index}], the edit has to keep its events' classes and number"
        )
    check_fit(run, flow, records, step, index, changed)
    model = reader.value(records[0]["state"]) if "state" in records[0] else default_state(flow)
    digests = [digest(event, opaque=True) for event in inputs]
    return Fork(run.id, step, index, key, digests, changed, model)
