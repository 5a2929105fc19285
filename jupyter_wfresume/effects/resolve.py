"""A person's word on a side effect."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from typing import Any, Literal

from ..errors import CannotKeepError, UsageError
from ..store import Store
from . import words
from .entries import Entry, key_digest, key_text
from .ledger import Changed, Spot, entries_of, typed_name

Decision = Literal["done", "retry", "undone"]
DECISIONS: tuple[Decision, ...] = ("done", "retry", "undone")


def resolve(store: Store, name: str, effect: str, key: Any, decision: Decision, receipt: Any = None) -> Entry:
    """Write down what a person says of a side effect.

    Args:
        store: the store.
        name: NAME, to which it belongs.
        effect: its name.
        key: its key, or the key's text.
        decision: ``done``: it happened, with this receipt; ``retry``: it is done again when it is next
            asked for; ``undone``: it happened and was compensated by hand.
        receipt: for ``done``.

    Returns:
        What is on record now.

    Raises:
        UsageError: there is no such effect, it is under way, or the decision does not fit it.
        CannotKeepError: the receipt cannot be written down.
        StoreError: it is not on disk.
    """
    if decision not in DECISIONS:
        raise UsageError(f"a side effect is done, retry or undone, not {decision!r}")
    while True:
        spot = Spot.of(store, name, found_entry(store, name, effect, key))
        found = spot.read()
        entry = found.entry
        if entry is None:
            continue
        if spot.under_way(entry):
            raise UsageError(words.by_another(entry))
        with contextlib.suppress(Changed):
            spot.swap(found, decided := _decided(entry, decision, receipt))
            return decided


def found_entry(store: Store, name: str, effect: str, key: Any) -> Entry:
    """The effect that is meant.

    Args:
        store: the store.
        name: NAME.
        effect: its name.
        key: its key, or the key's text.

    Raises:
        UsageError: there is none, or the text fits several.
    """
    known = entries_of(store, name)
    same = [entry for entry in known if entry.effect == effect]
    exact = [entry for entry in same if entry.digest == key_digest(effect, key)]
    texts = {key_text(key), str(key)}
    by_text = [entry for entry in same if entry.key in texts or _by_digest(entry, key)]
    if len(by_text) > 1 and isinstance(key, str):
        listed = ", ".join(f"{typed_name(known, entry)} ({words.described(entry)})" for entry in by_text)
        raise UsageError(f"{effect}[{key}] is {len(by_text)} side effects, say which: {listed}")
    if exact or by_text:
        return (exact or by_text)[0]
    if not known:
        raise UsageError(f"{name} has no side effects on record")
    # Those that wait for a word come first.
    listed = ", ".join(
        typed_name(known, entry)
        for entry in sorted(known, key=lambda one: one.state in ("done", "failed"))[:8]
    )
    raise UsageError(f"{name} has no side effect {effect}[{key_text(key)}]; it has {listed}")


def _by_digest(entry: Entry, key: Any) -> bool:
    return isinstance(key, str) and key.startswith("#") and len(key) > 4 and entry.digest.startswith(key[1:])


def _decided(entry: Entry, decision: Decision, receipt: Any) -> Entry:
    now = time.time()
    if decision == "done":
        if entry.kept and entry.by != "person":
            raise UsageError(
                f"{entry.name} is {words.described(entry)}: its receipt stays; "
                "retry does it again, undone says that it was compensated"
            )
        done = entry.done(receipt, "person", now)
        if not done.kept:
            raise CannotKeepError("", type(receipt).__name__, f"as the receipt of {entry.name}, {done.why}")
        return done
    if decision == "undone" and entry.state in ("failed", "retry"):
        raise UsageError(f"{entry.name} is {words.described(entry)}: there is nothing to undo")
    happened = entry.state in ("done", "undone")
    moved = entry.moved(decision, now, entry.said)
    # A client that is given the old key once more would not do it again.
    again = decision == "retry" and happened
    return dataclasses.replace(moved, generation=entry.generation + again)
