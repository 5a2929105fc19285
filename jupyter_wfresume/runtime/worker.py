"""What stands around each execution of a step."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from ..effects import Doubt, InDoubt, is_asking, not_awaited, standing
from ..engine import (
    AddWaiter,
    Event,
    Holder,
    RetryAttempt,
    RetryDecision,
    StepId,
    StepWorkerFailed,
    StepWorkerFunction,
    StepWorkerOutput,
    StepWorkerResult,
    StepWorkerState,
    Workflow,
    decide_retry_delay,
    find_execution,
    is_final,
    keyed,
    left_out,
    parked,
)
from .flights import CURRENT, Flight, Flights
from .hooks import Hooks

DRAIN_S = 30.0
"""How long a final failure is held back so that its siblings can finish, in seconds.

Long enough for most calls to a model; a stop or interrupt ends it sooner.
"""

_TURNS = 3
"""Turns of the loop in which a task that a step has just started begins to await what it was given."""


class Workers:
    """Runs executions of one run.

    Args:
        engine_run_id: seeds retry jitter.
        holder: the live state.
        flights: the executions under way.
        carried: by work item, what its dead forerunner had sent already.
        hooks: of the session: ``supply`` fills inputs that were not kept before
            the step sees them; ``cut_off`` is told when an execution will not
            finish: it was interrupted, it exits, or a run that it runs itself
            ended without a result.
        draining: told when a failure is first held back.
    """

    def __init__(
        self,
        engine_run_id: str,
        holder: Holder,
        flights: Flights,
        carried: dict[str, dict[int, Event]],
        hooks: Hooks,
        draining: Callable[[Flight], None],
    ) -> None:
        self._run_id = engine_run_id
        self._holder = holder
        self._flights = flights
        self._carried = carried
        self._hooks = hooks
        self._draining = draining

    def wrap(self, name: str, function: StepWorkerFunction) -> StepWorkerFunction:
        """The engine's step function, with this around it."""

        async def worker(
            state: StepWorkerState,
            step_name: str,
            event: Event,
            workflow: Workflow,
            bound_events: dict[str, Event] | None = None,
            retry: RetryAttempt = RetryAttempt(),  # noqa: B008  # the engine's signature; it is frozen
        ) -> list[StepWorkerOutput]:
            flight = self._flights.get(state.invocation_id)
            if flight is None:
                raise RuntimeError(f"execution {state.invocation_id} of {name} is not known")

            async def call() -> list[StepWorkerOutput]:
                return await function(
                    state=_given_state(flight, state),
                    step_name=step_name,
                    event=flight.replaced.get(id(event), event),
                    workflow=workflow,
                    bound_events=_given_events(flight, bound_events),
                    retry=retry,
                )

            with standing(self._hooks.place(flight)):
                return await self._run(flight, call, retry)

        return worker

    async def _run(
        self,
        flight: Flight,
        call: Callable[[], Awaitable[list[StepWorkerOutput]]],
        retry: RetryAttempt,
    ) -> list[StepWorkerOutput]:
        found = find_execution(self._holder.state, flight.invocation_id)
        if found is not None:
            found[1].received |= self._carried.get(flight.work_item_id, {}).keys()
        await self._hooks.supply(flight)
        flight.began = time.time()
        flight.skipped = self._hooks.skip(flight)
        if flight.skipped:
            return left_out(self._holder.state, flight.step, flight.work_item_id)
        reused = await self._hooks.reuse(flight)
        if reused is not None:
            return reused
        token = CURRENT.set(flight)
        try:
            output = await self.execute(flight, call)
            if flight.ended:
                # The step has swallowed it, and made something of a result that does not exist.
                raise flight.ended[0]
            if is_asking():
                output = await _all_awaited(flight, output)
        except asyncio.CancelledError as ended:
            # The step may have raised it itself; where the run is being
            # stopped, the session knows and takes no notice.
            self._hooks.cut_off(flight, ended)
            raise
        except (Exception, GeneratorExit):
            raise
        except BaseException as ended:
            causes = sorted(flight.ended, key=_by_need) or [ended]
            doubts = [one for one in causes if isinstance(one, Doubt)]
            if self._hooks.keep_going and len(doubts) == len(causes):
                unclear = InDoubt("; ".join(dict.fromkeys(one.doubts[0].what for one in doubts)))
                return self._set_aside(flight, StepWorkerFailed(exception=unclear, failed_at=time.time()))
            # An interrupt or sys.exit() would end the kernel's loop.
            flight.dead = True
            for one in causes:
                self._hooks.cut_off(flight, one)
            self._flights.poke()
            # Its task ends when the run does; until then it takes no slot.
            await asyncio.Event().wait()
            raise
        finally:
            CURRENT.reset(token)
        return await self._hold_back(flight, output, retry)

    async def execute(
        self, flight: Flight, call: Callable[[], Awaitable[list[StepWorkerOutput]]]
    ) -> list[StepWorkerOutput]:
        """Run the step itself; a thread's step goes on when its task is cancelled."""
        if not flight.sync:
            return await call()
        thread = flight.thread = asyncio.ensure_future(_contained(call))
        output: list[StepWorkerOutput] | KeyboardInterrupt | SystemExit = await asyncio.shield(thread)
        if isinstance(output, (KeyboardInterrupt, SystemExit)):
            raise output
        return output

    async def _hold_back(
        self, flight: Flight, output: list[StepWorkerOutput], retry: RetryAttempt
    ) -> list[StepWorkerOutput]:
        decided = [
            keyed(item, flight.step) if isinstance(item, AddWaiter) else self._decide(flight, item, retry)
            for item in output
        ]
        failure = next((item for item in decided if isinstance(item, StepWorkerFailed)), None)
        if failure is None or not is_final(
            self._holder.state, flight.step, failure, dict(retry.recovery_counts)
        ):
            return decided
        if self._hooks.keep_going:
            return self._set_aside(flight, failure)
        flight.held = failure
        self._flights.gate.clear()
        self._draining(flight)
        self._flights.poke()
        await self._flights.until(lambda: not self._flights.active(), DRAIN_S)
        return decided

    def _set_aside(self, flight: Flight, failure: StepWorkerFailed) -> list[StepWorkerOutput]:
        flight.parked = failure
        return [keyed(parked(flight.work_item_id), flight.step)]

    def _decide(self, flight: Flight, item: StepWorkerOutput, retry: RetryAttempt) -> StepWorkerOutput:
        """Ask the retry policy now, as the engine would after us, so that it is asked once."""
        if not isinstance(item, StepWorkerFailed) or item.retry_decision is not None:
            return item
        policy = self._holder.state.workers[StepId.root(flight.step)].config.retry_policy
        exception: Any = item.exception
        delay: float | None = None
        try:
            delay = decide_retry_delay(
                policy,
                elapsed_time=item.failed_at - retry.first_attempt_at,
                failures=retry.retry_number + 1,
                exception=exception,
                run_id=self._run_id,
                step_name=flight.step,
            )
        except Exception as broken:  # noqa: BLE001  # the policy is the user's; the engine fails the run with it
            broken.__cause__ = exception
            exception = broken
        return item.model_copy(
            update={
                "retry_decision": RetryDecision(delay=delay),
                "first_attempt_at": retry.first_attempt_at,
                "exception": exception,
            }
        )


