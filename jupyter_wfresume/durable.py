"""The Python face: what the magics do, for scripts, tests and plain cells."""

from __future__ import annotations

import builtins
import html
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from .board import RunRow, make_board, runs_html, runs_text
from .board.figures import progress
from .errors import UsageError
from .journal import cost_in_header
from .records import Cost, Options, QuestionView, RunView
from .session import Run, Session, answer_in, list_runs, open_store, read_field, store_path
from .session import open_run as open_run_in
from .session.costs import costs_of
from .session.runs import headers_of, store_hint


class RunList(list[Run]):
    """Runs, newest first, that show themselves as a table.

    Args:
        found: the runs.
        nothing: the sentence to show where there are none.
        damaged: one sentence for each run whose header cannot be read.
    """

    def __init__(
        self, found: Iterable[Run] = (), nothing: str = "no runs yet", damaged: Iterable[str] = ()
    ) -> None:
        super().__init__(found)
        self.nothing = nothing
        self.damaged = tuple(damaged)

    def __repr__(self) -> str:
        return "\n".join([runs_text(self._rows()) if self else self.nothing, *self.damaged])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    def _repr_html_(self) -> str | None:
        if not self:
            return None
        said = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self.damaged)
        return runs_html(self._rows()) + said

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame, sizes in bytes and ages in seconds.

        Raises:
            UsageError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise UsageError("a frame of runs needs pandas: pip install pandas") from None
        names = ("id", "name", "workflow", "status", "progress", "age_s", "size_bytes", "note")
        rows = self._rows()
        columns = {name: [getattr(row, name) for row in rows] for name in names}
        return pd.DataFrame({**columns, **_cost_columns([row.cost for row in rows])})

    def _rows(self) -> list[RunRow]:
        now = time.time()
        costs = {store: costs_of(headers_of(store.runs(), store)) for store in {run.store for run in self}}
        return [_row(run, costs[run.store](run.header), now) for run in self]


class durable:
    """Make every ``Workflow.run()`` in a ``with`` block durable, as ``%%wfrun`` does for a cell.

    ``async with`` also awaits, at the block's end, the runs that the block left running.

    Args:
        name: NAME; by default the workflow class's name.
        store: the store's folder; by default ``JUPYTER_WFRESUME_STORE``, or ``.wfresume`` in the working
            folder.
        fresh: start over; 2 insists where an unfinished run would be resumed instead.
        timeout: seconds that replace the workflow's own time budget; None or ``"none"`` removes it.
        keep_going: an execution that fails for good is set aside, and all else goes on; the run then ends
            as failed, and running it again executes only those.
        stale: what becomes of finished executions whose code has changed since: ``auto``, ``rerun``
            or ``keep``.
        wait: seconds to stay while a run waits for a person, or ``"forever"``.
        board: ``text``, ``none``, or ``auto``, which is ``text`` here.

    Raises:
        UsageError: a value does not fit.
        RunEnded: from the block's ``await``, where a run ends without a result.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        store: str | os.PathLike[str] | None = None,
        fresh: bool | int = False,
        timeout: float | Literal["none", "keep"] | None = "keep",
        keep_going: bool = False,
        stale: Literal["auto", "rerun", "keep"] = "auto",
        wait: float | Literal["forever"] | None = None,
        board: Literal["auto", "text", "none"] = "auto",
    ) -> None:
        if name is not None and not isinstance(name, str):
            raise UsageError(f"durable: the name is a text such as 'enrich', not {name!r:.100}")
        if name is not None and not name.strip():
            raise UsageError("durable: the name is empty; write one, or leave it out")
        if board not in ("auto", "text", "none"):
            raise UsageError(f"durable: board is auto, text or none, not {board!r}")
        if stale not in ("auto", "rerun", "keep"):
            raise UsageError(f"durable: stale is auto, rerun or keep, not {stale!r}")
        self._name = name
        self._options = Options(
            stale=stale,
            keep_going=keep_going,
            fresh=min(int(fresh), 2),
            timeout_s=_budget(timeout),
            store=None if store is None else os.fspath(store),
            wait_s=None if wait is None else _seconds("wait", math.inf if wait == "forever" else wait),
            board="none" if board == "none" else "text",
        )
        self._session: Session | None = None

    def __enter__(self) -> durable:
        if self._session is not None:
            raise UsageError("this durable(...) block is already open; call durable(...) once for each block")
        # Beside a script's own output, as progress bars are; a notebook shows that stream as an alarm.
        stream = sys.stdout if _kernel() is not None else sys.stderr
        board = make_board(
            self._options.board,
            display=None,
            has_front_end=False,
            on_stop=None,
            on_answer=answerer(self._options.store),
            on_check=read_field,
            stream=stream,
        )
        self._session = Session(
            self._name,
            self._options,
            on_view=board.update,
            on_close_view=board.close,
            tell=print,
            headless=not _someone_there(),
        )
        try:
            self._session.__enter__()
        except BaseException:
            self._session = None
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.__exit__(kind, error, where)

    async def __aenter__(self) -> durable:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        try:
            if self._session is not None:
                if error is not None:
                    self._session.body_failed(error)
                await self._session.settle()
        except BaseException as late:
            # The block's own exception comes out where there is one; the runs' boards show theirs.
            if error is None:
                error, kind, where = late, type(late), late.__traceback__
                raise
        finally:
            self.__exit__(kind, error, where)


def open_run(run: str, store: str | os.PathLike[str] | None = None) -> Run:
    """Open a recorded run.

    Args:
        run: NAME, for its latest top-level run; or a run id or its unique prefix.
        store: the store's folder; by default as for `durable`.

    Raises:
        UsageError: there is no such run, or the prefix fits several.
        StoreError: the store cannot be read.
    """
    folder = store_folder(store)
    if not folder.exists():
        raise UsageError(f"there is no run {run!r}: there is no store at {folder} yet")
    return open_run_in(run, open_store(str(folder)))


def runs(name: str | None = None, store: str | os.PathLike[str] | None = None) -> RunList:
    """List recorded runs, newest first.

    Args:
        name: only runs of this NAME.
        store: the store's folder; by default as for `durable`.

    Raises:
        StoreError: the store cannot be read.
    """
    folder = store_folder(store)
    if not folder.exists():
        return RunList(nothing=f"no runs yet: there is no store at {folder}")
    of = "" if name is None else f" of {name}"
    opened = open_store(str(folder))
    damaged = [sentence for _, sentence in opened.damaged_runs()]
    return RunList(list_runs(opened, name), f"no runs{of} in {folder}", damaged)


def store_folder(store: str | os.PathLike[str] | None = None) -> Path:
    """Return the store's folder: the given one, the environment's, or the working folder's ``.wfresume``."""
    return Path(os.path.abspath(store_path(None if store is None else os.fspath(store))))


