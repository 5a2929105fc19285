"""What ``%wfshow`` and ``jupyter wfresume show`` show of recorded runs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from .board import (
    ExecutionPage,
    ExecutionRow,
    RunPage,
    execution_html,
    execution_text,
    pairs_html,
    pairs_text,
    rows_html,
    rows_text,
    run_html,
    run_text,
)
from .board.costs import facts as costs_said
from .board.costs import tokens as tokens_said
from .board.figures import age, duration, many, size
from .codec import outline
from .durable import open_run, view_of
from .errors import DamagedError
from .journal import Record, StoreBlobs, tokens_in
from .projection import Row, executions, node_at
from .records import Cost, Tokens
from .replay import brief, choose, pretty
from .replay.recorded import lost_event
from .session import Run, list_runs
from .session.words import short

ROWS = 30
"""Executions, or pairs of them, that get a line."""

_FIRST = {"failed": 0, "waiting": 1, "running": 2, "queued": 2, "skipped": 2, "done": 3, "reused": 4}
"""Which executions are worth a line before others."""


class Shown:
    """Something to look at: text where text is all there is, HTML in a notebook.

    Args:
        text: the text.
        html: the HTML.
        value: what is shown: a run, executions, or pairs of them.
        page: a run as boards draw it, where a run is shown.

    ``live``, where it is set, shows the page as a widget, and returns the HTML that stands for it later.
    """

    def __init__(self, text: str, html: str, value: Any, page: RunPage | None = None) -> None:
        self.value = value
        self.page = page
        self.live: Callable[[], str] | None = None
        self._text = text
        self._html = html

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return self._html

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return {"text/html": self._html if self.live is None else self.live(), "text/plain": self._text}


def look_at(
    run: str, text: str | None = None, *, other: str | None = None, store: str | None = None
) -> Shown:
    """What is asked for of a run: all of it, some executions, or how it differs from another.

    Args:
        run: NAME, or a run id or its unique prefix.
        text: ``work[17]``, ``work[3,17,40:45]``, ``work[failed]`` or ``work``.
        other: the run to compare with.
        store: the store's folder.

    Raises:
        UsageError: there is no such run or execution.
        MissingClassError: a class that a comparison needs is not defined here.
    """
    opened = open_run(run, store)
    if other is not None:
        return show_difference(opened, open_run(other, store), text)
    return show_run(opened) if text is None else show_executions(opened, text)


def show_run(run: Run) -> Shown:
    """A run: where it stands, what is known of it, when its executions ran.

    Args:
        run: the run.

    Raises:
        StoreError: it cannot be read.
    """
    records = run.records
    rows = executions(records, run.left_out)
    picked, rest = _pick(run, rows)
    children = tuple(view_of(one) for one in _children(run))
    cost = run.cost
    page = RunPage(
        view=replace(view_of(run), children=children),
        facts=tuple(_facts(run, records, rows, cost)),
        rows=tuple(_row(run, records, row) for row in picked),
        rest=rest,
        spans=tuple((row.started, row.ended) for row in rows),
        cell=run.cell,
        costs=cost.steps,
    )
    return Shown(run_text(page), run_html(page), run, page)


def show_executions(run: Run, text: str) -> Shown:
    """One execution with all that is on record of it, or a table of several.

    Args:
        run: the run.
        text: ``work[17]``, ``work[3,17,40:45]``, ``work[failed]`` or ``work``.

    Raises:
        UsageError: it names no recorded execution.
    """
    records = run.records
    chosen = choose(records, text, run.left_out)
    if len(chosen) == 1:
        ((step, index),) = chosen
        page = execution_page(run, records, step, index)
        return Shown(execution_text(page), execution_html(page), run.execution(step, index))
    rows = {(row.step, row.index): row for row in executions(records, run.left_out)}
    picked, rest = _pick(run, [rows[place] for place in chosen])
    shown = [_row(run, records, row) for row in picked]
    spans = [(row.started, row.ended) for row in rows.values()]
    names = set(chosen)
    value = [one for one in run.executions if (one.step, one.index) in names]
    return Shown(rows_text(shown, rest, spans), rows_html(shown, rest, spans), value)


def show_difference(run: Run, other: Run, text: str | None = None) -> Shown:
    """Which executions differ between two runs, and how.

    Args:
        run: the one run.
        other: the other.
        text: only these executions of the one run.

    Raises:
        UsageError: ``text`` names no recorded execution.
        MissingClassError: a class is not defined here.
    """
    wanted = None if text is None else set(choose(run.records, text, run.left_out))
    pairs = run.diff(other)
    if wanted is not None:
        pairs = [pair for pair in pairs if (pair.step, pair.old) in wanted]
    title = f"run {short(run.id)} of {run.name}, and run {short(other.id)} of {other.name}"
    return Shown(pairs_text(title, pairs, ROWS), pairs_html(title, pairs, ROWS), pairs)


def clock(stamp: float) -> str:
    """A time as ``14:02:11`` today, with the date on other days.

    Args:
        stamp: seconds since the epoch.
    """
    then, today = time.localtime(stamp), time.localtime()
    return time.strftime("%H:%M:%S" if then[:3] == today[:3] else "%Y-%m-%d %H:%M:%S", then)


def _pick(run: Run, rows: Sequence[Row]) -> tuple[list[Row], tuple[tuple[str, int], ...]]:
    """The executions that get a line, failures before others, in the order of the graph; and what is left."""
    ranked = sorted(rows, key=lambda row: (_FIRST[status_of(row)], row.started))
    # A step that the workflow no longer has comes last.
    order = {step.name: number for number, step in enumerate(run.header.steps)}
    picked = sorted(ranked[:ROWS], key=lambda row: (order.get(row.step, len(order)), row.step, row.index))
    return picked, tuple(Counter(status_of(row) for row in ranked[ROWS:]).items())


def status_of(row: Row) -> str:
    """What became of an execution; ``reused`` where it was answered from another run."""
    return "reused" if row.source is not None and row.status == "done" else row.status


def _row(run: Run, records: list[Record], row: Row) -> ExecutionRow:
    return ExecutionRow(
        label=f"{row.step}[{row.index}]",
        status=status_of(row),
        started=row.started,
        ended=row.ended,
        attempts=row.attempts,
        said=_outcome(run, records, row),
    )


def _outcome(run: Run, records: list[Record], row: Row) -> str:
    if row.error is not None:
        raised = _raised(run, row.error)
        return f"left out by a person; {raised}" if row.status == "skipped" else raised
    values = [value_of(run, node_at(records, place)) for place in row.outputs]
    if len(values) > 1:
        kinds = Counter(
            type(value).__name__ if not hasattr(value, "parts") else value.name for value in values
        )
        return ", ".join(f"{count:,} {name}" for name, count in kinds.items())
    return brief(values[0]) if values else ""


def _raised(run: Run, node: Any) -> str:
    if isinstance(node, dict) and "said" in node:
        name, text = node["said"]
        return f"{name}: {text}" if text else name
    error = value_of(run, node)
    if isinstance(error, BaseException):
        return f"{type(error).__qualname__}: {error}" if str(error) else type(error).__qualname__
    return brief(error)


def value_of(run: Run, node: Any) -> Any:
    """A recorded value for looking at; what stands in the way is said in its place."""
    try:
        return lost_event(node) or outline(node, StoreBlobs(run.store))
    except DamagedError as error:
        return _Said(str(error))


class _Said:
    """Stands where a value cannot be read."""

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence

    def __repr__(self) -> str:
        return f"<{self._sentence}>"


def _facts(run: Run, records: list[Record], rows: Sequence[Row], cost: Cost) -> list[tuple[str, str]]:
    header = run.header
    facts = [
        ("run", run.id),
        ("created", f"{clock(header.created)}, {age(time.time() - header.created)}"),
    ]
    facts += costs_said(cost)
    fork = header.extra.get("fork")
    if fork is not None:
        facts.append(("forked", f"from run {short(fork['run'])} at {fork['at']}"))
    if header.parent:
        facts.append(("run by", f"{header.parent_execution} of run {short(header.parent)}"))
    if header.notebook:
        facts.append(("notebook", header.notebook))
    flow = _flow(records, rows)
    if flow:
        facts.append(("flow", flow))
    facts.append(("size", f"{size(run.size_bytes)}, {many(len(records), 'record')}"))
    return facts


def _flow(records: list[Record], rows: Sequence[Row]) -> str:
    """Which step's events went to which step, and how many: ``split → work 100 · work → join 100``."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        for number, _ in row.inputs:
            counts[records[number].get("s", "start"), row.step] += 1
    return " · ".join(
        f"{source} → {step}{f' {count:,}' if count > 1 else ''}" for (source, step), count in counts.items()
    )


