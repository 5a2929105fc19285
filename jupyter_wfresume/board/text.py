"""A run as text: one line while it runs, a block for the record."""

from __future__ import annotations

from collections.abc import Sequence

from ..records import ErrorView, FailureView, RunView, StepView
from . import figures as f

_BAR = 20
_NAME = 28
_LINE = 200
CHILDREN = 5
"""Lines that the runs below a run may take."""


def one_line(view: RunView, width: int = 100) -> str:
    """A run in one line, for a terminal.

    Args:
        view: the run at this moment.
        width: columns the line may take.
    """
    pieces = [f.shorten(f.clean(view.name), _NAME), view.status]
    finished, total = f.progress(view)
    if total:
        pieces.append(f"{f.count(finished)} of {f.count(total)}")
    if view.stopping_s is not None:
        pieces.append(f.stopping(view))
    elif view.status == "running":
        busy = max(view.steps, key=lambda step: step.running, default=None)
        if busy is not None and busy.running > 0:
            pieces.append(f"{f.shorten(f.clean(busy.name), 16)} {f.count(busy.running)} running")
    failed = sum(max(0, step.failed) for step in view.steps)
    if failed:
        pieces.append(f"{f.count(failed)} failed")
    left_out = sum(max(0, step.skipped) for step in view.steps)
    if left_out:
        pieces.append(f"{f.count(left_out)} left out")
    pieces.append(f.timing(view))
    return f.fit(" · ".join(pieces), width)


def block(view: RunView, *, as_of: str = "") -> str:
    """A run in several lines: the record of it that stays, and the text form of its output.

    Args:
        view: the run at this moment.
        as_of: time of day of this picture, where a reader may meet it after the kernel's end.
    """
    lines = [_head(view)]
    lines += [line for line in (f.stopping(view), f.saved(view)) if line]
    lines += _steps(view)
    for group in f.failures(view):
        lines += _failure(view, group)
    lines += [line for line in (f.next_move(view, as_of),) if line]
    lines += [_question(view, i) for i in range(len(view.questions))]
    lines += [noted(note) for note in view.notes]
    lines += children(view)
    lines.append(foot(view))
    return "\n".join(lines)


def noted(note: str) -> str:
    """A note, in a line of its own; its end says what to do, so it is seldom cut."""
    return f"note: {f.shorten(f.clean(note), 2 * _LINE)}"


def foot(view: RunView) -> str:
    """How this life began, and the run's short id."""
    return " · ".join(piece for piece in (f.clean(view.headline), f"run {f.clean(view.run_id)[:8]}") if piece)


def children(view: RunView, indent: str = "  ") -> list[str]:
    """The runs that steps run themselves, a line each and a sum for the rest."""
    return [f"{indent}↳ {line}" for line in rows(*f.pick(view.children, CHILDREN))]


def rows(lines: Sequence[RunView], rest: Sequence[RunView]) -> list[str]:
    """Runs as single lines, and a sum of those that get none."""
    drawn = [one_line(view, _LINE) for view in lines]
    return [*drawn, f"and {f.count(len(rest))} more: {f.tally(rest)}"] if rest else drawn


def bar(step: StepView, width: int = _BAR) -> str:
    """A step's bar in block characters."""
    given = f.fill(f.parts(step), f.total(step), width)
    drawn = "".join(sign * cells for (_, sign), cells in zip(f.STATES, given, strict=True))
    return drawn + "·" * (width - len(drawn))


def legend(view: RunView) -> str:
    """What the blocks of the bars mean, with the run's counts."""
    whole = f.parts(f.together(view.steps))
    pairs = zip(f.STATES, whole, strict=True)
    return "  ".join(f"{sign} {state} {f.count(amount)}" for (state, sign), amount in pairs if amount)


def _head(view: RunView) -> str:
    share = f.percent(view)
    pieces = [f.shorten(f.clean(view.name), 60)]
    if view.workflow and view.workflow != view.name:
        pieces.append(f.shorten(f.clean(view.workflow), 60))
    pieces.append(f"{f.STATUS_SIGNS.get(view.status, '')} {view.status}".strip())
    if share is not None:
        pieces.append(f"{share} %")
    pieces.append(f.timing(view))
    return " · ".join(pieces)


def _steps(view: RunView) -> list[str]:
    if not view.steps:
        return []
    table = [
        (f.fit(f.clean(step.name), _NAME), f.count(f.finished(step)), f.count(f.total(step)), step)
        for step in view.steps
    ]
    name_w = max(f.cells(name) for name, _, _, _ in table)
    done_w = max(len(done) for _, done, _, _ in table)
    total_w = max(len(total) for _, _, total, _ in table)
    lines = [
        f"  {name}{' ' * (name_w - f.cells(name))}  {done:>{done_w}} / {total:<{total_w}}  "
        f"{bar(step)}  {f.shorten(' · '.join(f.step_info(step)), 80)}".rstrip()
        for name, done, total, step in table
    ]
    key = legend(view)
    return [*lines, f"  {key}"] if key else lines


def _failure(view: RunView, group: FailureView) -> list[str]:
    if not group.errors:
        return [f"✕ {f.many(group.count, 'execution')} failed otherwise"]
    error = next((one for one in group.errors if one.where), group.errors[0])
    many = f" · {f.many(group.count, 'execution')}" if group.count > 1 else ""
    lines = [f"✕ {f.shorten(f.title(group), _LINE)}{many}"]
    place = f.clean(error.step) if many else f"{f.clean(error.step)}[{error.index}]"
    lines.append(f"  in     {place}{': ' + f.shorten(f.clean(error.where), _LINE) if error.where else ''}")
    if many:
        labels = [f"{f.clean(one.step)}[{one.index}]" for one in group.errors]
        width = max(map(len, labels))
        lines += [
            f"  {label:<{width}}  {f.shorten(_said(group, one), _LINE)}".rstrip()
            for label, one in zip(labels, group.errors, strict=True)
        ]
    elif error.input:
        lines.append(f"  input  {f.shorten(f.clean(error.input), _LINE)}")
    if group.count > len(group.errors):
        magic = f.all_failed(view, error)
        lines.append(f"  … and {f.count(group.count - len(group.errors))} more: {magic}")
    moves = " · ".join(f"{what}: {magic}" for what, magic in f.moves(view, group))
    return [*lines, f"  {moves}"] if moves else lines


def _said(group: FailureView, error: ErrorView) -> str:
    return " · ".join(said for said in (f.message(group, error), f.clean(error.input)) if said)


def _question(view: RunView, position: int) -> str:
    question = view.questions[position]
    asked_by = f" ({f.clean(question.step)})" if question.step else ""
    text = f.shorten(f.clean(question.text), _LINE)
    return f"? {text}{asked_by} · answer with: {f.answer(view, question)}"
