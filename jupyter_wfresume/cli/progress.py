"""What the runs of a notebook do meanwhile, in lines for a terminal; read from the store."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import WfresumeError
from ..session import Run, list_runs, open_store, store_path
from ..session.runs import store_hint
from ..session.words import counted
from ..store import Store
from ..typed import command

_TOLD = re.compile(r"^.+: (?:resumes run|new run|recorded result of run) [0-9a-f]{4}\b.*$", re.MULTILINE)
"""The line that a cell tells before work starts."""


class CellRuns:
    """The runs of one cell of a notebook that is executed.

    Args:
        notebook: the notebook, by which its runs are known.
        cell: the cell.
        store: the store's folder that the kernel was given, or None for its default.
    """

    def __init__(self, notebook: Path, cell: Any, store: str | None) -> None:
        self._notebook = notebook
        self._cell = cell
        typed = _store_in(str(cell.source))
        self._folder = notebook.parent / store_path(typed or store)
        self._named = typed or store or ""
        self._told = 0
        self._began = time.time()
        self._store: Store | None = None
        self._said: dict[str, str] = {}

    def lines(self) -> list[str]:
        """What is new: what the cell has told, and how far its runs are."""
        told = _TOLD.findall(_printed(self._cell))
        new, self._told = told[self._told :], len(told)
        for run in self._runs():
            said = f"{run.name} {counted(run.header.steps)}"
            if run.status in ("running", "waiting", "stuck") and run.is_driven and run.header.steps:
                if self._said.get(run.id) != said:
                    new.append(said)
                self._said[run.id] = said
        return new

    def how_to_answer(self) -> str:
        """How a question is answered that the cell ended with, and how it goes on then; else empty."""
        for run in self._runs():
            if run.status == "waiting" and run.questions:
                one = run.questions[0]
                number = f"[{one.index}]" if len(run.questions) > 1 else ""
                magic = command("%wfanswer", f"{run.id[:8]}{number}", "VALUE", store=self._named)
                python = f'open_run("{run.id[:8]}"{self._in_python()}).answer(VALUE'
                python += f", question={one.index})" if number else ")"
                where = f"{magic} in a notebook, or {python} in Python"
                return f"answer with {where}, then run the same line again"
        return ""

    def _in_python(self) -> str:
        hint = store_hint(self._folder)
        return f', store="{Path(hint).as_posix()}"' if hint else ""

    def _runs(self) -> list[Run]:
        """The notebook's runs that have changed since this cell began, newest first."""
        try:
            if self._store is None and self._folder.exists():
                self._store = open_store(str(self._folder), create=False)
            found = [] if self._store is None else list_runs(self._store)
        except WfresumeError:
            return []  # the kernel meets the same fault, and its cell tells it
        own = [run for run in found if run.header.notebook == str(self._notebook)]
        return [run for run in own if run.header.updated >= self._began]

    def close(self) -> None:
        """Close the store."""
        if self._store is not None:
            self._store.close()
            self._store = None


def _printed(cell: Any) -> str:
    streams = [one for one in cell.get("outputs", ()) if one.get("output_type") == "stream"]
    return "".join(str(one.get("text", "")) for one in streams)


def _store_in(source: str) -> str | None:
    """The store that a cell's first line names, or None."""
    first = source.lstrip().partition("\n")[0]
    if not first.startswith("%%wfrun"):
        return None
    try:
        words: Sequence[str] = shlex.split(first)
    except ValueError:
        return None  # the cell's own refusal of its line is shown
    for place, word in enumerate(words):
        flag, equals, value = word.partition("=")
        if flag == "--store":
            return value if equals else next(iter(words[place + 1 :]), None)
    return None
