"""What a step's code is made of, as a graph: pieces of code, and which name in one means which other."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .documents import ASKED
from .values import digest_of

VALUES = frozenset({"docstring", "constant", "closure", "default", "class attribute", "attribute", "partial"})
_CALLED = frozenset({"helper", "method", "decorator", "wrapper"})


@dataclass(eq=False)
class Node:
    """A piece of code, or a value.

    Args:
        kind: a word of the titles, such as ``helper``.
        name: what code calls it.
        module: where it is defined.
        text: what it says, without what its names mean.
        edges: names in it, and what they mean.
        opaque: what is in it that counts by type only: a path, and the type's name.
        mutable: name of the type of a value that can be changed in place, or that code rebinds.
        key: of a value, where it is bound.
        docs: docstrings and annotations in it, which count where code reads them.
        reads: what it does with docstrings: ``TOLD``, ``ASKED``.
    """

    kind: str
    name: str
    module: str = ""
    text: list[str] = field(default_factory=list)
    edges: list[tuple[str, Node]] = field(default_factory=list)
    opaque: list[tuple[str, str]] = field(default_factory=list)
    mutable: str = ""
    key: Any = None
    docs: list[str] = field(default_factory=list)
    reads: set[str] = field(default_factory=set)

    def title(self, name: str) -> str:
        """Readable name.

        Args:
            name: what it is called where it was met; a lambda has no better one.
        """
        if self.kind in _CALLED:
            return f"{self.kind} {name if self.name == '<lambda>' else self.name}()"
        if self.mutable:
            return f"{'global' if self.kind == 'constant' else self.kind} {self.name} ({self.mutable})"
        return f"{self.kind} {self.name}"


Edge = tuple[str, Node]


@dataclass
class _Labels:
    """Titles of nodes in the order in which they are met; each title once."""

    titles: dict[Node, str]
    taken: set[str]
    numbered: set[Node]

    def give(self, node: Node, wish: str) -> None:
        title = wish
        if title in self.taken and node.module:
            title = f"{wish} in {node.module}"
        number = 2
        while title in self.taken:
            title = f"{wish} {number}"
            number += 1
        if title != wish:
            self.numbered.add(node)
        self.titles[node] = title
        self.taken.add(title)


def parts_of(roots: Iterable[Edge], given: Mapping[Node, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Digests of all that is reached, by readable name, and what counts by type only.

    Titles are given in the order of reading, so that equal graphs have equal parts. Where a name
    means something that is called otherwise, that is a part of its own: ``name clean``.

    Args:
        roots: where to start.
        given: titles that are known beforehand.
    """
    labels = _Labels(dict(given), set(given.values()), set())
    left: deque[Node] = deque()
    met: set[Node] = set()

    def meet(name: str, node: Node) -> None:
        if node not in met:
            met.add(node)
            left.append(node)
            if node not in labels.titles:
                labels.give(node, node.title(_last(name)))

    for name, node in roots:
        meet(name, node)
    order: list[Node] = []
    while left:
        node = left.popleft()
        order.append(node)
        for name, target in node.edges:
            meet(name, target)
    parts = {labels.titles[node]: digest_of(*node.text) for node in order if node.kind != "opaque"}
    for node in order:
        _add_names(parts, node, labels)
    _add_docstrings(parts, order, labels, given)
    seen = dict.fromkeys(f"{path} ({kind})" for node in order for path, kind in node.opaque)
    for said in seen:
        parts[f"opaque: {said}"] = digest_of(said)
    return parts, tuple(seen)


def _add_names(parts: dict[str, str], node: Node, labels: _Labels) -> None:
    for name, target in node.edges:
        if target.kind in VALUES or target.kind in ("package", "opaque"):
            plain = target not in labels.numbered
        else:
            plain = target not in labels.numbered and (
                _last(name) == target.name or target.name == "<lambda>"
            )
        if plain:
            continue
        meaning = digest_of(labels.titles[target])
        title = f"name {name}"
        if parts.setdefault(title, meaning) != meaning:
            parts[f"{title} in {labels.titles[node]}"] = meaning


def _add_docstrings(
    parts: dict[str, str], order: list[Node], labels: _Labels, given: Mapping[Node, str]
) -> None:
    """Add what the code's docstrings say, where some of the code reads them.

    Steps and events are no tools: theirs count only where any may be meant.
    """
    reads = {what for node in order for what in node.reads}
    for node in order if reads else ():
        if node.docs and (ASKED in reads or (node not in given and node.kind != "event")):
            parts[f"docstring of {labels.titles[node]}"] = digest_of(*node.docs)


def _last(name: str) -> str:
    return name.rpartition(".")[2]
