"""Recorded instances of a class that has changed: the user's function makes them fit."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pydantic

from ..errors import MigrationError, MissingClassError
from .classes import FindClass, is_dataclass, is_model
from .core import Node

if TYPE_CHECKING:
    from .core import Decoder

Migration = Callable[[dict[str, Any]], Any]
"""Takes the recorded fields; returns the new ones, or an instance."""


class Migrating:
    """Finds classes, and what makes recorded instances fit them.

    Args:
        find_class: asked first for a class.
        migration: by module and qualified name, the function that makes recorded
            instances fit, or None.
    """

    def __init__(self, find_class: FindClass, migration: Callable[[str, str], Migration | None]) -> None:
        self._find_class = find_class
        self.migration = migration

    def __call__(self, module: str, qualname: str) -> type | None:
        """The class of this name, where it is known."""
        return self._find_class(module, qualname)


def migrated(dec: Decoder, node: dict[str, Any]) -> Any:
    """An instance made by the user's function, or None where none is needed.

    The function is asked where the class is gone, has other fields than were
    recorded, or refuses their values.

    Raises:
        MigrationError: the function raised, or what it gave does not fit.
    """
    ref = node["c"]
    function = dec.migration(*ref.partition(":")[::2]) if type(ref) is str and dec.migration else None
    if function is None:
        return None
    try:
        cls = dec.find(ref, lambda cls: is_model(cls) or is_dataclass(cls))
    except MissingClassError:
        cls = None
    fields = dec.table(node["d"])
    fields.update(dec.table(node.get("x") or {}))
    private = dec.table(node.get("p") or {})
    dynamic = private.get("_data")
    given = {**fields, **dynamic} if isinstance(dynamic, dict) else fields
    if cls is not None and _fits(cls, fields, node.get("u", ())):
        return None
    made = call_migration(function, given, ref.rpartition(":")[2])
    if not isinstance(made, dict):
        return made
    return fitted(cls, made, ref.rpartition(":")[2])


def call_migration(function: Migration, fields: dict[str, Any], name: str) -> Any:
    """What a migration makes of recorded fields.

    Args:
        function: the user's.
        fields: by name; the function may change the dict.
        name: of what is migrated, for the sentence.

    Raises:
        MigrationError: it raised.
    """
    try:
        made = function(fields)
    except Exception as error:
        at = error.__traceback__
        while at is not None and at.tb_next is not None:
            at = at.tb_next
        line = "" if at is None else f" in line {at.tb_lineno} of {at.tb_frame.f_code.co_name}"
        raise MigrationError(
            f"the migration of {name} raised {type(error).__name__}: {error}{line}, given the fields "
            f"{', '.join(map(str, fields)) or 'none'}; mend it and run this cell again"
        ) from error
    # A function that changes the dict it was given, and returns nothing, has said what it means.
    return fields if made is None else made


def fitted(cls: type | None, fields: dict[str, Any], name: str) -> Any:
    """An instance of a class with these fields, checked by the class.

    Raises:
        MigrationError: there is no such class, or it refuses them.
    """
    if cls is None:
        raise MigrationError(
            f"the migration of {name} gave fields, but there is no class {name} any more: "
            "return an event of the class that takes its place"
        )
    try:
        return cls(**fields)
    except Exception as error:
        raise MigrationError(
            f"the migration of {name} gave fields that do not fit {cls.__qualname__} ({fault_of(error)}); "
            "mend it and run this cell again"
        ) from error


def fault_of(error: BaseException) -> str:
    """What a class has against its fields, in a few words."""
    if isinstance(error, pydantic.ValidationError):
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        return f"'{where}': {first['msg']}" if where else str(first["msg"])
    return str(error) or type(error).__name__


def _fits(cls: Any, fields: dict[str, Any], unset: Node) -> bool:
    if is_model(cls):
        declared = set(cls.__pydantic_fields__)
    else:
        declared = {field.name for field in dataclasses.fields(cls)}
    if declared != set(fields) | (declared & set(unset)):
        return False
    if not is_model(cls):
        return True
    try:
        cls.model_validate(dict(fields))
    except Exception:  # noqa: BLE001  # the class's validators are the user's: whatever they raise, it does not fit
        return False
    return True
