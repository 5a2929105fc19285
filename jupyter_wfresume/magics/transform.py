"""The rewriting that makes IPython await ``%%wfrun`` and ``%wfresume``.

IPython calls a magic and never awaits what it returns. An ``await`` in front of the generated call
makes the whole cell a coroutine on the kernel's own loop, where the kernel's interrupt reaches it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from types import FrameType

from IPython.core.interactiveshell import InteractiveShell

WRAPPERS = frozenset({"time", "timeit", "capture", "prun"})
"""IPython's cell magics that run their body as code, which cannot hold an awaited magic."""

RUN, RESUME, REFUSE = "run_cell_awaited", "resume_awaited", "refuse"
"""Methods of the magics' class that rewritten calls go to."""


class AwaitedMagics:
    """An input transformer for ``shell.input_transformers_post``.

    Args:
        shell: the shell that it is registered with.
        owner: name under which the magics' object is in ``shell.magics_manager.registry``.
    """

    def __init__(self, shell: InteractiveShell, owner: str) -> None:
        self.shell = shell
        self.owner = owner

    def __call__(self, lines: list[str]) -> list[str]:
        """Return the lines of a transformed cell with our calls awaited."""
        text = "".join(lines)
        if "wfrun" not in text and "wfresume" not in text:
            return lines
        if not self.shell.autoawait or _inside_a_cell():
            return lines
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            return lines
        cell = _sole_cell_magic(tree)
        if cell is not None:
            return self._cell(cell, lines)
        return self._lines(tree, text)

    def _cell(self, call: tuple[str, str, str], lines: list[str]) -> list[str]:
        name, line, body = call
        if name == "wfrun":
            return [f"await {self._target(RUN)}({line!r}, {body!r})\n"]
        if _wraps_ours(name, body):
            return [f"{self._target(REFUSE)}({name!r})\n"]
        return lines

    def _lines(self, tree: ast.Module, text: str) -> list[str]:
        rows = [row.encode() for row in text.split("\n")]
        for statement in reversed(list(_top_level(tree.body))):
            line = _resume_line(statement)
            if line is None or statement.end_lineno != statement.lineno:
                continue
            row = rows[statement.lineno - 1]
            call = f"await {self._target(RESUME)}({line!r})".encode()
            rows[statement.lineno - 1] = row[: statement.col_offset] + call + row[statement.end_col_offset :]
        return "\n".join(row.decode() for row in rows).splitlines(keepends=True)

    def _target(self, method: str) -> str:
        return f"get_ipython().magics_manager.registry[{self.owner!r}].{method}"


def magic_line(source: str) -> int:
    """Return which line of a cell as the user sees it holds its ``%%`` line, counted from 1."""
    for number, row in enumerate(source.splitlines(), start=1):
        if row.strip():
            return number
    return 1


def _inside_a_cell() -> bool:
    """Whether a cell is being executed on this stack: then this text is a part of it, such as a body."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code is InteractiveShell.run_code.__code__:
            return True
        frame = frame.f_back
    return False


def _sole_cell_magic(tree: ast.Module) -> tuple[str, str, str] | None:
    """Return name, line and body where the cell is one generated ``run_cell_magic`` call."""
    if len(tree.body) != 1:
        return None
    words = _generated_call(tree.body[0], "run_cell_magic")
    return (words[0], words[1], words[2]) if words is not None and len(words) == 3 else None


def _resume_line(statement: ast.stmt) -> str | None:
    words = _generated_call(statement, "run_line_magic")
    return words[1] if words is not None and len(words) == 2 and words[0] == "wfresume" else None


def _generated_call(statement: ast.stmt, method: str) -> list[str] | None:
    """Return the words of a statement ``get_ipython().method('…', …)``, or None."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return None
    call = statement.value
    if call.keywords or ast.unparse(call.func) != f"get_ipython().{method}":
        return None
    words = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
    strings = [word for word in words if isinstance(word, str)]
    return strings if len(strings) == len(call.args) else None


def _top_level(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that run in the cell itself, those in its loops and branches included."""
    for statement in statements:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        yield statement
        for part in ("body", "orelse", "finalbody"):
            yield from _top_level(getattr(statement, part, []))
        for branch in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
            yield from _top_level(branch.body)


def _wraps_ours(name: str, body: str) -> bool:
    """Whether a wrapper's body begins with ``%%wfrun``, below further wrappers or not."""
    while name in WRAPPERS:
        first, _, rest = body.lstrip().partition("\n")
        inner = first.split(None, 1)[0] if first.startswith("%%") else ""
        if inner == "%%wfrun":
            return True
        name, body = inner.removeprefix("%%"), rest
    return False
