"""What runs have cost, in words and as a table by step."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ..records import Cost, Saved, StepCost, Tokens
from . import figures as f

_COLUMNS = ("step", "executed", "attempts", "failed", "left out", "step time", "tokens", "saved")


def amount(number: int) -> str:
    """A number in few places: ``812``, ``12.3 k``, ``1.2 M``."""
    if number < 10_000:
        return f.count(number)
    shown, unit = (number / 1e3, "k") if number < 999_500 else (number / 1e6, "M")
    return f"{shown:.1f} {unit}" if shown < 99.95 else f"{f.count(round(shown))} {unit}"


def saved(cost: Cost | StepCost) -> Saved:
    """What resume and reuse saved together."""
    return cost.saved_by_resume + cost.saved_by_reuse


def tokens(spent: Tokens) -> str:
    """``12,345 tokens (10,000 prompt, 2,345 completion)``."""
    parts = f"{f.count(spent.prompt)} prompt, {f.count(spent.completion)} completion"
    return f"{f.many(spent.total, 'token')} ({parts})"


def facts(cost: Cost) -> list[tuple[str, str]]:
    """What a run has cost and what it was saved, by name.

    Args:
        cost: with or without its steps.
    """
    lives = f.many(cost.lives, "life").replace("lifes", "lives")
    tries = f"{f.many(cost.attempts, 'attempt')} in {lives}, {f.duration(cost.time_s)} of work"
    said = [("cost", f"{tries}, {f.duration(cost.alive_s)} alive")] if cost.attempts else []
    if cost.tokens:
        said.append(("tokens", tokens(cost.tokens)))
    if cost.cut_off.executions:
        said.append(("cut off", f"{_together(cost.cut_off)}, by a stop or the run's end"))
    if cost.saved_by_resume.executions:
        said.append(("resume", f"saved {_together(cost.saved_by_resume)}"))
    if cost.saved_by_reuse.executions:
        said.append(("reuse", f"saved {_together(cost.saved_by_reuse)}"))
    if cost.left_out:
        said.append(("left out", f"{f.many(cost.left_out, 'execution')}, by a person"))
    return said


def together(some: Saved) -> str:
    """``79 executions · 46 s``."""
    return f"{f.many(some.executions, 'execution')} · {f.duration(some.time_s)}"


def _together(some: Saved) -> str:
    more = f", {f.many(some.tokens.total, 'token')}" if some.tokens else ""
    return f"{f.many(some.executions, 'execution')}, {f.duration(some.time_s)}{more}"


def steps_text(steps: Sequence[StepCost]) -> str:
    """Costs by step as aligned lines.

    Args:
        steps: in the order in which they are shown.
    """
    table = _table(steps)
    widths = [max(f.cells(line[i]) for line in table) for i in range(len(table[0]))]
    return "\n".join(
        "  ".join(_pad(cell, widths[number], number) for number, cell in enumerate(line)).rstrip()
        for line in table
    )


def steps_html(steps: Sequence[StepCost]) -> str:
    """Costs by step as a table in the board's look.

    Args:
        steps: in the order in which they are shown.
    """
    head, *lines = _table(steps)
    drawn = ["".join(_cell(cell, number) for number, cell in enumerate(line)) for line in lines]
    body = "".join(f"<tr>{line}</tr>" for line in drawn)
    columns = "".join(
        f'<th scope="col"{" class=wfr-num" if number else ""}>{name}</th>' for number, name in enumerate(head)
    )
    head_row = f"<thead><tr>{columns}</tr></thead>"
    table = f'<table class="wfr-steps wfr-runs wfr-list">{head_row}<tbody>{body}</tbody></table>'
    return f'<div class="wfr-scroll">{table}</div>'


def _table(steps: Sequence[StepCost]) -> list[tuple[str, ...]]:
    """Head and lines, without the columns that have nothing to say of any step."""
    lines = [_cells(step) for step in steps]
    kept = [number for number in range(len(_COLUMNS)) if number < 2 or any(line[number] for line in lines)]
    return [tuple(line[number] for number in kept) for line in (_COLUMNS, *lines)]


def _cells(step: StepCost) -> tuple[str, ...]:
    again = step.attempts > step.executions or step.failures
    kept = saved(step)
    return (
        f.clean(step.step),
        f.count(step.executions),
        f.count(step.attempts) if again else "",
        f.count(step.failures) if step.failures else "",
        f.count(step.left_out) if step.left_out else "",
        f.duration(step.time_s) if step.attempts else "",
        amount(step.tokens.total) if step.tokens else "",
        together(kept) if kept.executions else "",
    )


def _pad(cell: str, width: int, number: int) -> str:
    space = " " * (width - f.cells(cell))
    return space + cell if number else cell + space


def _cell(cell: str, number: int) -> str:
    return f'<td class="wfr-num">{escape(cell)}</td>' if number else f"<td>{escape(cell)}</td>"
