"""A side effect is done once: intent, call, receipt, and what to do where one of them is missing."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

from ..codec import digest
from ..errors import LeaseError, RunEnded, StoreError, UsageError
from ..records import Lease
from . import words
from .entries import Entry, error_text
from .ledger import Changed, Found, Spot, entries_of, other_lives, typed_name
from .place import INSIDE, Inside, Place
from .turns import TURNS, Id


@dataclass(frozen=True)
class Wanted:
    """A side effect that is asked for.

    Args:
        effect: its name.
        key: its key.
        do: does it, given the key, and returns its receipt.
        verify: given the key, returns the receipt where it happened and None where it did not, and
            raises where it cannot tell; None where there is no way to ask.
    """

    effect: str
    key: Any
    do: Callable[[Any], Any]
    verify: Callable[[Any], Any] | None


class Way(Protocol):
    """How the caller waits."""

    async def turn(self, future: Future[None]) -> None:
        """Wait until another execution gives its turn back."""

    async def settled(self, function: Callable[[Any], Any], key: Any) -> Any:
        """Call a user's function, and wait for what it returns."""


class Awaiting:
    """In an ``async`` step: on its loop."""

    async def turn(self, future: Future[None]) -> None:
        """Wait until another execution gives its turn back."""
        await asyncio.wrap_future(future)

    async def settled(self, function: Callable[[Any], Any], key: Any) -> Any:
        """Call a user's function, and await what it returns where that can be awaited."""
        result = function(key)
        return await result if inspect.isawaitable(result) else result


class Blocking:
    """In a plain function, in its thread; nothing here ever suspends, see ``blocking``."""

    async def turn(self, future: Future[None]) -> None:
        """Wait until another execution gives its turn back."""
        future.result()

    async def settled(self, function: Callable[[Any], Any], key: Any) -> Any:
        """Call a user's function; a coroutine runs to its end on a loop of this thread."""
        result = function(key)
        return asyncio.run(result) if inspect.iscoroutine(result) else result


async def act(wanted: Wanted, place: Place, way: Way) -> Any:
    """Give the receipt of a side effect; do it where it was not done.

    Args:
        wanted: what is asked for.
        place: the execution that asks.
        way: how it waits.

    Raises:
        Doubt: whether it happened is for a person to say.
        RunEnded: another process is at it.
        UsageError: the key cannot be used, or a replay finds no receipt.
        StoreError: the intent is not on disk, so nothing was done; or the receipt is not, and the
            sentence holds its text.
        Exception: what ``do`` raised.
    """
    spot = Spot(place.store, place.name, wanted.effect, wanted.key)
    if place.lease is None:
        return _on_record(spot, place)
    inside = INSIDE.get()
    if inside is not None and spot.id in inside.ids:
        raise UsageError(
            f"{wanted.effect}[{spot.key_text}] asks for itself in its own do or verify: "
            "call what does it directly"
        )
    async with _turn(spot.id, way):
        acting = _Acting(wanted, place, place.lease, way, spot)
        while True:
            with contextlib.suppress(Changed):
                return await acting.once()


def _on_record(spot: Spot, place: Place) -> Any:
    entry = spot.read().entry
    if entry is None or not entry.kept:
        raise UsageError(words.not_in_a_replay(f"{spot.effect}[{spot.key_text}]", entry))
    return entry.receipt(place.find_class)


@contextlib.asynccontextmanager
async def _turn(what: Id, way: Way) -> AsyncIterator[None]:
    while (future := TURNS.enter(what)) is not None:
        await way.turn(future)
    try:
        yield
    finally:
        TURNS.leave(what)


