"""One encoding and one decoding: what every kind of value is handed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NoReturn, Protocol

from ..errors import CannotKeepError, DamagedError
from .blobs import LARGE_BYTES, Blobs, Memo
from .classes import ClassFinder, FindClass, class_ref, is_model, resolve

Node = Any
"""What ``json.dumps`` takes: None, bool, int, float, str, list, dict."""

TAG = "~"
"""Key that tells a tagged node from a plain dict with str keys."""

MAX_DEPTH = 100
"""Containers inside each other; deeper values are refused, because a
deeper stack may have to read them back."""

EncodeFn = Callable[["Encoder", Any], Node]
DecodeFn = Callable[["Decoder", dict[str, Any]], Any]


class Dispatch(Protocol):
    """Finds the pair of functions that keeps a kind of value."""

    exact: dict[type, EncodeFn]
    class_nodes: dict[type, Node]

    def encoder(self, cls: type) -> EncodeFn:
        """The function that encodes instances of exactly this class."""
        ...

    def decoder(self, tag: str) -> DecodeFn:
        """The function that decodes nodes with this tag."""
        ...

    def keeps(self, cls: type) -> bool:
        """Whether instances of the class are kept, so that its name may be asked for."""
        ...


MOST_STEPS = 12
"""A path of more steps is cut in its middle, so that a sentence around it can be read."""


class Refused(Exception):
    """A value cannot be kept; containers add the way to it as they unwind."""

    def __init__(self, cls: type, reason: str) -> None:
        self.cls = cls
        self.reason = reason
        self.steps: list[str] = []
        super().__init__(reason)

    def at(self, step: str) -> None:
        """Prefix the path with a step such as ``.field`` or ``[3]``."""
        self.steps.append(step)

    def error(self) -> CannotKeepError:
        """The user's error."""
        steps = self.steps[::-1]
        if len(steps) > MOST_STEPS:
            steps = [*steps[: MOST_STEPS - 3], "…", *steps[-2:]]
        path = "".join(steps)
        return CannotKeepError(path, type_name(self.cls), self.reason)


def type_name(cls: type) -> str:
    """Qualified name for people: ``builtins`` and ``__main__`` are left out."""
    if cls.__module__ in ("builtins", "__main__"):
        return cls.__qualname__
    return f"{cls.__module__}.{cls.__qualname__}"


def dumps(node: Node, sort_keys: bool = False) -> str:
    """The one JSON form of a node."""
    return json.dumps(node, separators=(",", ":"), allow_nan=False, sort_keys=sort_keys)


