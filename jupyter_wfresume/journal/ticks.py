"""Ticks to records and back, exact where the engine's own dump is not.

The engine's dump of a tick loses the types of exceptions, the requirements of
waiters and many values. A record is a small JSON object with short keys; the
table of kinds is in ``journal/__init__``.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..codec import Blobs, Migrating, decode, encode
from ..engine import (
    AddCollectedEvent,
    AddWaiter,
    DeleteCollectedEvent,
    DeleteWaiter,
    EmissionKey,
    Event,
    RetryDecision,
    SentEvent,
    StepFunctionResult,
    StepId,
    StepWorkerFailed,
    StepWorkerResult,
    TickAddEvent,
    TickPublishEvent,
    TickSessionStart,
    TickStepResult,
    TickTimeout,
    TickWaiterTimeout,
    TickWakeup,
    UnreconstructedException,
    WorkflowTick,
    keyed,
    own_requirements,
)
from ..errors import CannotKeepError, DamagedError, MigrationError, MissingClassError

Record = dict[str, Any]
FindClass = Callable[[str, str], "type | None"]


@dataclass
class Unkept:
    """A value that could not be written down.

    Args:
        where: ``result``, ``send 2``, ``requirements``.
        error: what stood in the way.
    """

    where: str
    error: CannotKeepError


@dataclass
class Written:
    """A record made from a tick, and what it could not hold."""

    record: Record
    unkept: list[Unkept] = field(default_factory=list)


class TickWriter:
    """Makes records of ticks.

    Args:
        blobs: where large values go.
        find_class: what a reader will ask first for each class.
    """

    def __init__(self, blobs: Blobs, find_class: FindClass) -> None:
        self._blobs = blobs
        self._find_class = find_class

    def event(self, event: Event, where: str, unkept: list[Unkept]) -> Any:
        """A node for an event; one that cannot be kept leaves its class and the reason."""
        try:
            return encode(event, self._blobs, self._find_class)
        except CannotKeepError as error:
            unkept.append(Unkept(where, error))
            cls = type(event)
            return {"lost": [cls.__module__, cls.__qualname__, error.path, error.type_name]}

    def result(self, tick: TickStepResult) -> Written:
        """The record of a step's result, without its input (the fold knows it)."""
        unkept: list[Unkept] = []
        results = [self._one(item, tick, unkept) for item in tick.result]
        record: Record = {
            "s": str(tick.step_id),
            "w": tick.worker_id,
            "v": tick.invocation_id,
            "r": results,
        }
        if tick.sends:
            record["n"] = [
                [
                    sent.index,
                    self.event(sent.event, f"send {sent.index}", unkept),
                    None if sent.step_id is None else str(sent.step_id),
                    dict(sent.recovery_counts),
                ]
                for sent in tick.sends
            ]
        return Written(record, unkept)

    def _one(self, item: StepFunctionResult, tick: TickStepResult, unkept: list[Unkept]) -> list[Any]:
        if isinstance(item, StepWorkerResult):
            node = None if item.result is None else self.event(item.result, "result", unkept)
            return ["r", node, 1] if item.fanned_out else ["r", node]
        if isinstance(item, StepWorkerFailed):
            delay = None if item.retry_decision is None else item.retry_decision.delay
            return ["x", self.exception(item.exception), item.failed_at, delay, item.first_attempt_at]
        if isinstance(item, AddCollectedEvent):
            own = item.event is tick.event
            return ["c", item.event_id, None if own else self.event(item.event, "collected", unkept)]
        if isinstance(item, DeleteCollectedEvent):
            return ["d", item.event_id]
        if isinstance(item, AddWaiter):
            return self._waiter(item, unkept)
        if isinstance(item, DeleteWaiter):
            return ["e", item.waiter_id]
        raise TypeError(f"a step returned an unknown {type(item).__name__}")

    def _waiter(self, item: AddWaiter[Event], unkept: list[Unkept]) -> list[Any]:
        asked = None if item.waiter_event is None else self.event(item.waiter_event, "question", unkept)
        try:
            requirements: Any = encode(own_requirements(item.requirements), self._blobs, self._find_class)
        except CannotKeepError as error:
            unkept.append(Unkept("requirements", error))
            requirements = None
        cls = item.event_type
        return ["w", item.waiter_id, asked, requirements, item.timeout, [cls.__module__, cls.__qualname__]]

    def exception(self, error: BaseException) -> Any:
        """A node for an exception; one that cannot be kept keeps its type's name and text."""
        try:
            return encode(error, self._blobs, self._find_class)
        except CannotKeepError:
            cls = type(error)
            return {"said": [f"{cls.__module__}.{cls.__qualname__}", str(error)]}

    def tick(self, tick: WorkflowTick) -> Written:
        """The record of any other tick that comes from outside the loop."""
        unkept: list[Unkept] = []
        if isinstance(tick, TickAddEvent):
            record: Record = {"k": "A", "e": self.event(tick.event, "event", unkept)}
            if tick.step_id is not None:
                record["s"] = str(tick.step_id)
            if tick.emission is not None:
                record["em"] = [tick.emission.invocation_id, tick.emission.index]
            if tick.recovery_counts:
                record["rc"] = dict(tick.recovery_counts)
            return Written(record, unkept)
        if isinstance(tick, TickSessionStart):
            return Written({"k": "S"})
        if isinstance(tick, TickWakeup):
            return Written({"k": "W", "due": tick.due})
        if isinstance(tick, TickTimeout):
            return Written({"k": "T", "b": tick.timeout})
        if isinstance(tick, TickWaiterTimeout):
            return Written({"k": "V", "s": str(tick.step_id), "id": tick.waiter_id})
        if isinstance(tick, TickPublishEvent):
            return Written({"k": "N"})
        raise TypeError(f"the loop processed an unknown {type(tick).__name__}")