async def _all_awaited(flight: Flight, output: list[StepWorkerOutput]) -> list[StepWorkerOutput]:
    """The output; a failure where the step is through with a side effect that it has never awaited."""
    if not any(isinstance(item, StepWorkerResult) for item in output):
        return output
    for _ in range(_TURNS):
        if not is_asking():
            return output
        if not any(not child.done() for child in flight.children):
            return [StepWorkerFailed(exception=not_awaited(), failed_at=time.time())]
        await asyncio.sleep(0)
    return output  # a task that the step left running may still await it


async def _contained(
    call: Callable[[], Awaitable[list[StepWorkerOutput]]],
) -> list[StepWorkerOutput] | KeyboardInterrupt | SystemExit:
    """Return what would leave its task as an exception that ends the event loop."""
    try:
        return await call()
    except (KeyboardInterrupt, SystemExit) as ended:
        return ended


def _by_need(ended: BaseException) -> tuple[bool, bool]:
    """What a person has to decide comes first, then what a person is asked."""
    return not hasattr(ended, "doubts"), getattr(ended, "status", "") != "waiting"


def _given_events(flight: Flight, events: dict[str, Event] | None) -> dict[str, Event] | None:
    if events is None or not flight.replaced:
        return events
    return {name: flight.replaced.get(id(event), event) for name, event in events.items()}


def _given_state(flight: Flight, state: StepWorkerState) -> StepWorkerState:
    payload = state.collection_release_payload
    if payload is None or not flight.replaced:
        return state
    events = [flight.replaced.get(id(event), event) for event in payload.events]
    return replace(state, collection_release_payload=replace(payload, events=events))