def execution_page(run: Run, records: list[Record], step: str, index: int) -> ExecutionPage:
    """All that is on record of one execution.

    Args:
        run: the run.
        records: its records.
        step: the step.
        index: N of ``STEP[N]``, which is on record.
    """
    left_out = run.left_out
    row = next(row for row in executions(records, left_out) if (row.step, row.index) == (step, index))
    nodes = row.input_nodes or [node_at(records, place) for place in row.inputs]
    facts = [("input", _values(run, nodes))]
    if row.error is not None:
        facts.append(("raised", _raised(run, row.error)))
        facts += _where(run, step, index)
    else:
        outputs = [node_at(records, place) for place in row.outputs]
        waits = "waits for an event" if row.status == "waiting" else "nothing"
        facts.append(("output", _values(run, outputs) if outputs else waits))
    facts.append(("began", f"{clock(row.started)}, ended {clock(row.ended)}"))
    own = [
        record for record in records if record["k"] in "RF" and (record["s"], record["i"]) == (step, index)
    ]
    if row.status == "skipped":
        own, without = [one for one in own if "sk" not in one], [one["sk"] for one in own if "sk" in one]
        facts.append(("left out", _left_out(left_out.get(f"{step}[{index}]", 0.0), without)))
    if row.attempts > 1:
        facts.append(("attempts", "\n".join(_attempt(run, record) for record in own)))
    if row.source is not None:
        facts.append(("reused", _source(run, row.source, own[-1])))
    spent = sum((tokens_in(one) for one in own if "u" not in one), Tokens())
    if spent:
        facts.append(("tokens", tokens_said(spent)))
    written = sorted({_path(op[1]) for record in own for op in record.get("st", ())})
    if written:
        facts.append(("state", f"wrote {', '.join(written[:12])}{', …' if len(written) > 12 else ''}"))
    below = [one for one in _children(run) if one.header.parent_execution.startswith(f"{step}[{index}]#")]
    facts += [("ran", f"{one.name}, run {short(one.id)}, {one.status}") for one in below]
    return ExecutionPage(
        label=f"{step}[{index}]",
        run=f"run {short(run.id)} of {run.name}",
        status=status_of(row),
        seconds=row.ended - row.started,
        attempts=row.attempts,
        facts=tuple(facts),
    )


