"""A run's life in this process, and runs from outside a cell."""

from __future__ import annotations

from .runs import Run, list_runs, open_run, open_store, store_path
from .session import Session

__all__ = ["Run", "Session", "list_runs", "open_run", "open_store", "store_path"]
