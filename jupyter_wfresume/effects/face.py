"""What a step calls."""

from __future__ import annotations

import asyncio
import inspect
import uuid
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from ..codec import digest
from ..engine import ALONE
from ..errors import UsageError
from . import words
from .act import Awaiting, Blocking, Wanted, Way, act
from .entries import key_digest, key_text
from .open import OPEN
from .place import HERE, INSIDE, TOLD

T = TypeVar("T")

_MOST_NAME = 80
"""Characters of an effect's name at most."""


class Effect:
    """A side effect that is done once: ``receipt = await effect("charge", key=..., do=...)``.

    Its intent is on disk before ``do`` is called, and its receipt after. Whoever asks for it later gets the
    recorded receipt, and ``do`` is not called: a retry, a resumed run, another run of the same NAME, a fork.

    Where a process died between intent and receipt nobody knows whether it happened. Then ``verify`` is
    asked; without it, or where it cannot tell, the run stops and waits for a person's ``%wfresolve``. Where
    ``do`` raises an ``Exception`` it counts as not done: the exception goes on, and the step's next attempt
    calls ``do`` again, unless ``verify`` knows a receipt, or cannot tell.

    In a step that is a plain function: ``receipt = effect.sync("charge", key=..., do=...)``. A thread of the
    step's own has to be started by ``asyncio.to_thread`` or ``run_in_executor``, or to run its function in
    ``contextvars.copy_context()``: other threads do not know which execution they work for, and there it is
    refused. In another process it is a plain call, as it is without the magic.
    """

    def __call__(
        self,
        effect: str,
        *,
        key: Any,
        do: Callable[[Any], Any],
        verify: Callable[[Any], Any] | None = None,
    ) -> Coroutine[Any, Any, Any]:
        """Give the receipt of a side effect when it is awaited; do it where it was not done.

        Args:
            effect: its name, such as ``charge``.
            key: names what it is done for, such as an order's number; the same over retries and runs.
            do: does it: ``do(key)`` returns the receipt, or an awaitable of it.
            verify: ``verify(key)`` returns the receipt where it happened and None where it did not, and
                raises where it cannot tell.

        Raises:
            RunEnded: whether it happened is for a person to say.
            UsageError: name or key cannot be used, a replay finds no receipt, or it is not known which
                execution asks.
            StoreError: it could not be written down.
            Exception: what ``do`` raised.
        """
        wanted, place, own = _wanted(effect, key, do, verify), HERE.get(), object()

        async def asked_for() -> Any:
            if place is not None:
                place.asked.pop(own, None)
            return await _perform(wanted, Awaiting())

        coroutine = asked_for()
        if place is not None:
            place.asked[own] = (effect, coroutine)
        return coroutine

    def sync(
        self,
        effect: str,
        *,
        key: Any,
        do: Callable[[Any], Any],
        verify: Callable[[Any], Any] | None = None,
    ) -> Any:
        """The same in a step that is a plain function, with the same arguments and errors.

        Raises:
            UsageError: also where an event loop is running, as in an ``async`` step.
        """
        wanted = _wanted(effect, key, do, verify)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return blocking(_perform(wanted, Blocking()))
        raise UsageError(f'effect.sync is for plain functions: write `await effect("{effect}", ...)` here')

    def __repr__(self) -> str:
        return 'effect(NAME, key=..., do=..., verify=...): await it in a step; see "effect?"'


effect = Effect()


def idempotency_key(*parts: object) -> str:
    """A key for clients that take one, 32 hexadecimal digits.

    In a step it belongs to the execution: NAME, workflow, step and input, so it is the same over retries,
    restarts, replays and runs. Within ``do`` and ``verify`` it belongs to the effect. Outside of durable runs
    it is a new one each time.

    Args:
        parts: tell several keys of one execution apart.

    Raises:
        UsageError: something durable goes on, and no execution is known to ask.
        CannotKeepError: a part cannot be written down.
    """
    inside, place = INSIDE.get(), HERE.get()
    if inside is not None:
        base = inside.key
    elif place is not None:
        base = digest(["execution", place.name, place.content()])[:32]
    elif OPEN:
        raise UsageError(words.nobody_knows("idempotency_key()"))
    else:
        return uuid.uuid4().hex
    return digest([base, *parts])[:32] if parts else base


def blocking(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends, so that one text serves loops and threads."""
    try:
        coroutine.send(None)
    except StopIteration as ended:
        result: T = ended.value
        return result
    coroutine.close()
    raise RuntimeError("a blocking side effect was suspended")


async def _perform(wanted: Wanted, way: Way) -> Any:
    place = HERE.get()
    alone = ALONE.get()
    did = TOLD.get()
    if alone and did is not None:
        did.append(wanted.effect)
        return await way.settled(wanted.do, wanted.key)
    if place is None:
        if alone:
            name = f"{wanted.effect}[{key_text(wanted.key)}]"
            raise UsageError(words.not_in_a_replay(name, None))
        if OPEN:
            raise UsageError(words.nobody_knows(f"effect '{wanted.effect}'"))
        return await way.settled(wanted.do, wanted.key)
    try:
        return await act(wanted, place, way)
    except words.Doubt as doubt:
        place.ended(doubt)
        raise


def _wanted(name: object, key: Any, do: Any, verify: Any) -> Wanted:
    if not isinstance(name, str) or not name or len(name) > _MOST_NAME:
        raise UsageError(f"a side effect's name is a short text such as 'charge', not {name!r:.100}")
    if not name.isprintable() or any(char.isspace() or char in "[]'\"" for char in name):
        raise UsageError(f"a side effect's name is one word without brackets and quotes, not {name!r}")
    if key is None or key == "":
        raise UsageError(
            f"{name} has the key {key!r}: give what names the one thing that it is done for, "
            "such as an order's number"
        )
    for role, function in (("do", do), ("verify", verify)):
        if not callable(function) and not (role == "verify" and function is None):
            hint = "; leave out its call" if inspect.isawaitable(function) else ""
            raise UsageError(f"{name}: {role} is a function of the key, not {function!r:.100}{hint}")
    key_digest(name, key)
    return Wanted(name, key, do, verify)
