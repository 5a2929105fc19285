"""A failure as the board and the header show it: the user's part first."""

from __future__ import annotations

import builtins
import traceback
from collections.abc import Callable
from typing import Any

from ..records import ErrorView
from ..runtime import Flight

_MACHINERY = ("workflows", "llama_index_instrumentation", "jupyter_wfresume", "asyncio", "concurrent")


def error_view(error: BaseException, flight: Flight | None) -> ErrorView:
    """What is shown of a failure.

    Args:
        error: the exception that ended the run.
        flight: the execution that raised it, or None where no step did.
    """
    lines = [f for f in traceback.extract_tb(error.__traceback__) if _is_users(f.filename)]
    where = ""
    if lines:
        last = lines[-1]
        where = f"{_place(last.filename)}, line {last.lineno}: {last.line}"
    return ErrorView(
        step="" if flight is None else flight.step,
        index=0 if flight is None else flight.index,
        summary=f"{type(error).__name__}: {_text(str, error)}"[:500],
        where=where,
        input="" if flight is None else _text(repr, flight.event)[:2000],
        traceback="".join(traceback.format_list(lines))[:8000],
    )


def _text(make: Callable[[Any], str], value: Any) -> str:
    try:
        return make(value)
    except Exception as error:  # noqa: BLE001  # the user's own text of a value may raise anything
        return f"<{type(value).__name__}, whose {make.__name__}() raises {type(error).__name__}>"


def _place(filename: str) -> str:
    """Name a file as a traceback does: a cell's by its number, although it has a file's name too."""
    # Asked without IPython, which a script need not have loaded.
    shell = getattr(builtins, "get_ipython", lambda: None)()
    named = None if shell is None else shell.compile.format_code_name(filename)
    return filename if named is None else " ".join(named)


def _is_users(filename: str) -> bool:
    parts = filename.replace("\\", "/").split("/")
    return not any(part in _MACHINERY for part in parts[:-1])
