"""A run's life in this process, and runs from outside a cell."""

from __future__ import annotations

from .answers import answer_in, question_of
from .runs import Run, list_runs, open_run, open_store, store_path
from .said import read_field
from .session import Session
from .written import literal

__all__ = [
    "Run",
    "Session",
    "answer_in",
    "list_runs",
    "literal",
    "open_run",
    "open_store",
    "question_of",
    "read_field",
    "store_path",
]
