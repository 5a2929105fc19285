"""Fold recorded ticks through the engine's own reducer, in the live loop's order.

Only ticks that come from outside the loop are recorded: results, sends,
timers. The ticks that they imply (the delivery of a returned event, the idle
check) are made again here, from the reducer's commands, in the same first-in
first-out buffer as the engine's runner keeps. Each recorded tick says how many
ticks had been reduced before it, so the order is exact and checked.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable

from workflows.events import UnhandledEvent
from workflows.runtime.control_loop.reduce import _reduce_tick
from workflows.runtime.types.commands import (
    CommandPublishEvent,
    CommandQueueEvent,
    CommandRunWorker,
    CommandScheduleIdleCheck,
)
from workflows.runtime.types.internal_state import BrokerState, InProgressState
from workflows.runtime.types.step_id import StepId
from workflows.runtime.types.ticks import (
    TickAddEvent,
    TickIdleCheck,
    TickSessionStart,
    TickStepResult,
    WorkflowTick,
)

from ..errors import JournalError
from .broker import Holder, LiveBrokerState, executions, live


class Fold:
    """A broker state that is brought forward by recorded ticks.

    Args:
        state: where the run began; it is not changed.
        run_id: the id the engine knows the run by; seeds retry jitter.
        on_dispatch: told of each execution that the reducer starts.
    """

    def __init__(
        self,
        state: BrokerState,
        run_id: str,
        on_dispatch: Callable[[CommandRunWorker], None] | None = None,
    ) -> None:
        self.holder = Holder()
        self.state: LiveBrokerState = live(state, self.holder)
        self._run_id = run_id
        self._on_dispatch = on_dispatch
        self._implied: deque[WorkflowTick] = deque()
        self._idle_pending = False
        self._now = 0.0
        self.unaccepted: Counter[type] = Counter()

    @property
    def position(self) -> int:
        """How many ticks have been reduced."""
        return self.state.journal_seq

    def apply(self, tick: WorkflowTick, position: int, now: float) -> None:
        """Reduce one recorded tick, after the ticks implied before it.

        Args:
            tick: the recorded tick.
            position: how many ticks the live loop had reduced before it.
            now: the live loop's time at that tick, seconds since the epoch.

        Raises:
            JournalError: the tick does not fit the state, so the workflow is
                not the one that wrote the journal.
        """
        self.advance(position)
        if isinstance(tick, TickSessionStart):
            # The buffer of the process that died is gone; the reducer
            # delivers again what was on its way.
            self._implied.clear()
            self._idle_pending = False
        self._now = now
        self._reduce(tick)

    def advance(self, position: int) -> None:
        """Reduce implied ticks until ``position`` ticks have been reduced.

        Raises:
            JournalError: no implied tick is left to get there.
        """
        while self.state.journal_seq < position:
            if not self._implied:
                raise JournalError(
                    f"the journal says that {position} ticks came before a record, but only "
                    f"{self.state.journal_seq} follow from the records before it"
                )
            tick = self._implied.popleft()
            if isinstance(tick, TickIdleCheck):
                if self._implied:
                    self._implied.append(tick)
                    continue
                self._idle_pending = False
            self._reduce(tick)

    def settle(self, go_on: Callable[[], bool] = lambda: True) -> None:
        """Reduce everything that is implied so far.

        Args:
            go_on: asked before each tick; False leaves the rest.
        """
        while self._implied and go_on():
            self.advance(self.state.journal_seq + 1)

    def ahead(self) -> list[tuple[StepId, InProgressState]]:
        """What was probably under way when the records end: a look ahead that changes nothing here."""
        scout = Fold(self.state, self._run_id)
        scout._implied = deque(self._implied)
        scout._idle_pending = self._idle_pending
        scout._now = self._now
        scout.advance(self.state.journal_seq + len(self._implied))
        return executions(scout.state)

    def skip(self) -> None:
        """Count a recorded tick that leaves the state as it is."""
        self.state.journal_seq += 1

    def _reduce(self, tick: WorkflowTick) -> None:
        try:
            state, commands = _reduce_tick(tick, self.state, self._now, run_id=self._run_id)
        except (ValueError, KeyError) as error:
            raise JournalError(_misfit(tick)) from error
        assert isinstance(state, LiveBrokerState)
        self.state = state
        for command in commands:
            if isinstance(command, CommandQueueEvent):
                self._implied.append(
                    TickAddEvent(
                        event=command.event,
                        step_id=command.step_id,
                        origin_namespace=command.origin_namespace,
                        recovery_counts=dict(command.recovery_counts),
                        scope_path=command.scope_path,
                        emission=command.emission,
                        stamped_at=self._now,
                    )
                )
            elif isinstance(command, CommandScheduleIdleCheck):
                if not self._idle_pending:
                    self._implied.append(TickIdleCheck())
                    self._idle_pending = True
            elif isinstance(command, CommandPublishEvent) and isinstance(command.event, UnhandledEvent):
                self.unaccepted[type(getattr(tick, "event", None))] += 1
            elif isinstance(command, CommandRunWorker) and self._on_dispatch is not None:
                self._on_dispatch(command)


def _misfit(tick: WorkflowTick) -> str:
    """What does not fit, in the user's words: the engine's own speak of its insides."""
    if isinstance(tick, TickStepResult):
        return (
            f"a result of step '{tick.step_id}' is in the journal, but the workflow as it is now has not "
            "started that execution"
        )
    return f"a recorded {tick.type.replace('_', ' ')} does not fit the workflow as it is now"
