"""Runs as a table, for ``%wfruns`` and the shell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..records import Cost
from . import costs, html
from . import figures as f

_RIGHT = {"progress", "step time", "attempts", "lives", "tokens", "saved", "age", "size"}
_WIDE = 8
"""From more columns on, a table is drawn closer."""


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
        cost: what it has cost.
    """

    id: str
    name: str
    workflow: str
    status: str
    progress: str = ""
    age_s: float = 0.0
    size_bytes: int | None = None
    note: str = ""
    cost: Cost = field(default_factory=Cost)


def runs_text(rows: Sequence[RunRow]) -> str:
    """Runs as aligned lines, each note below its run."""
    if not rows:
        return "no runs"
    columns = _columns(rows)
    table = [columns, *([cells[name] for name in columns] for cells in map(_cells, rows))]
    table = [[f.fit(cell, 32) for cell in line] for line in table]
    widths = [max(f.cells(line[i]) for line in table) for i in range(len(columns))]
    lines: list[str] = []
    for number, line in enumerate(table):
        padded = (_pad(cell, width, name) for cell, width, name in zip(line, widths, columns, strict=True))
        lines.append("  ".join(padded).rstrip())
        note = rows[number - 1].note if number else ""
        if note:
            lines.append(f"  note: {f.clean(note)}")
    return "\n".join(lines)


def runs_html(rows: Sequence[RunRow]) -> str:
    """Runs as an HTML table in the board's look."""
    if not rows:
        return f'{html.style()}<div class="wfr wfr-soft">no runs</div>'
    columns = _columns(rows)
    head = "".join(f'<th scope="col"{_right(name)}>{name}</th>' for name in columns)
    body = "".join(_row(row, columns) for row in rows)
    classes = "wfr-steps wfr-runs wfr-list" + (" wfr-wide" if len(columns) > _WIDE else "")
    return (
        f'{html.style()}<div class="wfr mathjax_ignore tex2jax_ignore"><div class="wfr-scroll">'
        f'<table class="{classes}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></div>'
    )


def _columns(rows: Sequence[RunRow]) -> list[str]:
    """The columns, without those that have nothing to say of any run."""
    workflows = {(row.name, row.workflow) for row in rows}
    shown = {
        # A name says enough where it stands for one class.
        "workflow": len(workflows) > len({name for name, _ in workflows}),
        "step time": any(row.cost.time_s for row in rows),
        # Without a failure there is one for each execution, and the progress says as much.
        "attempts": any(row.cost.failures or row.cost.cut_off.executions for row in rows),
        "lives": any(row.cost.lives > 1 for row in rows),
        "tokens": any(row.cost.tokens for row in rows),
        "saved": any(costs.saved(row.cost).executions for row in rows),
    }
    return [name for name in _cells(rows[0]) if shown.get(name, True)]


def _cells(row: RunRow) -> dict[str, str]:
    cost, saved = row.cost, costs.saved(row.cost)
    return {
        "id": f.clean(row.id[:8]),
        "name": f.clean(row.name),
        "workflow": f.clean(row.workflow),
        "status": f.clean(f"{f.STATUS_SIGNS.get(row.status, ' ')} {row.status}"),
        "progress": f.clean(row.progress),
        "step time": f.duration(cost.time_s) if cost.time_s else "",
        "attempts": f.count(cost.attempts) if cost.attempts else "",
        "lives": f.count(cost.lives) if cost.lives else "",
        "tokens": costs.amount(cost.tokens.total) if cost.tokens else "",
        "saved": costs.together(saved) if saved.executions else "",
        "age": f.age(row.age_s),
        "size": "" if row.size_bytes is None else f.size(row.size_bytes),
    }


def _row(row: RunRow, columns: Sequence[str]) -> str:
    cells = _cells(row)
    drawn = {
        "id": f'<td title="{html.words(row.id)}">{html.words(cells["id"])}</td>',
        "name": f'<td class="wfr-wraps">{html.words(cells["name"], 120)}</td>',
        "workflow": f'<td class="wfr-wraps">{html.words(cells["workflow"], 120)}</td>',
        "status": f"<td>{html.status(f.clean(row.status))}</td>",
    }
    said = {name: html.words(cell) for name, cell in cells.items()}
    numbers = {name: f'<td class="wfr-num">{cell}</td>' for name, cell in said.items()}
    numbers["saved"] = f'<td class="wfr-num wfr-wraps">{_unbroken(said["saved"])}</td>'
    line = f"<tr>{''.join({**numbers, **drawn}[name] for name in columns)}</tr>"
    if row.note:
        note = html.prose(row.note)
        cell = f'<td colspan="{len(columns) - 1}" class="wfr-soft wfr-wraps">'
        line += f'<tr><td></td>{cell}<div class="wfr-fill">{note}</div></td></tr>'
    return line


def _unbroken(cell: str) -> str:
    """A cell whose parts may stand below each other, none of them broken."""
    return " · ".join(f'<span class="wfr-part">{part}</span>' for part in cell.split(" · "))


def _pad(cell: str, width: int, column: str) -> str:
    space = " " * (width - f.cells(cell))
    return space + cell if column in _RIGHT else cell + space


def _right(column: str) -> str:
    return ' class="wfr-num"' if column in _RIGHT else ""
