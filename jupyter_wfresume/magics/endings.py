"""How a cell that did not get its result is shown: the user's frames, then one sentence."""

from __future__ import annotations

import bdb
import builtins
import sys
import traceback
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

from IPython.core.error import UsageError as ShellUsageError

MACHINERY = ("jupyter_wfresume", "workflows", "llama_index_instrumentation", "asyncio", "concurrent.futures")
"""Packages whose frames tell a user nothing about their own code."""

# Shells are Any here: much of what IPython offers has no types, and which part differs by version.

_LEFT_TO_IPYTHON = (ShellUsageError, SystemExit, bdb.BdbQuit)
_GROUPS: Any = getattr(builtins, "BaseExceptionGroup", ())  # Python 3.10 has none
_SHOW = "showtraceback"


def show_next(shell: Any, error: BaseException, sentence: str | None = None) -> None:
    """Have the shell show ``error``, which is about to reach it, in our way.

    The shell shows what a cell raises through one method. That method is replaced for its next
    call alone, so that the exception itself stays as the user raised it.

    Args:
        shell: the shell that runs the cell.
        error: the exception that the cell ends with.
        sentence: shown below the user's traceback, or None.
    """
    if isinstance(error, _LEFT_TO_IPYTHON):
        return
    before = vars(shell).get(_SHOW)

    def show(*args: Any, **kwargs: Any) -> None:
        if before is None:
            vars(shell).pop(_SHOW, None)
        else:
            vars(shell)[_SHOW] = before
        if args or sys.exc_info()[1] is not error:
            shell.showtraceback(*args, **kwargs)
        else:
            _show(shell, error, sentence)

    vars(shell)[_SHOW] = show


def trim(error: BaseException) -> bool:
    """Take the machinery's frames out of an exception's traceback, and of those behind it.

    Where only machinery is left, the innermost frame stays.

    Returns:
        Whether any of the user's frames are in the traceback.
    """
    own = bool(_own(error.__traceback__))
    for each in _chain(error):
        if each.__traceback__ is not None:
            each.__traceback__ = _trimmed(each.__traceback__)
    return own


def _show(shell: Any, error: BaseException, sentence: str | None) -> None:
    own = trim(error)
    shell._get_exc_info((type(error), error, error.__traceback__))  # keeps it for %debug and %tb
    if isinstance(error, SyntaxError):
        _show_syntax(shell, error, own)
        return
    render = getattr(error, "_render_traceback_", None)  # as our own errors have it: they are a sentence
    lines = list(render()) if render is not None else _traceback_lines(shell, error)
    if render is None and sentence:
        lines += ["", sentence]
    shell._showtraceback(type(error), error, lines)
    if shell.call_pdb:
        shell.debugger(force=True)


def _show_syntax(shell: Any, error: SyntaxError, running: bool) -> None:
    """Show a body that does not parse, or code that a running body tried to compile."""
    if isinstance(error, IndentationError) and not running:
        shell.showindentationerror()
    else:
        shell.showsyntaxerror(running_compiled_code=running)


def _traceback_lines(shell: Any, error: BaseException) -> list[str]:
    kind, where = type(error), error.__traceback__
    if any(isinstance(each, _GROUPS) for each in _chain(error)):
        return "".join(traceback.format_exception(kind, error, where)).splitlines()
    lines = shell.InteractiveTB.structured_traceback(kind, error, where, tb_offset=0)
    return [str(line) for line in lines]


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception, the members of a group, and all that they were raised from or during."""
    pending, seen = [error], set[int]()
    while pending:
        each = pending.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        pending += [other for other in (each.__cause__, each.__context__) if other is not None]
        pending += getattr(each, "exceptions", ()) if isinstance(each, _GROUPS) else ()


def _own(where: TracebackType | None) -> list[TracebackType]:
    """Return the entries below the magic's own frames that are no machinery."""
    entries = list(_entries(where))
    first = next((i for i, entry in enumerate(entries) if _is_ours(entry.tb_frame)), -1)
    return [entry for entry in entries[first + 1 :] if not _is_machinery(entry.tb_frame)]


def _trimmed(where: TracebackType) -> TracebackType:
    rebuilt: TracebackType | None = None
    for entry in reversed(_own(where) or list(_entries(where))[-1:]):
        rebuilt = TracebackType(rebuilt, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return rebuilt or where


def _entries(where: TracebackType | None) -> Iterator[TracebackType]:
    while where is not None:
        yield where
        where = where.tb_next


def _is_ours(frame: FrameType) -> bool:
    """Whether a frame is the magic's: all above it is the shell's."""
    return str(frame.f_globals.get("__name__", "")).startswith("jupyter_wfresume.magics.")


def _is_machinery(frame: FrameType) -> bool:
    name = str(frame.f_globals.get("__name__", ""))
    return any(name == package or name.startswith(f"{package}.") for package in MACHINERY)
