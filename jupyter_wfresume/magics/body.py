"""A magic's body as a cell of its own: compiled, run and displayed as IPython does it."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any

from IPython.core.displayhook import DisplayHook

from .transform import magic_line

# Shells are Any here: much of what IPython offers has no types, and which part differs by version.

Replace = Callable[[Any], Awaitable[Any]]
"""Given the value of an expression that is to be displayed, gives the value to display in its place."""


@dataclass(frozen=True)
class Cell:
    """A cell with one of our magics on top.

    Args:
        source: the whole cell as the user sees it.
        body: the text below the magic's line.
    """

    source: str
    body: str


@dataclass(frozen=True)
class Body:
    """A body that is ready to run.

    Args:
        statements: with, for each, whether its expressions are displayed.
        filename: under which tracebacks and `inspect` find its source.
        quiet: whether a ``;`` at its end keeps the last value from being displayed.
    """

    statements: tuple[tuple[ast.stmt, bool], ...]
    filename: str
    quiet: bool


def prepare(shell: Any, cell: Cell) -> Body:
    """Transform and parse a body; its line numbers are those of the whole cell.

    Args:
        shell: the shell whose transformers, compiler and settings apply.
        cell: the cell.

    Raises:
        SyntaxError: as a plain cell would.
        InputRejected: a transformer of the user's refuses the body.
    """
    above = magic_line(cell.source) + _blank_lines(cell.body)
    text = shell.transform_cell(cell.body)
    source = "\n" * above + text
    filename = shell.compile.cache(source, _number(shell), raw_code=cell.source)
    try:
        tree = shell.compile.ast_parse(source, filename=filename)
    except SyntaxError as error:
        raise error.with_traceback(None) from None  # the parser's frames are none of the user's
    tree = shell.transform_ast(tree)
    _show_magic_lines(filename, cell.source, above)
    hook: Any = DisplayHook
    statements = _displayed(tree.body, shell.ast_node_interactivity)
    quiet = bool(statements) and bool(hook.semicolon_at_end_of_expression(text))
    return Body(statements, filename, quiet)


async def execute(shell: Any, body: Body, replace: Replace) -> None:
    """Run a body in the user's namespace, statement by statement, in the caller's task.

    Args:
        shell: the shell.
        body: what to run.
        replace: see `Replace`.

    Raises:
        BaseException: whatever the body raises.
    """
    for statement, displayed in body.statements:
        if displayed and isinstance(statement, ast.Expr):
            expression = ast.Expression(statement.value)
            value = await replace(await _run(shell, _compile(shell, expression, body.filename, "eval")))
            if not body.quiet:
                shell.displayhook(value)
        elif displayed:
            await _run(shell, _compile(shell, ast.Interactive([statement]), body.filename, "single"))
        else:
            await _run(shell, _compile(shell, ast.Module([statement], []), body.filename, "exec"))


async def _run(shell: Any, code: CodeType) -> Any:
    value = eval(code, shell.user_global_ns, shell.user_ns)
    if code.co_flags & inspect.CO_COROUTINE:
        value = await value
    return value


def _compile(shell: Any, tree: ast.mod, filename: str, mode: str) -> CodeType:
    with shell.compile.extra_flags(ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if shell.autoawait else 0):
        try:
            code: CodeType = shell.compile(tree, filename, mode)
        except SyntaxError as error:
            raise error.with_traceback(None) from None  # as above
    return code


def _displayed(statements: list[ast.stmt], interactivity: str) -> tuple[tuple[ast.stmt, bool], ...]:
    """Pair each statement with whether it is displayed, after ``InteractiveShell.ast_node_interactivity``."""
    if interactivity == "last_expr_or_assign" and statements:
        name = _assigned_name(statements[-1])
        if name is not None:
            shown = ast.Expr(ast.Name(name, ast.Load()))
            statements = [*statements, ast.fix_missing_locations(ast.copy_location(shown, statements[-1]))]
    last = len(statements) - 1
    expression = bool(statements) and isinstance(statements[-1], ast.Expr)
    at_end = interactivity == "last" or (interactivity.startswith("last_expr") and expression)
    return tuple(
        (statement, interactivity == "all" or (position == last and at_end))
        for position, statement in enumerate(statements)
    )


def _assigned_name(statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
        target = statement.target
    else:
        return None
    return target.id if isinstance(target, ast.Name) else None


def _number(shell: Any) -> int:
    """Return n of ``In[n]`` for the cell that is being executed."""
    result = shell.displayhook.exec_result
    number = None if result is None else result.execution_count
    return int(shell.execution_count if number is None else number)


def _blank_lines(body: str) -> int:
    """Count the blank lines on top of a body, which IPython drops."""
    rows = body.split("\n")
    return next((position for position, row in enumerate(rows) if row.strip()), 0)


def _show_magic_lines(filename: str, source: str, above: int) -> None:
    """Put the user's own first lines back into the source that tracebacks show."""
    entry = linecache.cache.get(filename)
    if entry is None or len(entry) != 4:
        return
    size, changed, lines, name = entry
    own = [f"# {row}\n" if row.startswith("%") else f"{row}\n" for row in source.split("\n")[:above]]
    linecache.cache[filename] = (size, changed, own + lines[len(own) :], name)