def _path(parts: Sequence[Any]) -> str:
    """``seen.how`` for a path in the state, whose first part names the kind of slot too."""
    return ".".join([str(parts[0])[2:], *map(str, parts[1:])]) if parts else "all of it"


def _values(run: Run, nodes: Sequence[Any]) -> str:
    values = [value_of(run, node) for node in nodes]
    return pretty(values[0] if len(values) == 1 else values)


def _where(run: Run, step: str, index: int) -> list[tuple[str, str]]:
    error = run.header.error
    if error is None or (error.step, error.index) != (step, index) or not error.where:
        return []
    return [("at", error.where)]


def _attempt(run: Run, record: Record) -> str:
    failure = next((item for item in record["r"] if item[0] == "x"), None)
    ended = "" if failure is None else f", raised {_raised(run, failure[1])}"
    return f"{clock(record['b'])}  {duration(record['d'])}{ended}"


def _left_out(decided: float, without: Sequence[float]) -> str:
    """Who left an execution out, when, and whether the run has gone on without it."""
    when = max([decided, *without])
    said = f"a person decided so{f' at {clock(when)}' if when > 1 else ''}"
    return said if without else f"{said}; it takes effect when the run goes on"


def _source(run: Run, source: tuple[str, int], record: Record) -> str:
    run_id, number = source
    there = next((one for one in list_runs(run.store, nested=True) if one.id == run_id), None)
    took = f", where it took {duration(float(record['ud']))}" if "ud" in record else ""
    if there is None:
        return f"from run {short(run_id)}, which is no longer there{took}"
    origin = there.records[number]
    return f"from {origin['s']}[{origin['i']}] of run {short(run_id)}{took}"


def _children(run: Run) -> list[Run]:
    return [one for one in list_runs(run.store, nested=True) if one.header.parent == run.id][::-1]
