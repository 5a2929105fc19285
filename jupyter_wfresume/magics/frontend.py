"""What stands in front of this shell: a person at a screen, widgets, or nobody."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from dataclasses import dataclass
from typing import Any

from IPython.core.interactiveshell import InteractiveShell


@dataclass(frozen=True)
class FrontEnd:
    """What a cell may count on.

    Args:
        kernel: whether output goes to a notebook, where HTML is shown, rather than to a terminal.
        headless: whether nobody can answer.
        widgets: whether ipywidgets can be shown.
        can_stop: whether a button's click is handled while a cell runs.
    """

    kernel: bool
    headless: bool
    widgets: bool
    can_stop: bool


def look(shell: InteractiveShell) -> FrontEnd:
    """Find out what stands in front of a shell, for the cell that is being executed."""
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return FrontEnd(kernel=False, headless=not _terminal(), widgets=False, can_stop=False)
    headless = not getattr(kernel, "_allow_stdin", False)
    widgets = hasattr(kernel, "comm_manager") and importlib.util.find_spec("ipywidgets") is not None
    return FrontEnd(kernel=True, headless=headless, widgets=widgets, can_stop=_comms_beside_cells(kernel))


def notebook(shell: InteractiveShell) -> str:
    """Return the notebook's path as far as the front end tells it, or an empty text."""
    names = ("__session__", "__vsc_ipynb_file__")  # Jupyter's server; VS Code
    return next((str(shell.user_ns[name]) for name in names if shell.user_ns.get(name)), "")


def _terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _comms_beside_cells(kernel: Any) -> bool:
    """Whether the kernel handles widget messages while a cell is being executed.

    ipykernel 7.4 passes them through ``dispatch_shell(..., concurrent=True)``; earlier versions put them
    behind the cell.
    """
    dispatch = getattr(kernel, "dispatch_shell", None)
    return dispatch is not None and "concurrent" in inspect.signature(dispatch).parameters