class Encoder:
    """One encoding under way.

    Args:
        dispatch: kinds of values.
        blobs: takes large values.
        memo: digests of large values already there.
        find_class: what decoding will be given, to refuse a class local to a
            function that it could not find.
        canonical: leave out what does not count for equality (memory layout,
            what is cached), for digests.
        dict_order: whether the order of a dict's keys counts in canonical nodes.
    """

    __slots__ = (
        "active", "blobs", "canonical", "chain", "dict_order", "dispatch", "exact", "find_class", "memo",
        "size",
    )  # fmt: skip

    def __init__(
        self,
        dispatch: Dispatch,
        blobs: Blobs,
        memo: Memo,
        find_class: FindClass | None = None,
        canonical: bool = False,
        dict_order: bool = True,
    ) -> None:
        self.dispatch = dispatch
        self.exact = dispatch.exact
        self.blobs = blobs
        self.memo = memo
        self.find_class = find_class
        self.canonical = canonical
        self.dict_order = dict_order
        self.active: set[int] = set()
        self.chain: list[int] = []
        self.size = 0

    def node(self, value: Any) -> Node:
        """Encode one value of any kind."""
        encode = self.exact.get(type(value))
        if encode is None:
            encode = self.dispatch.encoder(type(value))
        return encode(self, value)

    def enter(self, value: Any) -> int:
        """Open a container; returns the size so far, which ``leave`` takes.

        Raises:
            Refused: the container is inside itself, or too deep.
        """
        active = self.active
        if id(value) in active:
            raise Refused(type(value), "it contains itself")
        if len(active) >= MAX_DEPTH:
            raise Refused(type(value), "it is nested too deeply")
        active.add(id(value))
        return self.size

    def leave(self, value: Any, before: int, node: Node) -> Node:
        """Close a container; a large one that is not the root becomes a blob."""
        self.active.discard(id(value))
        self.size += 12
        if self.size - before >= LARGE_BYTES and self.active:
            self.size = before + 60
            return {TAG: "J", "h": self.blobs.put(dumps(node, self.canonical).encode())}
        return node

    def refuse(self, value: Any, reason: str) -> NoReturn:
        """Refuse a value.

        Raises:
            Refused: always.
        """
        raise Refused(type(value), reason)

    def class_node(self, cls: type) -> Node:
        """The name of a class, as ``Decoder.find`` takes it.

        Raises:
            Refused: nothing could find the class by that name.
        """
        known = self.dispatch.class_nodes.get(cls)
        if known is not None:
            return known
        generic = getattr(cls, "__pydantic_generic_metadata__", None)
        if generic and generic["origin"] is not None:
            args = [self.node(arg) for arg in generic["args"]]
            return {"o": self.class_node(generic["origin"]), "a": args}
        ref = class_ref(cls)
        module, _, qualname = ref.partition(":")
        if isinstance(resolve(module, qualname), type):
            self.dispatch.class_nodes[cls] = ref
        elif not self.canonical and not self._can_find(module, qualname):
            raise Refused(cls, "its class cannot be found by its name; define it outside of functions")
        return ref

    def _can_find(self, module: str, qualname: str) -> bool:
        if self.find_class is None:
            return "<locals>" in qualname
        return self.find_class(module, qualname) is not None

    def item(self, value: Any, step: str) -> Node:
        """Encode a part, and name the way to it where it is refused."""
        try:
            return self.node(value)
        except Refused as refused:
            refused.at(step)
            raise

    def buffer(self, data: bytes) -> Node:
        """Node of raw bytes, a blob where they are many; ``Decoder.buffer`` reads it."""
        return self.node(data)


class Decoder:
    """One decoding under way.

    Args:
        dispatch: kinds of values.
        blobs: holds large values.
        memo: large values already read.
        find_class: asked first for a class.
    """

    __slots__ = ("blobs", "chain", "classes", "dispatch", "memo", "migration", "note")

    def __init__(
        self, dispatch: Dispatch, blobs: Blobs, memo: Memo, find_class: FindClass | None = None
    ) -> None:
        self.dispatch = dispatch
        self.blobs = blobs
        self.memo = memo
        self.classes = ClassFinder(find_class)
        self.migration: Callable[[str, str], Any] | None = getattr(find_class, "migration", None)
        self.note: Callable[[str, Any], None] | None = getattr(find_class, "note", None)
        self.chain: list[BaseException] = []

    def value(self, node: Node) -> Any:
        """Decode one node of any kind."""
        kind = type(node)
        if kind is dict:
            tag = node.get(TAG)
            if tag is None and TAG not in node:
                value = self.value
                return {key: value(item) for key, item in node.items()}
            return self.dispatch.decoder(tag)(self, node)
        if kind is list:
            return [self.value(item) for item in node]
        return node

    def values(self, node: Node) -> list[Any]:
        """Decode a list of nodes."""
        if type(node) is not list:
            raise DamagedError("a recorded value is malformed: a list is missing")
        return [self.value(item) for item in node]

    def table(self, node: Node) -> dict[str, Any]:
        """Decode a dict of names to nodes, whatever its keys are."""
        if type(node) is not dict:
            raise DamagedError("a recorded value is malformed: a table is missing")
        value = self.value
        return {key: value(item) for key, item in node.items()}

    def find(self, ref: Node, is_kind: Callable[[type], bool]) -> Any:
        """The class that ``Encoder.class_node`` named, if it is of the kind.

        Raises:
            MissingClassError: there is no such class here.
            DamagedError: the name means something else than such a class.
        """
        if type(ref) is not dict:
            return self.classes.find(ref, is_kind)
        origin = self.classes.find(ref["o"], is_model)
        cls = origin[tuple(self.values(ref["a"]))]
        if not isinstance(cls, type) or not is_kind(cls):
            raise DamagedError(f"a recorded value names {ref['o']}, which is no class of the recorded kind")
        return cls

    def buffer(self, node: Node) -> bytes:
        """Read what ``Encoder.buffer`` wrote."""
        data = self.value(node)
        if type(data) is not bytes:
            raise DamagedError("a recorded value is malformed: bytes are missing")
        return data
