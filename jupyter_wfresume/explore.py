"""A recorded run as the board's section on executions asks for it, on threads of the board's own."""

from __future__ import annotations

import asyncio
import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from .board import Edits, Explorer, Going, Line, Lines, Sheet
from .durable import store_folder
from .engine import Event, run_sync
from .engine.alone import apart_from
from .errors import MissingClassError, RunEnded, WfresumeError
from .journal import Record
from .projection import Row, executions, node_at
from .records import RunHeader, RunView
from .replay import Replayed, brief
from .replay.fields import edit_of, input_fields, misfits
from .session import Run, open_run, open_store
from .session.again import fork_of, input_of, replay_of
from .session.instances import instance_of, remember
from .session.runs import store_hint
from .show import execution_page, status_of, value_of
from .store import Store
from .typed import command

_MOVING = ("new", "running", "waiting", "stuck")
"""A run with such a status may get records at any time."""


def explorer(store: str | None) -> Callable[[str], Explorer]:
    """Return what gives who is asked for a run's executions, now or when the cell has long returned.

    Args:
        store: the store's folder as given by the user, or None for the default.
    """
    return partial(Explored, store_folder(store))


class Explored:
    """One recorded run.

    Args:
        folder: the store's.
        run_id: the run.
    """

    def __init__(self, folder: Path, run_id: str) -> None:
        self._folder = folder
        self._run_id = run_id
        self._stamp: object = None
        self._records: list[Record] = []
        self._rows: list[Row] = []
        self._input: tuple[str, int, object, list[Event]] | None = None

    def lines(self, step: str, status: str, first: int, count: int) -> Lines:
        """Some of the run's executions, by step in the order of the graph, then by number."""
        with self._opened() as run:
            of_step = [row for row in self._rows if step in ("", row.step)]
            of_status = [row for row in self._rows if status in ("", status_of(row))]
            found = [row for row in of_step if status in ("", status_of(row))]
            if first >= len(found):
                first = 0
            return Lines(
                tuple(self._line(run, row) for row in found[first : first + count]),
                first,
                len(found),
                tuple(Counter(row.step for row in (of_status if status else self._rows)).items()),
                tuple(sorted(Counter(status_of(row) for row in of_step).items())),
                len(self._rows),
            )

    def sheet(self, step: str, index: int, event: int) -> Sheet:
        """One execution, with the fields of one of its events."""
        with self._opened() as run:
            page = execution_page(run, self._records, step, index)
            try:
                events = self._events(run, step, index)
            except MissingClassError as error:
                name = error.qualname if error.module == "__main__" else f"{error.module}.{error.qualname}"
                said = f"cannot find {name}: run the cell that defines it, then choose this execution again"
                return Sheet(page, refused=said)
            except WfresumeError as error:
                return Sheet(page, refused=str(error))
        facts = tuple(fact for fact in page.facts if fact[0] != "input")
        kind = type(events[event]).__name__
        return Sheet(
            dataclasses.replace(page, facts=facts), input_fields(events[event]), event, len(events), kind
        )

    def misfits(self, step: str, index: int, edits: Edits) -> dict[tuple[int, str], str]:
        """One sentence for each edit that does not fit."""
        with self._opened() as run:
            return misfits(self._events(run, step, index), edits, f"{step}[{index}]")

    def replay(self, step: str, index: int, edits: Edits) -> str:
        """Executes it again, alone, with these edits; returns what came of it, as HTML."""
        with self._opened() as run:
            flow = apart_from(instance_of(run.header.workflow))
            edit = edit_of(edits, f"{step}[{index}]")
            # This thread has no running loop, so the replay gets one of its own, and nothing waits for it.
            done: Replayed = run_sync(lambda: replay_of(run, step, index, edit, flow))
        if done.new.error is not None and _is_of_a_loop(done.new.error):
            done.notes.append(_elsewhere(_typed(run, "%wfreplay", f"{step}[{index}]")))
        return done._repr_html_()

    def go_on(self, step: str, index: int, edits: Edits, going: Going) -> str:
        """Goes on from it in a new run, to its end; returns one sentence."""
        with self._opened() as run:
            told = _Told(going)
            known = instance_of(run.header.workflow)
            try:
                run_sync(lambda: _fork(run, step, index, edits, going, told.close))
                failed: BaseException | None = None
            except WfresumeError:
                raise
            except (Exception, RunEnded, asyncio.CancelledError) as error:  # the new run's own
                # Its board shows it, as a cell would.
                if told.last is None:
                    raise
                failed = error
            finally:
                remember(known)  # the copy that ran is gone in a moment
        return _left(run, f"{step}[{index}]", told.last, failed)

    @contextmanager
    def _opened(self) -> Iterator[Run]:
        """The run, whose records are read anew only if there may be more."""
        with open_store(str(self._folder), create=False) as store:
            run = open_run(self._run_id, store)
            header, left_out = run.header, run.left_out
            stamp = (header.updated, header.lives, tuple(left_out.items()))
            if stamp != self._stamp or header.status in _MOVING or run.status in _MOVING:
                self._records = run.records
                steps = [view.name for view in header.steps]
                places = {name: place for place, name in enumerate(steps)}
                rows = executions(self._records, left_out)
                self._rows = sorted(rows, key=lambda row: (places.get(row.step, len(steps)), row.index))
                self._stamp = stamp
            yield _Read(store, header, self._records)

    def _events(self, run: Run, step: str, index: int) -> list[Event]:
        key = (step, index, self._stamp)
        if self._input is None or self._input[:3] != key:
            given: Any = input_of(run, step, index)
            self._input = (*key, given if isinstance(given, list) else [given])
        return self._input[3]

    def _line(self, run: Run, row: Row) -> Line:
        nodes = row.input_nodes or [node_at(self._records, place) for place in row.inputs[:1]]
        count = len(row.input_nodes or row.inputs)
        said = brief(value_of(run, nodes[0])) if nodes else ""
        said = f"{count:,} events: {said}, …" if count > 1 else said
        return Line(row.step, row.index, status_of(row), row.ended - row.started, said)


