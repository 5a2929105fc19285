"""The rewriting that makes IPython await ``%%wfrun``, ``%wfresume`` and ``%wfreplay``.

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

CELLS = {"wfrun": "run_cell_awaited", "wfreplay": "replay_cell_awaited"}
"""By cell magic, the method of the magics' class that the rewritten call goes to."""

LINES = {"wfresume": "resume_awaited", "wfreplay": "replay_awaited"}
"""The same for line magics."""

SEEN = frozenset({"wfreplay", "wfshow"})
"""Line magics whose value is to be seen, also where it is not the last of its cell."""

REFUSE, SHOW = "refuse", "show_in_passing"
"""Methods of the magics' class for what cannot be awaited, and for a value in the midst of a cell."""


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
        if not any(name in text for name in (*CELLS, *LINES, *SEEN)):
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
        if name in CELLS:
            return [f"await {self._target(CELLS[name])}({line!r}, {body!r})\n"]
        wrapped = _wrapped(name, body)
        if wrapped:
            return [f"{self._target(REFUSE)}({name!r}, {wrapped!r})\n"]
        return lines

    def _lines(self, tree: ast.Module, text: str) -> list[str]:
        rows = [row.encode() for row in text.split("\n")]
        for statement in reversed(list(_top_level(tree.body))):
            found = _line_magic(statement)
            if found is None or found[2].end_lineno != found[2].lineno:
                continue
            name, line, call = found
            row = rows[call.lineno - 1]
            new = row[call.col_offset : call.end_col_offset].decode()
            if name in LINES:
                new = f"await {self._target(LINES[name])}({line!r})"
            if name in SEEN and isinstance(statement, ast.Expr) and statement is not tree.body[-1]:
                new = f"{self._target(SHOW)}({new})"
            rows[call.lineno - 1] = row[: call.col_offset] + new.encode() + row[call.end_col_offset :]
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


def _line_magic(statement: ast.stmt) -> tuple[str, str, ast.expr] | None:
    """Return name, line and the generated call of a statement that is one of our line magics."""
    words = _generated_call(statement, "run_line_magic")
    if words is None or len(words) != 2 or not isinstance(statement, (ast.Expr, ast.Assign)):
        return None
    ours = SEEN if isinstance(statement, ast.Assign) else SEEN | LINES.keys()
    return (words[0], words[1], statement.value) if words[0] in ours else None


def _generated_call(statement: ast.stmt, method: str) -> list[str] | None:
    """Return the words of a statement ``get_ipython().method('…', …)``, assigned or not; or None."""
    if not isinstance(statement, (ast.Expr, ast.Assign)) or not isinstance(statement.value, ast.Call):
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


def _wrapped(name: str, body: str) -> str:
    """Return which of our cell magics a wrapper's body begins with, below further wrappers or not."""
    while name in WRAPPERS:
        first, _, rest = body.lstrip().partition("\n")
        inner = first.split(None, 1)[0] if first.startswith("%%") else ""
        name, body = inner.removeprefix("%%"), rest
        if name in CELLS:
            return name
    return ""
