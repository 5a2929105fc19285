"""Imports inside functions.

The module may not be loaded yet. It counts by its file in any case, so that a step's code is the
same before its first execution and after it.
"""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from .graph import Edge
from .reader import Import, read_module

if TYPE_CHECKING:
    from .walk import Walk


def import_edges(walk: Walk, each: Import, package: str) -> list[Edge]:
    """What an import means.

    Args:
        walk: holds the nodes of files.
        each: the import.
        package: of the module in which it stands, for its leading dots.
    """
    try:
        module = importlib.util.resolve_name("." * each.level + each.module, package or None)
    except ImportError:
        return []
    edges = _file(walk, module)
    for name in each.names:
        inside = f"{module}.{name}"
        if walk.owners.of_import(inside).file:
            edges += _file(walk, inside)
    return edges


def _file(walk: Walk, module: str) -> list[Edge]:
    origin = walk.owners.of_import(module)
    if not origin.user:
        return walk.package(origin)
    if not origin.file.endswith(".py"):
        return []
    node, fresh = walk.node(("file", origin.file), None, "module", module)
    if fresh:
        try:
            read = read_module(ast.parse(Path(origin.file).read_bytes()))
        except (OSError, SyntaxError, ValueError):
            return []
        node.text.append(read.text)
        package = module if Path(origin.file).name == "__init__.py" else module.rpartition(".")[0]
        for each in read.imports:
            node.edges += import_edges(walk, each, package)
    return [(module, node)]