class _Read(Run):
    """A run whose records have been read: at 10,000 executions that takes longer than all the rest."""

    def __init__(self, store: Store, header: RunHeader, records: list[Record]) -> None:
        super().__init__(store, header)
        self._known = records

    @property
    def records(self) -> list[Record]:
        return self._known


class _Told:
    """Keeps the last view of a new run."""

    def __init__(self, going: Going) -> None:
        self._going = going
        self.last: RunView | None = None

    def close(self, view: RunView) -> None:
        self.last = view
        self._going.on_close_view(view)


async def _fork(
    run: Run, step: str, index: int, edits: Edits, going: Going, close: Callable[[RunView], None]
) -> Any:
    label = f"{step}[{index}]"
    names = ", ".join(dict.fromkeys(name for _, name in edits))
    cell = f"%%wfreplay {run.id[:8]} {label} --continue"
    return await fork_of(
        run,
        step,
        index,
        edit_of(edits, label),
        apart_from(instance_of(run.header.workflow)),
        on_view=going.on_view,
        on_close_view=close,
        tell=lambda line: None,
        on_start=going.on_start,
        can_stop=True,
        cell=f"{cell}\n# edited on the board: {names}" if names else cell[1:],
    )


def _left(run: Run, label: str, last: RunView | None, failed: BaseException | None) -> str:
    old, new = run.id[:8], "" if last is None else last.run_id[:8]
    look = command("%wfshow", new, store=store_hint(run.store.path))
    said = f"run {new} left run {old} at {label}; run {old} is as it was · look at it: {look}"
    again = _typed(run, "%wfreplay", label, "--continue")
    if failed is not None and _is_of_a_loop(failed):
        return f"{said} · {_elsewhere(again)}"
    return f"{said} · the same from a cell: %{again}"


def _typed(run: Run, magic: str, *words: str) -> str:
    return command(magic, run.id[:8], *words, store=store_hint(run.store.path))


def _is_of_a_loop(error: BaseException) -> bool:
    # asyncio says with no type of its own, only in words, that an object belongs to another event loop.
    return isinstance(error, RuntimeError) and "loop" in str(error)


def _elsewhere(magic: str) -> str:
    return (
        "it uses something that belongs to the notebook's event loop, where a click does not run it: "
        f"run {magic} in a cell"
    )
