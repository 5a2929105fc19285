"""A state store that tells who read and wrote what."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol, cast

from pydantic import BaseModel
from workflows.context.context import Context
from workflows.context.state_store import (
    DictState,
    InMemoryStateStore,
    StateStore,
    infer_state_type,
    traverse_path_step,
)
from workflows.workflow import Workflow

__all__ = [
    "MISSING",
    "DictState",
    "StateModel",
    "StateWatch",
    "TrackedStore",
    "default_state",
    "migrated_state",
    "state_fields",
    "state_of",
    "store_model",
    "value_at",
]

StateModel = BaseModel
"""What a state is: a pydantic model."""

MISSING: Any = object()
"""Stands for a value that is not there; a None that was set is another thing."""


class StateWatch(Protocol):
    """Told of each access to the state, after it happened."""

    def read(self, path: str | None) -> None:
        """A step took the value at ``path`` (None: all), and may change it in place."""

    def wrote(self, path: str | None) -> None:
        """The value at ``path`` (None: all) was set."""

    def edited(self, before: BaseModel, after: BaseModel) -> None:
        """An ``edit_state`` block turned ``before`` into ``after``."""


class TrackedStore(InMemoryStateStore[Any]):
    """The engine's in-memory store with a watch on it.

    Args:
        initial_state: the state model to begin with.
        watch: told of each access.
    """

    def __init__(self, initial_state: BaseModel, watch: StateWatch) -> None:
        super().__init__(initial_state)
        self._watch = watch

    @property
    def model(self) -> BaseModel:
        """The committed state itself, not a copy."""
        return store_model(self)

    async def get(self, path: str, default: Any = ...) -> Any:
        try:
            return await super().get(path, default)
        finally:
            # Where nothing stands there, the step has seen that.
            self._watch.read(path)

    async def snapshot(self, serializer: Any) -> dict[str, Any]:
        found = await super().snapshot(serializer)
        self._watch.read(None)
        return found

    def to_dict(self, serializer: Any) -> dict[str, Any]:
        found = super().to_dict(serializer)
        self._watch.read(None)
        return found

    async def get_state(self) -> Any:
        state = await super().get_state()
        self._watch.read(None)
        return state

    async def set(self, path: str, value: Any) -> None:
        await super().set(path, value)
        self._watch.wrote(path)

    async def set_state(self, state: Any) -> None:
        await super().set_state(state)
        self._watch.wrote(None)

    async def clear(self) -> None:
        await super().clear()
        self._watch.wrote(None)

    @asynccontextmanager
    async def edit_state(self) -> AsyncGenerator[Any, None]:
        before: BaseModel | None = None
        async with super().edit_state() as state:
            before = self.model
            yield state
        if before is not None:
            self._watch.edited(before, self.model)


def store_model(store: StateStore[Any]) -> BaseModel:
    """The committed model of an in-memory store."""
    if not isinstance(store, InMemoryStateStore):
        raise TypeError(f"{type(store).__name__} keeps no model in memory")
    record = store._memory_storage.load_sync()
    if record is None:
        return cast(BaseModel, store.state_type())
    return cast(BaseModel, record.data)


def value_at(model: BaseModel, names: Sequence[str]) -> Any:
    """The value at a path, found as the engine finds it; `MISSING` where there is none.

    Args:
        model: the state.
        names: the path's parts.
    """
    value: Any = model
    try:
        for name in names:
            value = traverse_path_step(value, name)
    except (KeyError, IndexError, AttributeError):
        return MISSING
    return value


def default_state(workflow: Workflow) -> BaseModel:
    """The empty state that the engine would begin with."""
    return infer_state_type(workflow)()


def state_of(ctx: Context[Any]) -> BaseModel | None:
    """The state model that a passed ``ctx=`` carries, or None where it has none in memory."""
    store = ctx.store
    return store_model(store) if isinstance(store, InMemoryStateStore) else None


def state_fields(model: BaseModel) -> dict[str, Any]:
    """What a state holds by name, whether its class still declares it or not."""
    if isinstance(model, DictState):
        return dict(model.items())
    return {**model.__dict__, **(model.__pydantic_extra__ or {})}


def migrated_state(model: BaseModel, fields: dict[str, Any]) -> BaseModel:
    """A state of the same class with these fields, checked by the class."""
    return type(model)(**fields)