class TickReader:
    """Makes ticks of records.

    Args:
        blobs: where large values are.
        find_class: asked first for each class.
        lost: told of each event that stands in for one that was not kept.
        migrated: told of each event that a migration has made, or something in it.
    """

    def __init__(
        self,
        blobs: Blobs,
        find_class: FindClass,
        lost: Callable[[Event, list[str]], None],
        migrated: Callable[[Event], None] = lambda event: None,
    ) -> None:
        self._blobs = blobs
        self._find_class = find_class
        self._lost = lost
        self._migrated = migrated

    @property
    def migrations(self) -> int:
        """How often a migration has made something that was read with this class finder."""
        return self._find_class.used if isinstance(self._find_class, Migrating) else 0

    @property
    def latest(self) -> str:
        """Name on record of what the last migration was about."""
        return self._find_class.latest if isinstance(self._find_class, Migrating) else ""

    def value(self, node: Any) -> Any:
        """The value of a node."""
        return decode(node, self._blobs, self._find_class)

    def class_of(self, module: str, qualname: str) -> type:
        """The class of this name in this kernel.

        Raises:
            MissingClassError: there is none.
        """
        found = decode_class(module, qualname, self._find_class)
        if found is None:
            raise MissingClassError(module, qualname)
        return found

    def event(self, node: Any) -> Event:
        """The event of a node, or an empty one of its class where it was not kept."""
        if isinstance(node, dict) and "lost" in node:
            module, qualname, *_ = node["lost"]
            cls = self.class_of(module, qualname)
            if not issubclass(cls, Event):
                raise DamagedError(f"a record names {qualname} as an event, but it is none")
            empty = cls.model_construct()
            self._lost(empty, node["lost"])
            return empty
        before = self.migrations
        event = self.value(node)
        if not isinstance(event, Event):
            name = type(event).__name__
            if self.migrations > before:
                raise MigrationError(
                    f"the migration of {self.latest} gave a {name} where an event belongs; mend it and run "
                    "this cell again"
                )
            raise DamagedError(f"a record holds a {name} where an event belongs")
        if self.migrations > before:
            self._migrated(event)
        return event

    def exception(self, node: Any) -> Exception:
        """The exception of a node."""
        if isinstance(node, dict) and "said" in node:
            name, text = node["said"]
            return UnreconstructedException(text, original_type=name)
        error = self.value(node)
        if not isinstance(error, Exception):
            raise DamagedError(f"a record holds a {type(error).__name__} where an exception belongs")
        return error

    def result(self, record: Record, event: Event) -> TickStepResult:
        """The result tick of a record; ``event`` is the execution's input."""
        sends = [
            SentEvent(
                index=index,
                event=self.event(node),
                step_id=None if step is None else StepId.from_str(step),
                recovery_counts=dict(counts),
            )
            for index, node, step, counts in record.get("n", ())
        ]
        return TickStepResult.model_construct(
            type="step_result",
            step_id=StepId.from_str(record["s"]),
            worker_id=record["w"],
            invocation_namespace=(),
            event=event,
            result=[self._one(item, event, record["s"]) for item in record["r"]],
            stamped_at=record["t"],
            invocation_id=record["v"],
            sends=sends,
        )

    def _one(self, item: list[Any], event: Event, step: str) -> StepFunctionResult:
        kind = item[0]
        if kind == "r":
            result = None if item[1] is None else self.event(item[1])
            return StepWorkerResult(result=result, fanned_out=len(item) > 2)
        if kind == "x":
            return StepWorkerFailed(
                exception=self.exception(item[1]),
                failed_at=item[2],
                retry_decision=RetryDecision(delay=item[3]),
                first_attempt_at=item[4],
            )
        if kind == "c":
            return AddCollectedEvent(
                event_id=item[1], event=event if item[2] is None else self.event(item[2])
            )
        if kind == "d":
            return DeleteCollectedEvent(event_id=item[1])
        if kind == "w":
            return self._waiter(item, step)
        if kind == "e":
            return DeleteWaiter(waiter_id=item[1])
        raise DamagedError(f"a record holds an unknown result '{kind}'")

    def _waiter(self, item: list[Any], step: str) -> AddWaiter[Event]:
        _, waiter_id, asked, requirements, timeout, (module, qualname) = item
        cls = self.class_of(module, qualname)
        if not issubclass(cls, Event):
            raise DamagedError(f"a record waits for {qualname}, which is no event")
        waiter: AddWaiter[Event] = AddWaiter(
            waiter_id=waiter_id,
            waiter_event=None if asked is None else self.event(asked),
            requirements={} if requirements is None else self.value(requirements),
            timeout=timeout,
            event_type=cls,
        )
        return keyed(waiter, step)

    def tick(self, record: Record) -> WorkflowTick | None:
        """The tick of any other record; None for one that leaves the state as it is."""
        kind, now = record["k"], record["t"]
        if kind == "A":
            em = record.get("em")
            return TickAddEvent(
                event=self.event(record["e"]),
                step_id=StepId.from_str(record["s"]) if "s" in record else None,
                recovery_counts=dict(record.get("rc", {})),
                emission=None if em is None else EmissionKey(invocation_id=em[0], index=em[1]),
                stamped_at=now,
            )
        if kind == "S":
            return TickSessionStart(stamped_at=now)
        if kind == "W":
            return TickWakeup(due=record["due"], stamped_at=now)
        if kind == "T":
            return TickTimeout(timeout=record["b"], stamped_at=now)
        if kind == "V":
            return TickWaiterTimeout(
                step_id=StepId.from_str(record["s"]), waiter_id=record["id"], stamped_at=now
            )
        if kind == "N":
            return None
        raise DamagedError(f"a record is of the unknown kind '{kind}'")


def decode_class(module: str, qualname: str, find_class: FindClass) -> type | None:
    """The class of this name: asked of ``find_class``, then looked up where it lives."""
    found = find_class(module, qualname)
    if found is not None:
        return found
    holder: Any = sys.modules.get(module)
    if holder is None:
        try:
            holder = importlib.import_module(module)
        except ImportError:
            return None
    for part in qualname.split("."):
        holder = getattr(holder, part, None)
    return holder if isinstance(holder, type) else None
