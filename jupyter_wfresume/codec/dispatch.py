"""Which functions keep a value: by its exact type, and by the tag of its node."""

from __future__ import annotations

import importlib
import types
from collections.abc import Callable
from typing import Any

from ..errors import DamagedError, MissingClassError
from . import containers, exceptions, llama, models, objects, plain, typeforms
from .core import DecodeFn, EncodeFn, Node

LIBRARIES = {
    "numpy": "numpy_",
    "pandas": "pandas_",
    "PIL": "pillow",
    "dateutil": "zones",
    "pytz": "zones",
    "llama_index": "llama",
}
"""Optional library -> module of this folder that keeps its values.

Encoding loads one when it meets a value of that library, decoding when it meets a tag
with the library's name in front (``numpy.array``)."""

CLASSES_REMEMBERED = 2000
"""Bound on remembered classes, so that cells run again do not hold their old classes for ever."""

WHY_NOT: tuple[tuple[str, tuple[type, ...]], ...] = (
    (
        "code cannot be written down",
        (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.CodeType),
    ),
    (
        "what is under way cannot be written down",
        (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, types.FrameType),
    ),
    ("a module cannot be written down", (types.ModuleType,)),
)


def refusal(cls: type) -> EncodeFn:
    """An encoder that says why instances of a class cannot be kept."""
    reason = next((reason for reason, kinds in WHY_NOT if issubclass(cls, kinds)), None)
    if reason is None and callable(getattr(cls, "fileno", None)):
        reason = "an open file or connection cannot be written down"
    if reason is None:
        bases = (int, float, str, bytes, list, dict, set, tuple)
        base = next((base for base in bases if issubclass(cls, base)), None)
        reason = "no way to keep its state is known"
        if base is not None:
            reason = f"it is no plain {base.__name__}, and no way to keep its kind is known"

    def refuse(enc: Any, value: Any) -> Node:
        return enc.refuse(value, reason)

    return refuse


class Dispatch:
    """The tables of all kinds of values; optional libraries join when they are met."""

    def __init__(self) -> None:
        self.exact: dict[type, EncodeFn] = {**plain.ENCODERS, **containers.ENCODERS, **llama.ENCODERS}
        self.class_nodes: dict[type, Node] = {}
        self._base = dict(self.exact)
        self._refused: set[type] = set()
        self._loaded: dict[str, Any] = {}
        self._decoders: dict[str, DecodeFn] = {
            **plain.DECODERS,
            **containers.DECODERS,
            **objects.DECODERS,
            **models.DECODERS,
            **exceptions.DECODERS,
            **typeforms.DECODERS,
        }

    def encoder(self, cls: type) -> EncodeFn:
        """The function that encodes instances of exactly this class; one that refuses where there is none."""
        known = self.exact.get(cls)
        if known is not None:
            return known
        if len(self.exact) > CLASSES_REMEMBERED:
            self.exact.clear()
            self.exact.update(self._base)
            self.class_nodes.clear()
            self._refused.clear()
        found = self._search(cls)
        if found is None:
            self._refused.add(cls)
            found = refusal(cls)
        self.exact[cls] = found
        return found

    def decoder(self, tag: str) -> DecodeFn:
        """The function that decodes nodes with this tag.

        Raises:
            DamagedError: the tag is unknown.
            MissingClassError: its library is not installed.
        """
        known = self._decoders.get(tag)
        if known is None:
            library = tag.partition(".")[0] if type(tag) is str else ""
            if library not in LIBRARIES:
                raise DamagedError(f"a recorded value is of an unknown kind ({str(tag)[:40]!r})")
            self._load(library, tag)
            known = self._decoders.get(tag)
            if known is None:
                raise DamagedError(f"a recorded value is of an unknown kind ({tag[:40]!r})")
        return known

    def keeps(self, cls: type) -> bool:
        """Whether instances of the class are kept, so that its name may be asked for."""
        self.encoder(cls)
        return cls not in self._refused or cls is object

    def _search(self, cls: type) -> EncodeFn | None:
        for base in cls.__mro__:
            library = base.__module__.partition(".")[0] if type(base.__module__) is str else ""
            if library in LIBRARIES:
                found = self._load(library, base.__qualname__).encoder_for(cls)
                if found is not None:
                    return found  # type: ignore[no-any-return]  # modules of this folder agree on the type
        finders: tuple[Callable[[type], EncodeFn | None], ...] = (
            typeforms.encoder_for,
            models.encoder_for,
            exceptions.encoder_for,
            objects.encoder_for,
        )
        return next((found for find in finders if (found := find(cls)) is not None), None)

    def _load(self, library: str, what: str) -> Any:
        name = LIBRARIES[library]
        if name not in self._loaded:
            try:
                module = importlib.import_module(f"{__package__}.{name}")
            except ImportError as error:
                raise MissingClassError(library, what.removeprefix(f"{library}.")) from error
            self._loaded[name] = module
            self._decoders.update(module.DECODERS)
        return self._loaded[name]
