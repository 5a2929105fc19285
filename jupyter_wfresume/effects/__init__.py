"""Side effects that are done once: intents, receipts, and a person's word where nobody knows.

An entry is kept under the NAME of runs, the effect and the digest of its key, so it belongs to no single run.
It is whole in itself: large parts of a receipt are in it, not among the store's shared values.
"""

from __future__ import annotations

from .act import Awaiting
from .asked import is_asking, not_awaited
from .entries import Entry
from .face import Effect, effect, idempotency_key
from .ledger import begun_in, entries_of, typed_name
from .open import OPEN
from .place import Place, carried, looking_only, standing, telling
from .resolve import DECISIONS, Decision, resolve
from .words import Doubt, InDoubt, Unclear, asking, described

__all__ = [
    "DECISIONS",
    "OPEN",
    "USERS_CALL",
    "Decision",
    "Doubt",
    "Effect",
    "Entry",
    "InDoubt",
    "Place",
    "Unclear",
    "asking",
    "begun_in",
    "carried",
    "described",
    "effect",
    "entries_of",
    "idempotency_key",
    "is_asking",
    "looking_only",
    "not_awaited",
    "resolve",
    "standing",
    "telling",
    "typed_name",
]

USERS_CALL = Awaiting.settled.__code__
"""The frame that calls a user's function; what is on top of it is the user's."""
