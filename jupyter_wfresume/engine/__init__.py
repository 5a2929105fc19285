"""The only door to the engine, ``llama-index-workflows``.

Everything of the engine that other rooms need passes here, so that a change
of its internals changes this room alone.
"""

from __future__ import annotations

from workflows.context.context import Context
from workflows.errors import WorkflowCancelledByUser, WorkflowTimeoutError
from workflows.events import (
    Event,
    HumanResponseEvent,
    InputRequiredEvent,
    InternalDispatchEvent,
    StartEvent,
    StopEvent,
    UnreconstructedException,
    WorkflowCancelledEvent,
)
from workflows.handler import WorkflowHandler
from workflows.runtime.control_loop.reduce import _decide_retry_delay as decide_retry_delay
from workflows.runtime.types.commands import CommandRunWorker
from workflows.runtime.types.internal_state import BrokerState, InProgressState
from workflows.runtime.types.named_task import (
    NamedTask,
    PendingPull,
    PendingStart,
    PendingWorker,
    all_tasks,
    pick_highest_priority,
)
from workflows.runtime.types.plugin import WaitForNextTaskResult, WaitResult, WaitResultTick
from workflows.runtime.types.results import (
    AddCollectedEvent,
    AddWaiter,
    DeleteCollectedEvent,
    DeleteWaiter,
    EmissionKey,
    RetryAttempt,
    RetryDecision,
    SentEvent,
    StepFunctionResult,
    StepWorkerFailed,
    StepWorkerOutput,
    StepWorkerResult,
    StepWorkerState,
)
from workflows.runtime.types.step_function import StepWorkerFunction
from workflows.runtime.types.step_id import StepId
from workflows.runtime.types.ticks import (
    TickAddEvent,
    TickCancelRun,
    TickIdleCheck,
    TickPublishEvent,
    TickSessionStart,
    TickStepResult,
    TickTimeout,
    TickWaiterTimeout,
    TickWakeup,
    WorkflowTick,
)
from workflows.workflow import Workflow

from .alone import Alone, run_alone, run_sync
from .attach import (
    AttachedHandler,
    AttachedInternal,
    Port,
    basic_runtime_of,
    detach,
    offer_runs_to,
    snapshot_from_state,
    snapshot_of,
    state_from_snapshot,
)
from .broker import (
    Holder,
    LiveBrokerState,
    executions,
    find_execution,
    input_events,
    is_busy,
    live,
    open_waiters,
    plain,
    resolves_a_waiter,
    seed,
    set_workers,
    workers_of,
)
from .fold import Fold
from .graph import (
    StepInfo,
    StepSource,
    event_classes,
    free_steps,
    is_final,
    own_attributes,
    run_step,
    step_sources,
    steps_of,
)
from .scout import inputs_of_execution, scout
from .state import DictState, StateModel, StateWatch, TrackedStore, default_state, state_of, store_model
from .version import check_engine, engine_version
from .waiters import recognize_waiters

__all__ = [
    "AddCollectedEvent",
    "AddWaiter",
    "Alone",
    "AttachedHandler",
    "AttachedInternal",
    "BrokerState",
    "CommandRunWorker",
    "Context",
    "DeleteCollectedEvent",
    "DeleteWaiter",
    "DictState",
    "EmissionKey",
    "Event",
    "Fold",
    "Holder",
    "HumanResponseEvent",
    "InProgressState",
    "InputRequiredEvent",
    "InternalDispatchEvent",
    "LiveBrokerState",
    "NamedTask",
    "PendingPull",
    "PendingStart",
    "PendingWorker",
    "Port",
    "RetryAttempt",
    "RetryDecision",
    "SentEvent",
    "StartEvent",
    "StateModel",
    "StateWatch",
    "StepFunctionResult",
    "StepId",
    "StepInfo",
    "StepSource",
    "StepWorkerFailed",
    "StepWorkerFunction",
    "StepWorkerOutput",
    "StepWorkerResult",
    "StepWorkerState",
    "StopEvent",
    "TickAddEvent",
    "TickCancelRun",
    "TickIdleCheck",
    "TickPublishEvent",
    "TickSessionStart",
    "TickStepResult",
    "TickTimeout",
    "TickWaiterTimeout",
    "TickWakeup",
    "TrackedStore",
    "UnreconstructedException",
    "WaitForNextTaskResult",
    "WaitResult",
    "WaitResultTick",
    "Workflow",
    "WorkflowCancelledByUser",
    "WorkflowCancelledEvent",
    "WorkflowHandler",
    "WorkflowTick",
    "WorkflowTimeoutError",
    "all_tasks",
    "basic_runtime_of",
    "check_engine",
    "decide_retry_delay",
    "default_state",
    "detach",
    "engine_version",
    "event_classes",
    "executions",
    "find_execution",
    "free_steps",
    "input_events",
    "inputs_of_execution",
    "is_busy",
    "is_final",
    "live",
    "offer_runs_to",
    "open_waiters",
    "own_attributes",
    "pick_highest_priority",
    "plain",
    "recognize_waiters",
    "resolves_a_waiter",
    "run_alone",
    "run_step",
    "run_sync",
    "scout",
    "seed",
    "set_workers",
    "snapshot_from_state",
    "snapshot_of",
    "state_from_snapshot",
    "state_of",
    "step_sources",
    "steps_of",
    "store_model",
    "workers_of",
]
