"""The user's own lines of a traceback."""

from __future__ import annotations

import builtins
import sysconfig
import traceback
from collections.abc import Sequence

_MACHINERY = ("workflows", "llama_index_instrumentation", "jupyter_wfresume", "asyncio", "concurrent")
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def own_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The frames of an exception that are in the user's code, the innermost last.

    Args:
        error: the exception, with its traceback.
    """
    return [frame for frame in traceback.extract_tb(error.__traceback__) if _is_users(frame.filename)]


def own_place(frames: Sequence[traceback.FrameSummary]) -> traceback.FrameSummary | None:
    """The innermost frame that is in no library, else the innermost; None where there is none.

    Args:
        frames: of `own_frames`.
    """
    return next(
        (frame for frame in reversed(frames) if not _is_librarys(frame.filename)), [*frames, None][-1]
    )


def where(frame: traceback.FrameSummary) -> str:
    """A frame in one line: ``Cell In[3], line 7: raise ValueError(...)``.

    Args:
        frame: the frame.
    """
    return f"{_place(frame.filename)}, line {frame.lineno}: {frame.line}"


def trace(error: BaseException) -> list[str]:
    """The user's own frames of an exception, one line each, without those of libraries that they call.

    Args:
        error: the exception, with its traceback.
    """
    frames = own_frames(error)
    users = [frame for frame in frames if not _is_librarys(frame.filename)]
    return [where(frame) for frame in users or frames[-1:]]


def is_users_own(filename: str) -> bool:
    """Whether a file is the user's: no library's, and none of ours or the engine's."""
    return _is_users(filename) and not _is_librarys(filename)


def _place(filename: str) -> str:
    """Name a file as a traceback does: a cell's by its number, although it has a file's name too."""
    # Asked without IPython, which a script need not have loaded.
    shell = getattr(builtins, "get_ipython", lambda: None)()
    named = None if shell is None else shell.compile.format_code_name(filename)
    return filename if named is None else " ".join(named)


def _is_users(filename: str) -> bool:
    parts = filename.replace("\\", "/").split("/")
    return not any(part in _MACHINERY for part in parts[:-1])


def _is_librarys(filename: str) -> bool:
    return filename.startswith(_LIBRARIES)
