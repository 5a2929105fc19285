"""Classes by name: the only thing that data can ask this process for."""

from __future__ import annotations

import dataclasses
import importlib
import sys
from collections.abc import Callable
from enum import Enum
from typing import Any

from pydantic import BaseModel

from ..errors import DamagedError, MissingClassError

FindClass = Callable[[str, str], "type | None"]
"""Takes module and qualified name; None where it does not know the class."""


UNNAMED: dict[type, str] = {
    type(None): "NoneType",
    type(...): "EllipsisType",
    type(NotImplemented): "NotImplementedType",
}
"""Builtin classes that ``builtins`` does not name; ``types`` does."""


def class_ref(cls: type) -> str:
    """``module:qualname`` of a class."""
    if cls in UNNAMED:
        return f"types:{UNNAMED[cls]}"
    return f"{cls.__module__}:{cls.__qualname__}"


def is_named_tuple(cls: type) -> bool:
    """Whether it was made by ``namedtuple`` or ``NamedTuple``."""
    return issubclass(cls, tuple) and type(getattr(cls, "_fields", None)) is tuple


def is_dataclass(cls: type) -> bool:
    """Whether it is a dataclass."""
    return dataclasses.is_dataclass(cls)


def is_model(cls: type) -> bool:
    """Whether it is a pydantic model."""
    return issubclass(cls, BaseModel)


def is_enum(cls: type) -> bool:
    """Whether it is an enumeration."""
    return issubclass(cls, Enum)


def is_exception(cls: type) -> bool:
    """Whether it is an exception."""
    return issubclass(cls, BaseException)


def resolve(module: str, qualname: str) -> Any:
    """What a name means in this process, or None; imports the module if need be.

    Raises:
        MissingClassError: the module's import failed.
    """
    if "<locals>" in qualname:
        return None
    found: Any = sys.modules.get(module)
    if found is None:
        try:
            found = importlib.import_module(module)
        except Exception as error:
            raise MissingClassError(module, qualname) from error
    for part in qualname.split("."):
        found = getattr(found, part, None)
        if not isinstance(found, type):
            return found
    return found


class ClassFinder:
    """Finds classes for one decoding.

    Args:
        find_class: asked before the modules.
    """

    def __init__(self, find_class: FindClass | None) -> None:
        self._find_class = find_class
        self._found: dict[str, type] = {}

    def find(self, ref: Any, is_kind: Callable[[type], bool]) -> Any:
        """The class of a reference.

        Args:
            ref: ``module:qualname``.
            is_kind: whether a class is of the kind that the node is about.

        Raises:
            MissingClassError: there is no such class here.
            DamagedError: the name means something else than such a class.
        """
        cls = self._found.get(ref)
        if cls is None:
            cls = self._found[ref] = self._lookup(ref)
        if not is_kind(cls):
            raise DamagedError(f"a recorded value names {ref}, which is no class of the recorded kind")
        return cls

    def _lookup(self, ref: Any) -> type:
        if type(ref) is not str:
            raise DamagedError("a recorded value is malformed: the name of a class is missing")
        module, _, qualname = ref.partition(":")
        found: Any = None
        if self._find_class is not None:
            found = self._find_class(module, qualname)
        if found is None:
            if not all(part.isidentifier() for part in module.split(".")):
                raise DamagedError(f"a recorded value names {ref}, which is no class")
            found = resolve(module, qualname)
        if found is None:
            raise MissingClassError(module, qualname)
        if not isinstance(found, type):
            raise DamagedError(f"a recorded value names {ref}, which is no class of the recorded kind")
        return found