class _Acting:
    """One execution at one side effect; it alone of this process."""

    def __init__(self, wanted: Wanted, place: Place, lease: Lease, way: Way, spot: Spot) -> None:
        self._wanted = wanted
        self._place = place
        self._lease = lease
        self._way = way
        self._spot = spot

    async def once(self) -> Any:
        """Go on from what is on record.

        Raises:
            Changed: another process was quicker; nothing was done.
        """
        found = self._spot.read()
        entry = found.entry
        if entry is None or entry.state == "retry":
            return await self._do(found)
        if entry.kept:
            return entry.receipt(self._place.find_class)
        if entry.state == "undone":
            raise self._doubt(entry, words.undone(entry))
        if entry.state == "begun" and other_lives(self._place.store, entry):
            raise RunEnded(self._place.run_id, "paused", words.by_another(entry))
        receipt = await self._verified(entry)
        if receipt is not None:
            done = entry.done(receipt, "verify", time.time(), self._place.find_class)
            self._written(self._spot.swap(found, done, self._lease))
            return receipt
        if entry.state == "done":
            raise self._doubt(entry, words.without_receipt(entry))
        if entry.state == "begun" and self._wanted.verify is None:
            raise self._doubt(entry, words.may_have_happened(entry))
        return await self._do(found)

    def _doubt(self, entry: Entry, what: str) -> words.Doubt:
        known = entries_of(self._place.store, self._place.name)
        others = [(one, words.may_have_happened(one)) for one in self._others(known, entry)]
        return words.Doubt(
            self._place.run_id,
            [
                words.Unclear(self._place.name, one, said, self._place.hint, typed_name(known, one))
                for one, said in [(entry, what), *others]
            ],
        )

    def _others(self, known: list[Entry], entry: Entry) -> list[Entry]:
        """What else earlier lives of the run left in doubt, so that a person is asked once."""
        return [
            one
            for one in reversed(known)
            if one.state == "begun"
            and not one.has_verify
            and one.root == self._lease.run_id
            and one.token < self._lease.token
            and (one.effect, one.digest) != (entry.effect, entry.digest)
        ]

    async def _verified(self, entry: Entry) -> Any:
        """The receipt that ``verify`` knows; None where it did not happen, or there is no ``verify``."""
        verify = self._wanted.verify
        if verify is None:
            return None
        try:
            receipt = await self._users(verify, entry.generation)
            if receipt is False:
                raise TypeError("verify returned False; it returns a receipt, or None where nothing happened")
        except Exception as error:
            # Also where ``do`` raised: what it asked for may have arrived all the same.
            what = words.without_receipt(entry) if entry.state == "done" else words.cannot_tell(entry, error)
            raise self._doubt(entry, what) from error
        return receipt

    async def _do(self, found: Found) -> Any:
        begun = self._spot.swap(found, self._intent(found.entry), self._lease)
        entry = begun.entry
        assert entry is not None
        try:
            receipt = await self._users(self._wanted.do, entry.generation)
        except Exception as error:
            with contextlib.suppress(Changed):
                self._spot.swap(begun, entry.moved("failed", time.time(), error_text(error)))
            raise
        done = entry.done(receipt, "do", time.time(), self._place.find_class)
        try:
            # No lease is asked for: it happened, whoever drives the run by now.
            self._written(self._spot.swap(begun, done))
        except StoreError as error:
            raise StoreError(
                f"{entry.name} happened, but its receipt {done.said} could not be written down: {error}",
                self._place.store.path,
            ) from error
        except Changed:
            raise LeaseError(
                f"{entry.name} happened, with the receipt {done.said}, but another process has taken it over "
                "meanwhile: look whether it happened twice",
                self._place.store.path,
            ) from None
        return receipt

    def _intent(self, before: Entry | None) -> Entry:
        now = time.time()
        return Entry(
            effect=self._spot.effect,
            key=self._spot.key_text,
            digest=self._spot.digest,
            state="begun",
            at=now,
            began=now,
            run_id=self._place.run_id,
            root=self._lease.run_id,
            token=self._lease.token,
            owner=self._lease.owner,
            label=self._place.label,
            has_verify=self._wanted.verify is not None,
            calls=1 if before is None else before.calls + 1,
            generation=0 if before is None else before.generation,
        )

    def _written(self, done: Found) -> None:
        if done.entry is not None and not done.entry.kept:
            self._place.warn(words.not_kept(done.entry))

    async def _users(self, function: Callable[[Any], Any], generation: int) -> Any:
        outer = INSIDE.get()
        ids = frozenset((self._spot.id,)) | (frozenset() if outer is None else outer.ids)
        own = digest(["effect", self._place.name, self._spot.effect, self._spot.digest, generation])[:32]
        token = INSIDE.set(Inside(ids, own))
        try:
            return await self._way.settled(function, self._wanted.key)
        finally:
            INSIDE.reset(token)
