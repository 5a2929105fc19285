"""Simple values, secrets and digests."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any

from ..codec import digest

_RANDOM_ID = re.compile(r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)
_SECRET = re.compile(r"(^|_)(api_?key|key|token|secret|password|passwd|credentials?)$", re.IGNORECASE)
_SURE_SECRET = re.compile(
    r"(^|_)((api|access|secret|private|auth)_?key|(auth|access|bearer|refresh|api)_?token"
    r"|secret|password|passwd|credentials?)$",
    re.IGNORECASE,
)
_LOOKS_RANDOM = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w.+/=:-]{16,}")
_ATOMS = (type(None), bool, int, float, complex, str, bytes, Decimal, date, time, timedelta, Enum, PurePath)
_EXACT_ATOMS = frozenset(
    {type(None), bool, int, float, complex, str, bytes, Decimal, date, datetime, time, timedelta}
)
_CONTAINERS = frozenset({list, tuple, set, frozenset, dict})
_DEEPEST = 40


def digest_of(*parts: str) -> str:
    """Hexadecimal digest of some texts, 20 bytes."""
    text = "\0".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()


def is_simple(value: Any) -> bool:
    """Whether a value counts as a setting: plain values, and plain containers of them."""
    if isinstance(value, str) and _RANDOM_ID.fullmatch(value):
        return False
    if isinstance(value, _ATOMS):
        return True
    if type(value) in (list, tuple, set, frozenset):
        return all(is_simple(item) for item in value)
    if type(value) is dict:
        return all(is_simple(key) and is_simple(item) for key, item in value.items())
    return False


def attribute_digests(attributes: dict[str, Any]) -> dict[str, str]:
    """Digests of the simple attributes; secrets and random ids do not count."""
    return {
        name: digest(value, opaque=True)
        for name, value in attributes.items()
        if not holds_secret(name, value) and is_simple(value)
    }


def holds_secret(name: Any, value: Any) -> bool:
    """Whether what bears this name is a credential.

    ``key`` and ``token`` are common names of plain things (``SORT_KEY``), whose
    edits must be seen: under such a name only what looks random is a secret.
    """
    if not isinstance(name, str):
        return False
    if not isinstance(value, (str, bytes)):
        return _SURE_SECRET.search(name) is not None
    if _SURE_SECRET.search(name):
        return True
    text = value if isinstance(value, str) else value.decode("latin-1")
    return _SECRET.search(name) is not None and _LOOKS_RANDOM.fullmatch(text) is not None


def is_random_id(value: Any) -> bool:
    """Whether a text is a random identifier, new in each kernel."""
    return isinstance(value, str) and _RANDOM_ID.fullmatch(value) is not None


def is_plain(value: Any, around: tuple[int, ...] = ()) -> bool:
    """Whether a value is of builtin types all through, and holds no secret and no random id.

    Args:
        value: of any kind.
        around: ids of the containers it lies in; what contains itself is not plain.
    """
    kind = type(value)
    if kind in _EXACT_ATOMS:
        return not is_random_id(value)
    if kind not in _CONTAINERS or id(value) in around or len(around) > _DEEPEST:
        return False
    around = (*around, id(value))
    if kind is dict:
        return all(
            is_plain(key, around) and not holds_secret(key, item) and is_plain(item, around)
            for key, item in value.items()
        )
    return all(is_plain(item, around) for item in value)


def is_immutable(value: Any) -> bool:
    """Whether a plain value cannot be changed in place."""
    if type(value) is tuple:
        return all(is_immutable(item) for item in value)
    return isinstance(value, (*_ATOMS, frozenset, range, re.Pattern))


def items_of(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the items of a plain container, each with its place in brackets; those of a set have none."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield f"[{key!r}]" if isinstance(key, (str, int)) else "[...]", item
    elif isinstance(value, (list, tuple)):
        for position, item in enumerate(value):
            yield f"[{position}]", item
    else:
        for item in value:
            yield "", item


def peek(value: Any, name: str) -> Any:
    """An attribute of any object; None where there is none, or where looking at it fails."""
    try:
        return getattr(value, name, None)
    except Exception:  # noqa: BLE001  # a lazy object may raise anything: it has no such attribute then
        return None


def wrapped_in(value: Any) -> Any:
    """What a decorator has wrapped; None where nothing is."""
    wrapped = None if isinstance(value, type) else peek(value, "__wrapped__")
    return wrapped if callable(wrapped) else None


def unwrapped(function: Any) -> tuple[Any, list[Any]]:
    """The function below all decorators, and what stands above it, outermost first."""
    above: list[Any] = []
    while (wrapped := wrapped_in(function)) is not None and len(above) < _DEEPEST:
        above.append(function)
        function = wrapped
    return function, above