def answerer(store: str | None) -> Callable[[str, QuestionView, Any], None]:
    """Return what writes a person's answer into a store, now or when the cell has long returned.

    Args:
        store: the store's folder as given by the user, or None for the default.
    """
    return partial(answer_in, store_folder(store))


def view_of(run: Run) -> RunView:
    """Return what a board shows of a recorded run."""
    header = run.header
    return RunView(
        run_id=header.run_id,
        name=header.name,
        workflow=header.workflow,
        status=run.status,
        steps=header.steps,
        elapsed_s=header.elapsed_s,
        saved_executions=header.saved_executions,
        saved_s=header.saved_s,
        reused_executions=cost_in_header(header.extra.get("cost", {})).saved_by_reuse.executions,
        sentence=run.sentence,
        notes=header.notes,
        error=run.error,
        questions=run.questions,
        failures=run.failures,
        store=store_hint(run.store.path),
    )


def _row(run: Run, cost: Cost, now: float) -> RunRow:
    header = run.header
    finished, total = progress(view_of(run))
    said = [run.answered] if run.answered else []
    return RunRow(
        id=header.run_id,
        name=header.name,
        workflow=header.workflow,
        status=run.status,
        progress=f"{finished} of {total}" if total else "",
        age_s=max(0.0, now - header.updated),
        size_bytes=run.size_bytes,
        note="; ".join([*said, *_fork(header.extra.get("fork")), *header.notes]),
        cost=cost,
    )


def _cost_columns(costs: Sequence[Cost]) -> dict[str, list[Any]]:
    """Columns of a frame: seconds, and counts."""
    return {
        "time_s": [cost.time_s for cost in costs],
        "alive_s": [cost.alive_s for cost in costs],
        "attempts": [cost.attempts for cost in costs],
        "lives": [cost.lives for cost in costs],
        "prompt_tokens": [cost.tokens.prompt for cost in costs],
        "completion_tokens": [cost.tokens.completion for cost in costs],
        "total_tokens": [cost.tokens.total for cost in costs],
        "resumed": [cost.saved_by_resume.executions for cost in costs],
        "resumed_s": [cost.saved_by_resume.time_s for cost in costs],
        "reused": [cost.saved_by_reuse.executions for cost in costs],
        "reused_s": [cost.saved_by_reuse.time_s for cost in costs],
    }


def _fork(fork: dict[str, Any] | None) -> list[str]:
    return [] if fork is None else [f"left run {fork['run'][:8]} at {fork['at']}"]


def _budget(timeout: float | str | None) -> float | None:
    if timeout == "keep":
        return None
    if timeout is None or timeout == "none":
        return math.inf
    budget = _seconds("timeout", timeout)
    if budget == 0:
        raise UsageError("durable: timeout takes more than 0 seconds, or None for no bound")
    return budget


def _seconds(what: str, value: object) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not value >= 0:  # type: ignore[operator]  # a number by now; nan is not >= 0
        raise UsageError(f"durable: {what} takes a number of seconds, not {value!r}")
    return float(value)  # type: ignore[arg-type]  # as above


def _someone_there() -> bool:
    """Whether somebody can answer: a terminal's user, or a front end that takes input for this cell."""
    kernel = _kernel()
    if kernel is not None:
        return bool(getattr(kernel, "_allow_stdin", False))
    return sys.stdin is not None and sys.stdin.isatty()


def _kernel() -> Any:
    """Return the notebook's kernel, or None; asked without IPython, which a script need not have loaded."""
    get_shell = getattr(builtins, "get_ipython", None)
    return getattr(get_shell(), "kernel", None) if get_shell is not None else None
