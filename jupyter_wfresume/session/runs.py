"""Runs in a store, from outside a cell."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..effects import Decision, Entry, entries_of, resolve
from ..engine import StopEvent, Workflow, run_sync
from ..errors import DamagedError, UsageError
from ..journal import Record, StoreBlobs, final, history, load_header, tally_of
from ..projection import executions as rows_of
from ..records import Cost, ErrorView, FailureView, Lease, QuestionView, RunHeader, Status
from ..replay import Edit, Pair, compare_runs
from ..store import Store, is_alive
from . import skips, words
from .again import fork_of, replay_of
from .answers import give, open_questions, question_of
from .costs import costs_of, with_below
from .executions import Execution, execution_of, executions_of
from .supply import Supply
from .unclear import refuse_to_leave_out, still

STORE_VARIABLE = "JUPYTER_WFRESUME_STORE"
DEFAULT_STORE = ".wfresume"


def store_path(path: str | None) -> Path:
    """Where the store is: as given, by the environment, or in the working folder."""
    return Path(path or os.environ.get(STORE_VARIABLE) or DEFAULT_STORE).expanduser()


def store_hint(path: str | os.PathLike[str]) -> str:
    """The folder that a command has to name to find a store; empty for the one that it looks in anyway.

    Args:
        path: the store's folder.
    """
    folder = os.path.abspath(store_path(os.fspath(path)))
    if folder == os.path.abspath(store_path(None)):
        return ""
    below = folder.startswith(os.path.join(os.getcwd(), ""))
    return os.path.relpath(folder) if below else folder


def open_store(path: str | None = None, *, create: bool = True) -> Store:
    """Open the store.

    Args:
        path: its folder; None asks ``JUPYTER_WFRESUME_STORE``, then ``.wfresume`` here.
        create: make it where there is none.

    Raises:
        StoreError: it cannot be opened.
    """
    return Store.open(store_path(path), create=create)


def headers_of(rows: Sequence[tuple[str, bytes]], store: Store) -> list[RunHeader]:
    """Headers, newest first, with the status they have now.

    Args:
        rows: run ids and header bytes.
        store: asked whether a running run's process lives.
    """
    headers: list[RunHeader] = []
    for _, data in rows:
        try:
            headers.append(load_header(data))
        except DamagedError:
            # One damaged header must not hide the other runs; the store tells of it.
            continue
    roots = {header.run_id: header for header in headers}
    return sorted((with_status(h, store, roots) for h in headers), key=lambda h: h.created, reverse=True)


def with_status(header: RunHeader, store: Store, roots: dict[str, RunHeader]) -> RunHeader:
    """The header, with ``paused`` for a run whose process died."""
    if header.status not in ("running", "waiting", "stuck"):
        return header
    root = header
    while root.parent and root.parent in roots:
        root = roots[root.parent]
    lease = store.lease_of(root.run_id)
    if lease is None or is_alive(lease.owner) is False:
        return header if header.status != "running" else replace(header, extra={**header.extra, "died": True})
    return header


def no_class(module: str, qualname: str) -> type | None:
    """No class is known beforehand: each is looked up where it lives."""
    return None


class Run:
    """One recorded run.

    Args:
        store: where it is.
        header: its header.
    """

    def __init__(self, store: Store, header: RunHeader) -> None:
        self.store = store
        self.header = header

    @property
    def id(self) -> str:
        """The run's id."""
        return self.header.run_id

    @property
    def name(self) -> str:
        """NAME."""
        return self.header.name

    @property
    def status(self) -> Status:
        """One of the contract's words."""
        return "paused" if self.header.extra.get("died") else self.header.status

    @property
    def driver(self) -> Lease | None:
        """Who drives it now."""
        return self.store.lease_of(self.header.run_id)

    @property
    def size_bytes(self) -> int:
        """Bytes of the run's records, without large values that runs may share."""
        return self.store.size_bytes(self.header.run_id)

    @property
    def cell(self) -> str:
        """The source of the cell that ran it."""
        return self.header.cell

    @property
    def records(self) -> list[Record]:
        """The intact records of its journal."""
        return history(self.store, self.id).records

    @property
    def result(self) -> Any:
        """The recorded result: of a plain stop event its ``result``, else the event.

        Raises:
            UsageError: the run has no recorded result.
            MissingClassError: a class is not defined here.
        """
        records = self.records
        ended = final(records, StoreBlobs(self.store), no_class, None) if records else None
        if ended is None:
            raise UsageError(
                f"run {words.short(self.id)} of {self.name} is {self.status}: it has no result yet"
            )
        stop = ended.stop
        return stop.result if type(stop) is StopEvent else stop

    @property
    def executions(self) -> list[Execution]:
        """The executions that left a record."""
        records = self.records
        rows = rows_of(records, self.left_out)
        return executions_of(rows, records, StoreBlobs(self.store), no_class, self._replayed)

    def execution(self, step: str, index: int) -> Execution:
        """``STEP[N]``.

        Raises:
            UsageError: there is none.
        """
        return execution_of(self.executions, step, index)

    def _replayed(
        self, step: str, index: int, edit: Edit | None, continue_: bool, workflow: Workflow | None
    ) -> Any:
        if not continue_:
            return run_sync(lambda: replay_of(self, step, index, edit, workflow))
        return run_sync(
            lambda: fork_of(
                self,
                step,
                index,
                edit,
                workflow,
                on_view=lambda view: None,
                on_close_view=lambda view: None,
                tell=lambda line: None,
                headless=True,
            )
        )

    def diff(self, other: Run) -> list[Pair]:
        """Which executions differ between this run and another, and how.

        Args:
            other: the run to compare with.
        """
        return compare_runs(
            self.records,
            Supply.reader(StoreBlobs(self.store), no_class),
            other.records,
            Supply.reader(StoreBlobs(other.store), no_class),
        )

    @property
    def questions(self) -> tuple[QuestionView, ...]:
        """What it waits for, and nobody has answered; each keeps its number."""
        return open_questions(self.store, self.id, self.header.questions)

    @property
    def answered(self) -> str:
        """How many of its questions are answered, and how it goes on where all are; else empty."""
        count, left = len(self.header.questions), len(self.questions)
        if left == count or (not left and self.is_driven):
            return ""
        return f"{count - left} of {count} answered" if left else f"answered: {self.how_to_go_on}"

    @property
    def how_to_go_on(self) -> str:
        """Who acts on what a person has said of it."""
        if self.is_driven:
            return "the kernel that drives the run takes it now"
        return words.go_on(self.top.id, store_hint(self.store.path))

    @property
    def sentence(self) -> str:
        """How it ended and how to go on, with what has been answered since; empty while it runs."""
        header, said = self.header, self.answered
        if not said:
            return header.sentence
        left = [one.text for one in self.questions]
        if left:
            said += f": {words.waiting(header, left)}"
        asked = words.waiting(header, [one.text for one in header.questions])
        return header.sentence.replace(asked, said) if asked in header.sentence else said

    @property
    def error(self) -> ErrorView | None:
        """The last failure, or None."""
        return None if self.header.error is None else still(self.header.error, self.store, self.header)

    @property
    def failures(self) -> tuple[FailureView, ...]:
        """Executions that were set aside, by error."""
        return tuple(
            replace(group, errors=tuple(still(one, self.store, self.header) for one in group.errors))
            for group in self.header.failures
        )

    @property
    def left_out(self) -> dict[str, float]:
        """What a person decided to leave out, such as ``work[37]``, and when, in seconds since the epoch."""
        return skips.left_out(self.store, self.id)

    @property
    def top(self) -> Run:
        """The run that a cell started: itself, or the one whose step runs it."""
        found = self.header
        while found.parent and (data := self.store.get_run(found.parent)) is not None:
            found = load_header(data)
        return self if found is self.header else Run(self.store, found)

    @property
    def is_driven(self) -> bool:
        """Whether a living process drives it, or the run that it is a part of."""
        lease = self.top.driver
        return lease is not None and is_alive(lease.owner) is not False

    def skip(self, step: str, *indexes: int) -> None:
        """A person's decision that failed executions are left out; it is on disk when this returns.

        A fan-in then gets that much fewer; the run's record says so. The process that drives the run acts
        on it, or the next one that resumes it. Another run with the same input leaves nothing out.

        Args:
            step: the step.
            indexes: N of each ``STEP[N]``.

        Raises:
            UsageError: there is no such execution, one has not failed, or one began a side effect whose
                outcome is unknown; then none is left out.
        """
        if self.status == "done":
            raise UsageError(
                f"run {words.short(self.id)} of {self.name} is done: nothing is left to leave out"
            )
        found, records, driven = self.executions, self.records, self.is_driven
        for one in [execution_of(found, step, index) for index in indexes]:
            why = "" if one.status == "skipped" else skips.why_not(records, step, one.index, driven=driven)
            if why:
                raise UsageError(f"{step}[{one.index}] {why}: only a failed execution can be left out")
        refuse_to_leave_out(self.store, self.header, store_hint(self.store.path), step, indexes)
        skips.leave_out(self.store, self.id, [f"{step}[{index}]" for index in indexes])

    def unskip(self, step: str, *indexes: int) -> None:
        """Take `skip` back, for what the run has not gone on without yet.

        Args:
            step: the step.
            indexes: N of each ``STEP[N]``.

        Raises:
            UsageError: it is not left out, the run has gone on without it, or it is being driven.
        """
        found, records, decided = self.executions, self.records, self.left_out
        labels = [f"{step}[{execution_of(found, step, index).index}]" for index in indexes]
        for label, index in zip(labels, indexes, strict=True):
            if label not in decided:
                raise UsageError(f"{label} is not left out: there is nothing to take back")
            if skips.is_done(records, step, index):
                raise UsageError(
                    f"{label} cannot be taken back: the run has gone on without it; a new run (--fresh) has "
                    "it again"
                )
        if self.is_driven:
            raise UsageError(
                f"{self.name} is under way, and may leave {labels[0]} out just now: stop it first"
            )
        skips.take_back(self.store, self.id, labels)

    def asked(self, which: object) -> tuple[QuestionView, ...]:
        """Among which questions one is looked for: a number, or none that is left, may mean an answered one.

        Args:
            which: a question, its number, or None.
        """
        left = self.questions
        return self.header.questions if isinstance(which, int) or not left else left

    def answer(self, value: Any, question: QuestionView | int | None = None) -> None:
        """Answer a question; it is on disk when this returns.

        The process that drives the run delivers it, or the next one that resumes it.

        Args:
            value: the answer: of one field its value, of several a dict, or the event itself.
            question: one of ``questions``, or its number; None where there is but one.

        Raises:
            UsageError: the run asks nothing, or it is not clear what is answered.
        """
        which = question_of(self.asked(question), question, self.name)
        run_id = which.run_id or self.id
        give(self.store, run_id, which, value)

    @property
    def cost(self) -> Cost:
        """What it has cost over all its lives, and what resume and reuse saved, by its records."""
        headers = headers_of(self.store.runs(), self.store)
        own = tally_of(self.records).cost(self.header.lives, self.header.elapsed_s)
        of = costs_of(headers)
        return with_below(own, [of(header) for header in headers if header.parent == self.id])

    @property
    def effects(self) -> list[Entry]:
        """The side effects on record of its NAME, the newest first; they belong to no single run."""
        return entries_of(self.store, self.name)

    def resolve(self, effect: str, key: Any, decision: Decision, receipt: Any = None) -> Entry:
        """A person's decision on a side effect; the next execution that asks for it goes by it.

        Args:
            effect: its name, such as ``charge``.
            key: its key, or the key's text.
            decision: ``done``: it happened, with this receipt; ``retry``: it is done
                again; ``undone``: it happened and was compensated by hand.
            receipt: for ``done``.

        Returns:
            What is on record now.

        Raises:
            UsageError: there is no such effect, it is under way, or the decision does not fit it.
            CannotKeepError: the receipt cannot be written down.
        """
        return resolve(self.store, self.name, effect, key, decision, receipt)

    @property
    def notes(self) -> tuple[str, ...]:
        """What to keep in mind about it: boundaries that cannot be resumed past, shared state keys."""
        return self.header.notes

    def __repr__(self) -> str:
        return f"<Run {words.short(self.id)} {self.name} {self.status} {words.counted(self.header.steps)}>"


def list_runs(store: Store, name: str | None = None, *, nested: bool = False) -> list[Run]:
    """The runs of a store, newest first.

    Args:
        store: the store.
        name: only this name.
        nested: runs that steps ran too.
    """
    return [
        Run(store, header)
        for header in headers_of(store.runs(), store)
        if (name is None or header.name == name) and (nested or not header.parent)
    ]


def open_run(run: str, store: Store | str | None = None) -> Run:
    """One run, by its name (the latest), its id, or a unique beginning of its id.

    Args:
        run: name or id.
        store: the store, or its folder.

    Raises:
        UsageError: there is none, or several begin so.
    """
    opened = store if isinstance(store, Store) else open_store(store, create=False)
    everything = list_runs(opened, nested=True)
    for one in everything:
        if one.name == run and not one.header.parent and one.header.extra.get("fork") is None:
            return one
    found = [one for one in everything if one.id.startswith(run)] if run else []
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"{len(found)} runs begin with '{run}': {', '.join(one.id[:8] for one in found[:5])}"
        )
    names = sorted({one.name for one in everything})
    known = f"; known names: {', '.join(names[:8])}" if names else "; the store holds no runs"
    raise UsageError(f"no run '{run}' in {opened.path.name}{known}")
