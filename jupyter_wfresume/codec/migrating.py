"""Recorded instances of a class that has changed: the user's function makes them fit."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from ..errors import MigrationError, MissingClassError
from .classes import FindClass, is_dataclass, is_model
from .core import Node
from .fitting import fault_of, faults_inside, refusal

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

    Attributes:
        used: how often a migration has made an instance.
        made: classes of what they made, each with the name on record of what it was made from.
        latest: the name on record of what the last one was made from.
    """

    def __init__(self, find_class: FindClass, migration: Callable[[str, str], Migration | None]) -> None:
        self._find_class = find_class
        self.migration = migration
        self.used = 0
        self.made: dict[type, str] = {}
        self.latest = ""

    def __call__(self, module: str, qualname: str) -> type | None:
        """The class of this name, where it is known."""
        return self._find_class(module, qualname)

    def note(self, name: str, made: Any) -> None:
        """Know that a migration has made an instance.

        Args:
            name: of the class on record.
            made: the instance.
        """
        self.used += 1
        self.made[type(made)] = self.latest = name


def migrated(dec: Decoder, node: dict[str, Any]) -> Any:
    """An instance made by the user's function, or None where none is needed.

    The function is asked where the class is gone, has other fields than were
    recorded, or refuses their values or what lies in them.

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
    dynamic = dynamic if isinstance(dynamic, dict) else {}
    if cls is not None and _fits(cls, fields, node.get("u", ())):
        return None
    name = ref.rpartition(":")[2]
    made = call_migration(function, {**fields, **dynamic}, name)
    if isinstance(made, dict):
        made = fitted(cls, made, name, {*dynamic, *(node.get("x") or {})})
    elif not (is_model(type(made)) or is_dataclass(type(made))):
        raise MigrationError(
            f"the migration of {name} gave a {type(made).__name__}: it has to return the new fields, "
            "or an instance of the class that takes its place"
        )
    if dec.note is not None:
        dec.note(name, made)
    return made


def call_migration(function: Migration, fields: dict[str, Any], name: str) -> Any:
    """What a migration makes of recorded fields.

    Args:
        function: the user's.
        fields: by name; the function may change the dict.
        name: of what is migrated, for the sentence.

    Raises:
        MigrationError: it raised, or is no plain function.
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
    if inspect.iscoroutine(made):
        # Else Python warns that nobody awaited it.
        made.close()
        raise MigrationError(f"the migration of {name} is async: make it a plain function")
    # A function that changes the dict it was given, and returns nothing, has said what it means.
    return fields if made is None else made


def fitted(cls: type | None, fields: dict[str, Any], name: str, known: Collection[str] = ()) -> Any:
    """An instance of a class with these fields, checked by the class.

    Args:
        cls: the class, or None where there is none.
        fields: by name.
        name: of the class on record.
        known: names of fields that were on record without being declared.

    Raises:
        MigrationError: there is no such class, or it refuses them.
    """
    if cls is None:
        raise MigrationError(
            f"the migration of {name} gave fields, but there is no class {name} any more: "
            "return an event of the class that takes its place"
        )
    unknown = unknown_names(cls, fields)
    for one in unknown:
        if one not in known:
            raise MigrationError(
                f"the migration of {name} gave '{one}', which {cls.__qualname__} does not have; "
                "mend it and run this cell again"
            )
    try:
        return cls(**fields)
    except Exception as error:
        raise MigrationError(
            f"the migration of {name} gave fields that do not fit {cls.__qualname__} ({fault_of(error)}); "
            "mend it and run this cell again"
        ) from error


def unknown_names(cls: type, names: Collection[str]) -> list[str]:
    """Names that a model takes for no field of its own; none where it takes any.

    Args:
        cls: the class; a dataclass refuses them itself.
        names: of what it would be given.
    """
    if not is_model(cls):
        return []
    model: Any = cls
    validators = model.__pydantic_decorators__.model_validators.values()
    if (
        not model.model_fields
        or model.model_config.get("extra") == "allow"
        or any(one.info.mode != "after" for one in validators)
    ):
        return []
    private = {name.lstrip("_") for name in model.__private_attributes__}
    taken = {*model.model_fields, *model.__private_attributes__, *private}
    for each in model.model_fields.values():
        taken |= _aliases(each, names)
    return [name for name in names if name not in taken]


def missing_names(cls: Any, names: Collection[str]) -> list[str]:
    """Declared fields of a model that are not among some names.

    Args:
        cls: the model's class.
        names: of what it would be given.
    """
    fields = cls.model_fields.items()
    return [name for name, each in fields if name not in names and not _aliases(each, names) & set(names)]


def _aliases(field: Any, names: Collection[str]) -> set[str]:
    """Other names of a field; of several, or of a path, any may be meant."""
    found: set[str] = set()
    for alias in (field.alias, field.validation_alias):
        found.update(() if alias is None else [alias] if isinstance(alias, str) else names)
    return found


def _fits(cls: Any, fields: dict[str, Any], unset: Node) -> bool:
    if is_model(cls):
        declared = set(cls.__pydantic_fields__)
    else:
        declared = {field.name for field in dataclasses.fields(cls)}
    if declared != set(fields) | (declared & set(unset)):
        return False
    return not refusal(cls, fields) and not any(True for _ in faults_inside(fields))
