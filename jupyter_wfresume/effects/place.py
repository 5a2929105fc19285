"""Where the running code stands: which execution of which run asks for a side effect."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from ..codec.classes import FindClass
from ..errors import RunEnded
from ..records import Lease
from ..store import Store
from .open import OPEN
from .turns import Id


@dataclass(frozen=True)
class Place:
    """An execution, as side effects see it.

    Args:
        store: where receipts are.
        name: NAME, to which receipts belong.
        run_id: the run.
        lease: the right to write; None where nothing is done: receipts are only looked up.
        label: the execution, such as ``pay[3]``.
        content: digest of what the execution is: workflow, step and input.
        find_class: asked first for each class of a receipt.
        warn: told of what a user should know, one sentence each.
        hint: the store's folder, where a command has to name it; else empty.
        ended: told of a doubt, whatever the step makes of it.
        asked: the side effects that were asked for here, with their names, as long as nobody awaits them.
    """

    store: Store
    name: str
    run_id: str
    lease: Lease | None
    label: str
    content: Callable[[], str]
    find_class: FindClass
    warn: Callable[[str], None]
    hint: str = ""
    ended: Callable[[RunEnded], None] = lambda doubt: None
    asked: dict[object, tuple[str, Coroutine[Any, Any, Any]]] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Inside:
    """The effects whose ``do`` or ``verify`` is running.

    Args:
        ids: which.
        key: the idempotency key of the innermost.
    """

    ids: frozenset[Id]
    key: str


HERE: ContextVar[Place | None] = ContextVar("wfresume_place", default=None)
"""The execution that the running code belongs to, None outside of durable runs."""

INSIDE: ContextVar[Inside | None] = ContextVar("wfresume_effect", default=None)

TOLD: ContextVar[list[str] | None] = ContextVar("wfresume_effects_told", default=None)
"""A person said that a replay may really do side effects: those that it did; else None."""


@contextlib.contextmanager
def standing(place: Place) -> Iterator[None]:
    """Let what runs inside the block stand at this place."""
    token = HERE.set(place)
    try:
        with OPEN.counted():
            yield
    finally:
        HERE.reset(token)


def carried() -> Callable[[], AbstractContextManager[None]]:
    """What lets code in a thread stand where the calling code stands.

    ``run_in_executor``, unlike ``to_thread``, takes no context with it; a side effect would
    take itself for one outside of durable runs there.
    """
    place, inside = HERE.get(), INSIDE.get()

    @contextlib.contextmanager
    def there() -> Iterator[None]:
        tokens = HERE.set(place), INSIDE.set(inside)
        try:
            yield
        finally:
            HERE.reset(tokens[0])
            INSIDE.reset(tokens[1])

    return there


@contextlib.contextmanager
def looking_only() -> Iterator[None]:
    """Inside the block, side effects give their recorded receipts and are not done."""
    place = HERE.get()
    with contextlib.ExitStack() as stack:
        if place is not None:
            stack.enter_context(standing(dataclasses.replace(place, lease=None)))
        yield


@contextlib.contextmanager
def telling(told: bool) -> Iterator[list[str]]:
    """Let replays inside the block really do side effects, where ``told``; gives those that they did."""
    did: list[str] = []
    token = TOLD.set(did if told else None)
    try:
        yield did
    finally:
        TOLD.reset(token)
