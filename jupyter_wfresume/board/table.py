"""Runs as a table, for ``%wfruns`` and the shell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import figures as f
from . import html

_COLUMNS = ("id", "name", "workflow", "status", "progress", "age", "size")
_RIGHT = {"progress", "age", "size"}


@dataclass(frozen=True)
class RunRow:
    """One run in a list of runs.

    Args:
        id: run id; its first characters are shown.
        name: NAME.
        workflow: the workflow's class name.
        status: the contract's word.
        progress: such as ``60 of 100``.
        age_s: seconds since the run last changed.
        size_bytes: space it takes in the store, or None where it was not counted.
        note: a warning to keep in sight, or empty.
    """

    id: str
    name: str
    workflow: str
    status: str
    progress: str = ""
    age_s: float = 0.0
    size_bytes: int | None = None
    note: str = ""


def runs_text(rows: Sequence[RunRow]) -> str:
    """Runs as aligned lines, each note below its run."""
    if not rows:
        return "no runs"
    table = [_COLUMNS, *(_cells(row) for row in rows)]
    table = [tuple(f.fit(cell, 32) for cell in line) for line in table]
    widths = [max(f.cells(line[i]) for line in table) for i in range(len(_COLUMNS))]
    lines: list[str] = []
    for number, line in enumerate(table):
        padded = (_pad(cell, width, name) for cell, width, name in zip(line, widths, _COLUMNS, strict=True))
        lines.append("  ".join(padded).rstrip())
        note = rows[number - 1].note if number else ""
        if note:
            lines.append(f"  note: {f.clean(note)}")
    return "\n".join(lines)


def runs_html(rows: Sequence[RunRow]) -> str:
    """Runs as an HTML table in the board's look."""
    if not rows:
        return f'{html.style()}<div class="wfr wfr-soft">no runs</div>'
    head = "".join(f'<th scope="col"{_right(name)}>{name}</th>' for name in _COLUMNS)
    body = "".join(_row(row) for row in rows)
    widths = ("13%", "20%", "18%", "14%", "14%", "13%", "8%")
    columns = "".join(f'<col style="width:{width}">' for width in widths)
    return (
        f'{html.style()}<div class="wfr mathjax_ignore tex2jax_ignore"><table class="wfr-steps wfr-runs">'
        f"<colgroup>{columns}</colgroup><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cells(row: RunRow) -> tuple[str, ...]:
    amount = "" if row.size_bytes is None else f.size(row.size_bytes)
    status = f"{f.STATUS_SIGNS.get(row.status, ' ')} {row.status}"
    words = (row.id[:8], row.name, row.workflow, status, row.progress)
    return (*(f.clean(word) for word in words), f.age(row.age_s), amount)


def _row(row: RunRow) -> str:
    run_id, name, workflow, _, progress, age, amount = _cells(row)
    numbers = "".join(f'<td class="wfr-num">{html.words(number)}</td>' for number in (progress, age, amount))
    drawn = (
        f'<tr><td title="{html.words(row.id)}">{html.words(run_id)}</td>{html.cut(name, 120, tag="td")}'
        f"{html.cut(workflow, 120, tag='td')}<td>{html.status(f.clean(row.status))}</td>{numbers}</tr>"
    )
    if row.note:
        note = html.words(row.note)
        drawn += f'<tr><td></td><td colspan="6" class="wfr-soft" title="{note}">{note}</td></tr>'
    return drawn


def _pad(cell: str, width: int, column: str) -> str:
    space = " " * (width - f.cells(cell))
    return space + cell if column in _RIGHT else cell + space


def _right(column: str) -> str:
    return ' class="wfr-num"' if column in _RIGHT else ""
