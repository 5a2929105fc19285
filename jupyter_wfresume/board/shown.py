"""A recorded run with its executions, one execution, and what differs between two runs: as text and HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from ..records import RunView, StepCost
from ..replay import Pair, as_html, as_text
from . import costs, html, text
from . import figures as f
from .timeline import Axis

_LANE = 24
_SAID = 60
_WHY = 200
_FEW = 5
"""Differences that are drawn of one pair."""
SIGNS = {
    "done": "✓",
    "failed": "✕",
    "waiting": "?",
    "running": "●",
    "queued": "·",
    "skipped": "–",
    "reused": "↺",
}
_BLOCKS = {"done": "█", "failed": "✕", "waiting": "▒", "reused": "▚", "skipped": "–"}
_BARS = {"done": "done", "failed": "failed", "waiting": "running", "reused": "reused", "skipped": "left-out"}
_UNDONE = ("failed", "skipped")
"""Of these the outcome is why, and is shown at length."""
_COLUMNS = ("execution", "status", "after", "took", "when", "outcome")
_CLASSES = {"after": "wfr-num wfr-after", "took": "wfr-num", "when": "wfr-when", "outcome": "wfr-said"}


@dataclass(frozen=True)
class ExecutionRow:
    """One execution in a list.

    Args:
        label: ``work[17]``.
        status: what became of it; ``reused`` where it was answered from another run.
        started: of its last attempt, seconds since the epoch.
        ended: of its last attempt, seconds since the epoch.
        attempts: how many there were.
        said: what came of it, in one line.
    """

    label: str
    status: str
    started: float
    ended: float
    attempts: int = 1
    said: str = ""


@dataclass(frozen=True)
class RunPage:
    """A recorded run.

    Args:
        view: what the board shows of it.
        facts: name and text of what else is known.
        rows: executions, by step in the order of the graph, then by number.
        rest: how many executions of each status have no row.
        spans: begin and end of all its executions.
        cell: the source of its cell.
        costs: what its steps have cost.
    """

    view: RunView
    facts: tuple[tuple[str, str], ...] = ()
    rows: tuple[ExecutionRow, ...] = ()
    rest: tuple[tuple[str, int], ...] = ()
    spans: tuple[tuple[float, float], ...] = ()
    cell: str = ""
    costs: tuple[StepCost, ...] = ()


@dataclass(frozen=True)
class ExecutionPage:
    """One execution.

    Args:
        label: ``work[17]``.
        run: ``run 7f3a of enrich``.
        status: as in `ExecutionRow`.
        seconds: how long its last attempt took.
        attempts: how many there were.
        facts: name and text of each part, of one line or several, in order.
        notes: to keep in sight, each one sentence.
    """

    label: str
    run: str
    status: str
    seconds: float
    attempts: int = 1
    facts: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = field(default_factory=tuple)


def run_text(page: RunPage) -> str:
    """A run as lines of text: the board, what else is known, its executions.

    Args:
        page: the run.
    """
    lines = [text.block(page.view)]
    lines += [f"  {name:<9} {f.clean(said)}" for name, said in page.facts]
    if page.costs:
        lines += ["", costs.steps_text(page.costs)]
    if page.rows:
        lines += ["", rows_text(page.rows, page.rest, page.spans)]
    return "\n".join(lines)


def run_html(page: RunPage) -> str:
    """A run as HTML: the board, what else is known, its executions, its cell.

    Args:
        page: the run.
    """
    return f"{html.style()}{html.panel(page.view)}{_below(page)}"


def run_parts(page: RunPage) -> tuple[str, str, str]:
    """A run as HTML in three parts without a stylesheet: figures, what became of it but failures, the rest.

    Args:
        page: the run.
    """
    return html.top(page.view), html.tail(page.view, failures=False), _below(page)


def _below(page: RunPage) -> str:
    pieces = [f'<div class="wfr-facts">{"".join(_fact(*fact) for fact in page.facts)}</div>']
    if page.costs:
        pieces.append(costs.steps_html(page.costs))
    if page.rows:
        pieces.append(_table(page.rows, page.rest, page.spans))
    if page.cell.strip():
        cell = escape(f.clean(page.cell.strip("\n"), lines=True))
        pieces.append(f"<details class='wfr-mark'><summary>its cell</summary><pre>{cell}</pre></details>")
    return _wrapped("".join(pieces))


def rows_text(
    rows: Sequence[ExecutionRow], rest: Sequence[tuple[str, int]], spans: Sequence[tuple[float, float]] = ()
) -> str:
    """Executions as a table of text with a bar for when each ran.

    Args:
        rows: the executions.
        rest: how many more there are of each status.
        spans: begin and end of all executions of the run.
    """
    spans = spans or _spans(rows)
    axis, first = Axis(spans), min(begin for begin, _ in spans)
    table = [_COLUMNS, *(_cells(row, first, axis) for row in rows)]
    widths = [max(f.cells(row[column]) for row in table) for column in range(5)]
    lines = ["  ".join(_aligned(row, widths)).rstrip() for row in table]
    return "\n".join([*lines, *([_rest(rest)] if rest else []), *([_cut(axis)] if _cut(axis) else [])])


def rows_html(
    rows: Sequence[ExecutionRow], rest: Sequence[tuple[str, int]], spans: Sequence[tuple[float, float]] = ()
) -> str:
    """Executions as a table in the board's look.

    Args:
        rows: the executions.
        rest: how many more there are of each status.
        spans: begin and end of all executions of the run.
    """
    return f"{html.style()}{_wrapped(_table(rows, rest, spans or _spans(rows)))}"


def execution_text(page: ExecutionPage) -> str:
    """One execution as lines of text.

    Args:
        page: the execution.
    """
    lines = [
        " · ".join([page.label, page.run, f"{SIGNS.get(page.status, '')} {page.status}", *_timing(page)])
    ]
    for name, said in page.facts:
        first, *others = f.clean(said, lines=True).split("\n")
        lines += [f"  {name:<9} {first}", *(f"  {'':<9} {line}" for line in others)]
    return "\n".join([*lines, *(f"  note: {f.clean(note)}" for note in page.notes)])


def execution_html(page: ExecutionPage) -> str:
    """One execution as HTML.

    Args:
        page: the execution.
    """
    return f"{html.style()}{execution_block(page)}"


def execution_block(page: ExecutionPage) -> str:
    """One execution as HTML without a stylesheet.

    Args:
        page: the execution.
    """
    head = (
        f'<div class="wfr-name"><b>{html.words(page.label)}</b> {_status(page.status)} '
        f'<span class="wfr-soft">{html.words(" · ".join([*_timing(page), page.run]))}</span></div>'
    )
    facts = "".join(_fact(*fact) for fact in page.facts)
    notes = "".join(f'<div class="wfr-mark wfr-note">{html.prose(note)}</div>' for note in page.notes)
    return _wrapped(f"{head}<div class=wfr-facts>{facts}</div>{notes}")


def pairs_text(title: str, pairs: Sequence[Pair], most: int) -> str:
    """What differs between two runs, as lines of text.

    Args:
        title: which runs they are.
        pairs: the executions that differ.
        most: pairs that are drawn; the others are counted.
    """
    lines = [f"{title} · {differing(pairs)}"]
    for pair in pairs[:most]:
        lines.append(f"  {pair_label(pair)}  {_how(pair)}".rstrip())
        if pair.differences:
            lines += [f"    {line}" for line in as_text(pair.differences, _FEW).split("\n")]
    if len(pairs) > most:
        lines.append(f"  … and {f.count(len(pairs) - most)} more")
    return "\n".join(lines)


def pairs_html(title: str, pairs: Sequence[Pair], most: int) -> str:
    """What differs between two runs, as HTML.

    Args:
        title: which runs they are.
        pairs: the executions that differ.
        most: pairs that are drawn; the others are counted.
    """
    head = f'<div><b>{html.words(title)}</b> <span class="wfr-soft">{differing(pairs)}</span></div>'
    rows = "".join(
        f'<div class="wfr-pair"><span>{html.words(pair_label(pair))}</span><div>'
        f'<span class="wfr-soft">{html.words(_how(pair))}</span>'
        f"{as_html(pair.differences, _FEW) if pair.differences else ''}</div></div>"
        for pair in pairs[:most]
    )
    if len(pairs) > most:
        rows += f'<div class="wfr-soft">… and {f.count(len(pairs) - most)} more</div>'
    return f"{html.style()}{_wrapped(head + rows)}"


def differing(pairs: Sequence[Pair]) -> str:
    """How many executions differ, and in what.

    Args:
        pairs: the executions that differ.
    """
    if not pairs:
        return "no execution differs"
    only_old = sum(pair.new is None for pair in pairs)
    only_new = sum(pair.old is None for pair in pairs)
    both = len(pairs) - only_old - only_new
    counted = (
        (both, "differs" if both == 1 else "differ"),
        (only_old, "in the first only"),
        (only_new, "in the second only"),
    )
    return ", ".join(f"{f.count(count)} {what}" for count, what in counted if count)


def pair_label(pair: Pair) -> str:
    """``work[3]``, or ``work[3] → work[4]`` where the two runs number it differently.

    Args:
        pair: the two executions.
    """
    labels = [f"{pair.step}[{index}]" for index in (pair.old, pair.new) if index is not None]
    return labels[0] if len(set(labels)) == 1 else " → ".join(labels)


def _how(pair: Pair) -> str:
    if pair.new is None:
        return "in the first only"
    if pair.old is None:
        return "in the second only"
    inputs = "same input" if pair.same_input else "other input"
    return f"{inputs}, {'another outcome' if pair.differences else 'the same outcome'}"


def _timing(page: ExecutionPage) -> list[str]:
    many = [f"{page.attempts} attempts"] if page.attempts > 1 else []
    return [f.duration(page.seconds), *many]


def _spans(rows: Sequence[ExecutionRow]) -> list[tuple[float, float]]:
    return [(row.started, row.ended) for row in rows]


def _status_words(row: ExecutionRow) -> str:
    return f"{row.status} ×{row.attempts}" if row.attempts > 1 else row.status


def _cells(row: ExecutionRow, first: float, axis: Axis) -> tuple[str, ...]:
    begin = min(_LANE - 1, int(axis.share(row.started) * _LANE))
    length = max(1, round((axis.share(row.ended) - axis.share(row.started)) * _LANE))
    bar = " " * begin + _BLOCKS.get(row.status, "▒") * min(length, _LANE - begin)
    status = f"{SIGNS.get(row.status, ' ')} {_status_words(row)}"
    took = f.duration(row.ended - row.started)
    said = f.fit(f.clean(row.said), _WHY if row.status in _UNDONE else _SAID)
    return (f.fit(row.label, 28), status, f.duration(row.started - first), took, f"{bar:<{_LANE}}", said)


def _aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    padded = [
        f"{' ' * (width - f.cells(cell))}{cell}"
        if name in ("after", "took")
        else f"{cell}{' ' * (width - f.cells(cell))}"
        for name, cell, width in zip(_COLUMNS, row, widths, strict=False)
    ]
    return [*padded, row[5]]


def _rest(rest: Sequence[tuple[str, int]]) -> str:
    whole = sum(count for _, count in rest)
    return f"… and {f.count(whole)} more: {', '.join(f'{f.count(count)} {status}' for status, count in rest)}"


def _cut(axis: Axis) -> str:
    return f"idle time left out of the bars: {f.duration(axis.cut_s)}" if axis.cut_s >= 1 else ""


def _wrapped(inside: str) -> str:
    return f'<div class="wfr mathjax_ignore tex2jax_ignore">{inside}</div>'


def _fact(name: str, said: str) -> str:
    shown = f.clean(said, lines=True)
    held = (
        f"<pre>{escape(shown)}</pre>"
        if name in ("input", "output", "raised", "at") or "\n" in shown
        else escape(shown)
    )
    return f'<span class="wfr-soft">{escape(name)}</span><div>{held}</div>'


def _status(word: str) -> str:
    kind = {"reused": "done", "waiting": "running"}.get(word.split(" ")[0], word.split(" ")[0])
    sign = SIGNS.get(word.split(" ")[0], "")
    return f'<span class="wfr-status wfr-is-{kind}"><i aria-hidden="true">{sign}</i> {escape(word)}</span>'


def _table(
    rows: Sequence[ExecutionRow], rest: Sequence[tuple[str, int]], spans: Sequence[tuple[float, float]]
) -> str:
    axis, first = Axis(spans), min(begin for begin, _ in spans)
    head = "".join(f'<th scope="col" class="{_CLASSES.get(name, "")}">{name}</th>' for name in _COLUMNS)
    body = "".join(_table_row(row, first, axis) for row in rows)
    below = "".join(
        f'<div class="wfr-soft">{line}</div>' for line in (_rest(rest) if rest else "", _cut(axis)) if line
    )
    return (
        f'<div class="wfr-scroll"><table class="wfr-steps wfr-runs wfr-list"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{below}"
    )


def _table_row(row: ExecutionRow, first: float, axis: Axis) -> str:
    left, right = axis.share(row.started), axis.share(row.ended)
    bar = (
        f'<div class="wfr-lane"><i class="wfr-{_BARS.get(row.status, "running")}" '
        f'style="left:{100 * min(left, 0.985):.1f}%;width:{100 * (right - left):.1f}%"></i></div>'
    )
    wraps = "wfr-soft wfr-why" if row.status in _UNDONE else "wfr-soft wfr-cut"
    said = f'<div class="{wraps}" title="{html.words(row.said)}">{html.words(row.said, 300)}</div>'
    return (
        f"<tr><td>{html.words(row.label, 120)}</td><td>{_status(_status_words(row))}</td>"
        f'<td class="wfr-num wfr-after">{f.duration(row.started - first)}</td>'
        f'<td class="wfr-num">{f.duration(row.ended - row.started)}</td>'
        f'<td class="wfr-when">{bar}</td><td class="wfr-said">{said}</td></tr>'
    )
