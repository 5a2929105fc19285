"""The user's own lines of a traceback."""

from __future__ import annotations

import builtins
import traceback

_MACHINERY = ("workflows", "llama_index_instrumentation", "jupyter_wfresume", "asyncio", "concurrent")


def own_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The frames of an exception that are in the user's code, the innermost last.

    Args:
        error: the exception, with its traceback.
    """
    return [frame for frame in traceback.extract_tb(error.__traceback__) if _is_users(frame.filename)]


def where(frame: traceback.FrameSummary) -> str:
    """A frame in one line: ``Cell In[3], line 7: raise ValueError(...)``.

    Args:
        frame: the frame.
    """
    return f"{_place(frame.filename)}, line {frame.lineno}: {frame.line}"


def _place(filename: str) -> str:
    """Name a file as a traceback does: a cell's by its number, although it has a file's name too."""
    # Asked without IPython, which a script need not have loaded.
    shell = getattr(builtins, "get_ipython", lambda: None)()
    named = None if shell is None else shell.compile.format_code_name(filename)
    return filename if named is None else " ".join(named)


def _is_users(filename: str) -> bool:
    parts = filename.replace("\\", "/").split("/")
    return not any(part in _MACHINERY for part in parts[:-1])
