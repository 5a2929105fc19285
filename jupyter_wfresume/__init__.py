"""Durable llama-index workflows in notebooks: run, and run again."""

from __future__ import annotations

from typing import Any

from .durable import durable, open_run, runs
from .effects import effect, idempotency_key
from .migrations import migrate

__all__ = [
    "durable",
    "effect",
    "idempotency_key",
    "load_ipython_extension",
    "migrate",
    "open_run",
    "runs",
    "unload_ipython_extension",
]


def load_ipython_extension(shell: Any) -> None:
    """Answer ``%load_ext jupyter_wfresume``."""
    from .magics import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Answer ``%unload_ext jupyter_wfresume``."""
    from .magics import unload

    unload(shell)
