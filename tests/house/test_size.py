"""Files and functions stay small enough to be read in one go."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.house.source import lines, name_of, python_files, tree

FILE_LINES = 450
FUNCTION_LINES = 60

# Exceptions, each with its reason; one that is no longer needed fails too.
LONG_FILES: dict[str, str] = {}
LONG_FUNCTIONS: dict[str, str] = {}


def long_files() -> dict[str, int]:
    """Return the files that are too long, with their lines."""
    sizes = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in python_files()}
    return {name: size for name, size in sizes.items() if size >= FILE_LINES}


def functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield each function with its dotted name, nested ones too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{prefix}.{child.name}"
            if not isinstance(child, ast.ClassDef):
                yield name, child
            yield from functions(child, name)
        else:
            yield from functions(child, prefix)


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count a function's lines from ``def`` to its end; its docstring is not counted."""
    first = function.body[0]
    has_text = ast.get_docstring(function, clean=False) is not None
    text = (first.end_lineno or 0) - first.lineno + 1 if has_text else 0
    return (function.end_lineno or 0) - function.lineno + 1 - text


def long_functions(paths: list[Path]) -> dict[str, int]:
    """Return the functions that are too long, with their lines."""
    found = ((name, length(node)) for path in paths for name, node in functions(tree(path), name_of(path)))
    return {name: size for name, size in found if size >= FUNCTION_LINES}


def test_files_are_short() -> None:
    """A file has under 450 lines, or stands in the list with its reason."""
    found = long_files()
    faults = [f"{name}: {size} lines" for name, size in found.items() if name not in LONG_FILES]
    assert not faults, lines(faults)
    assert LONG_FILES.keys() - found.keys() == set()


def test_functions_are_short() -> None:
    """A function has under 60 lines beside its docstring, or stands in the list with its reason."""
    found = long_functions(python_files())
    faults = [f"{name}: {size} lines" for name, size in found.items() if name not in LONG_FUNCTIONS]
    assert not faults, lines(faults)
    assert LONG_FUNCTIONS.keys() - found.keys() == set()


def test_a_docstring_does_not_count_as_length() -> None:
    """A function may explain itself at length."""
    source = ast.parse('def f():\n    """One.\n\n    Two.\n    """\n    return 1\n')
    ((name, node),) = functions(source, "file")
    assert (name, length(node)) == ("file.f", 2)
