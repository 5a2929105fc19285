"""What an object of Python's own or of numpy's is made of, as it would be copied; nothing is consumed."""

from __future__ import annotations

import functools
import struct
import sys
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .bytecode import code_text
from .owners import Owners
from .values import peek

_LIVE = frozenset(
    {
        "_contextvars", "_ctypes", "_io", "_multiprocessing", "_queue", "_socket", "_sqlite3", "_ssl",
        "_thread", "_weakref", "asyncio", "concurrent", "contextvars", "ctypes", "dbm", "ftplib", "http",
        "imaplib", "importlib", "io", "logging", "mailbox", "mmap", "multiprocessing", "os", "poplib",
        "queue", "sched", "selectors", "shelve", "smtplib", "socket", "socketserver", "sqlite3", "ssl",
        "subprocess", "tarfile", "tempfile", "threading", "unittest", "urllib", "weakref", "zipfile",
    }
)  # fmt: skip
"""Modules whose objects are at work (locks, files, connections): they change with use, and count by type."""
_KEPT_IN_MEMORY = ("StringIO", "BytesIO")
_FILES = ("memmap", "NpzFile")
"""Classes of numpy that stand for a file, which may be larger than memory."""
_FIRST_SAFE = 4
"""Protocol of pickle whose parts are asked for: the first in which keyword arguments are apart."""


@dataclass(frozen=True)
class Content:
    """What an object is made of.

    Args:
        head: the word for its kind.
        parts: values that make it, in order.
        attributes: its attributes by name, whose order does not count.
    """

    head: str
    parts: tuple[Any, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)


def content_of(owners: Owners, value: Any) -> Content | None:
    """What an object is made of; None where that cannot be told, or where asking could do something.

    Only types of Python's own modules and of numpy are asked: another object may connect or compute.

    Args:
        owners: tells whose a type is.
        value: of any kind.
    """
    special = _SPECIAL.get(type(value))
    if special is not None:
        return special(value)
    return _reduced(value) if _may_be_asked(owners, type(value)) else None


def _may_be_asked(owners: Owners, kind: type) -> bool:
    top = kind.__module__.partition(".")[0]
    if top in _LIVE and kind.__name__ not in _KEPT_IN_MEMORY:
        return False
    origin = owners.of_name(kind.__module__)
    if origin.user or (origin.package not in ("", "python", "numpy")) or kind.__name__ in _FILES:
        return False
    return is_its_own(kind)


def is_its_own(value: Any) -> bool:
    """Whether a module of that name holds a thing under its name: what only says so may be anything."""
    for module in (peek(value, "__module__"), type(value).__module__):
        found: Any = sys.modules.get(module) if isinstance(module, str) else None
        name = peek(value, "__qualname__") or peek(value, "__name__")
        for part in name.split(".") if isinstance(name, str) else ():
            found = peek(found, part)
        if found is value:
            return True
    # Iterators and the like say that they are of ``builtins``, which does not name them all.
    return isinstance(value, type) and not value.__flags__ & _HEAP_TYPE


_HEAP_TYPE = 1 << 9
"""Flag of classes made at run time (``Py_TPFLAGS_HEAPTYPE``)."""


def _reduced(value: Any) -> Content | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # copies of itertools' objects are deprecated from Python 3.12 on
            made = value.__reduce_ex__(_FIRST_SAFE)
            if isinstance(made, str):
                return Content(f"named {made}")
            call, given, state, items, pairs = (*made, None, None, None)[:5]
            listed = [None if each is None else list(each) for each in (items, pairs)]
    except Exception:  # noqa: BLE001  # what refuses to be copied, in whatever way, counts by its type
        return None
    own = state if isinstance(state, dict) and all(isinstance(name, str) for name in state) else None
    return Content("made", (call, given, None if own is not None else state, *listed), own or {})


def _bound(value: Any) -> Content:
    """A method of data, such as ``"...".format``."""
    return Content(f"bound {value.__name__}", (value.__self__,))


def _memory(value: memoryview) -> Content | None:
    try:
        return Content("memory", (value.format, value.shape, value.tobytes()))
    except ValueError:  # it was released
        return None


def _view(value: Any) -> Content:
    """Keys, values or items of a dict."""
    return Content("view", (list(value),))


def _partial_method(value: functools.partialmethod[Any]) -> Content:
    return Content("partial method", (value.func, value.args, value.keywords))


_SPECIAL: dict[type, Callable[[Any], Content | None]] = {
    types.BuiltinMethodType: _bound,
    types.MethodWrapperType: _bound,
    memoryview: _memory,
    **dict.fromkeys((type({}.keys()), type({}.values()), type({}.items())), _view),
    types.CodeType: lambda value: Content(f"code {code_text(value)}"),
    struct.Struct: lambda value: Content("format", (value.format,)),
    types.MappingProxyType: lambda value: Content("proxy", (dict(value),)),
    functools.partialmethod: _partial_method,
}
