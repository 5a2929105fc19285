"""Numbers, names and shares as people read them; the same in text and HTML."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence

from ..records import ErrorView, FailureView, QuestionView, RunView, StepView
from ..typed import command, resolving

STATUS_SIGNS: dict[str, str] = {
    "new": "○",
    "running": "●",
    "paused": "‖",
    "waiting": "?",
    "stuck": "!",
    "failed": "✕",
    "timed out": "◷",
    "done": "✓",
}
"""A sign beside each status, so that colour is never the only difference."""

STATES: tuple[tuple[str, str], ...] = (
    ("restored", "▓"),
    ("reused", "▚"),
    ("done", "█"),
    ("left out", "–"),
    ("failed", "✕"),
    ("running", "▒"),
    ("queued", "░"),
)
"""The parts of a bar from left to right, each with the block that draws it as text."""

_SELDOM = {"reused", "left out"}
"""States that a key names only where there is one."""

_MOVES: dict[str, str] = {
    "paused": "paused: run this cell again to go on",
    "waiting": "waiting for a person: answer, then run this cell again if it has ended",
    "stuck": "stuck: nothing runs and nobody is waited for; "
    "check that a step takes each event, then run this cell again",
    "failed": "failed: fix the step and run this cell again",
    "timed out": "timed out: give it more time with --timeout and run this cell again",
}

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def count(number: int) -> str:
    """A whole number with thousands apart: ``1,234``."""
    return f"{number:,}"


def many(number: int, noun: str) -> str:
    """A number with its noun: ``1 execution``, ``60 executions``."""
    return f"{count(number)} {noun}" if number == 1 else f"{count(number)} {noun}s"


def duration(seconds: float) -> str:
    """Seconds as ``20 ms``, ``0.1 s``, ``12 s``, ``1 min 04 s``, ``2 h 05 min`` or ``3 d 04 h``."""
    if not math.isfinite(seconds):
        return "?"
    seconds = max(0.0, seconds)
    if 0 < seconds < 0.095:
        return f"{max(1, round(seconds * 1000))} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    minutes = round(seconds / 60)
    if minutes < 24 * 60:
        return f"{minutes // 60} h {minutes % 60:02d} min"
    hours = round(seconds / 3600)
    return f"{hours // 24} d {hours % 24:02d} h"


def about(seconds: float) -> str:
    """An estimate, rounded so that it does not twitch: to 5 s, 10 s or whole minutes."""
    if not math.isfinite(seconds):
        return "?"
    if seconds < 10:
        return f"{max(1, math.ceil(seconds))} s"
    step = 5 if seconds < 60 else 10 if seconds < 600 else 60
    rounded = math.ceil(seconds / step) * step
    if 600 <= rounded < 3600:
        return f"{rounded // 60} min"
    return duration(rounded)


def size(size_bytes: int) -> str:
    """Bytes as ``812 B``, ``1.2 kB`` or ``34 MB`` (powers of ten)."""
    amount = float(max(0, size_bytes))
    if amount < 1000:
        return f"{int(amount)} B"
    for unit in ("kB", "MB", "GB"):
        amount /= 1000
        if amount < 999.5:
            return f"{amount:.1f} {unit}" if amount < 9.95 else f"{amount:.0f} {unit}"
    return f"{amount / 1000:.1f} TB"


def age(seconds: float) -> str:
    """How long ago, in one unit: ``just now``, ``4 min ago``, ``3 h ago``, ``12 d ago``."""
    if seconds < 10:
        return "just now"
    for limit, unit, name in ((60, 1, "s"), (3600, 60, "min"), (86400, 3600, "h")):
        if seconds < limit:
            return f"{int(seconds // unit)} {name} ago"
    return f"{count(int(seconds // 86400))} d ago"


def clean(text: str, *, lines: bool = False) -> str:
    """Text without terminal escapes, control characters and direction overrides.

    Args:
        text: anything a user's program may have produced.
        lines: keep line ends; otherwise they become spaces.
    """
    text = _ANSI.sub("", text).replace("\t", " ").replace("\r\n", "\n").replace("\r", "\n")
    if not lines:
        text = " ".join(text.split())
    # Cc and Cf can move the cursor or turn the reading direction of what stands beside them.
    return "".join(c for c in text if c == "\n" or unicodedata.category(c) not in ("Cc", "Cf", "Cs"))


def shorten(text: str, width: int) -> str:
    """At most ``width`` characters, the last an ellipsis where something was cut."""
    return text if len(text) <= width else text[: max(0, width - 1)].rstrip() + "…"


def cells(text: str) -> int:
    """Columns that text takes in a terminal; wide characters take two."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in text)


def fit(text: str, width: int) -> str:
    """Text cut to at most ``width`` terminal columns, with an ellipsis."""
    if cells(text) <= width:
        return text
    while text and cells(text) > width - 1:
        text = text[:-1]
    return text.rstrip() + "…" if width > 0 else ""


def parts(step: StepView) -> tuple[int, ...]:
    """Work items of a step in each of `STATES`, never negative."""
    resumed = step.restored - step.reused
    amounts = (resumed, step.reused, step.done, step.skipped, step.failed, step.running, step.queued)
    return tuple(max(0, amount) for amount in amounts)


def key(step: StepView) -> list[tuple[str, int]]:
    """What a key names, each with its work items: what is usual always, the rest where there is one."""
    pairs = [(state, amount) for (state, _), amount in zip(STATES, parts(step), strict=True)]
    named = {"reused"} if step.reused >= step.restored > 0 else {"restored"}
    return [(state, n) for state, n in pairs if n or state in named or state not in {*_SELDOM, "restored"}]


def total(step: StepView) -> int:
    """Work items of a step known so far, at least those that are in some state."""
    return max(step.total, sum(parts(step)))


def finished(step: StepView) -> int:
    """Work items of a step that have a result, in this life or an earlier one."""
    return max(0, step.done) + max(0, step.restored)


def together(steps: Iterable[StepView]) -> StepView:
    """All steps as one line, for the bar of the whole run."""
    steps = tuple(steps)
    sums = [sum(column) for column in zip(*(parts(step) for step in steps), strict=True)] or [0] * len(STATES)
    resumed, reused, done, skipped, failed, running, queued = sums
    return StepView(
        "",
        done=done,
        restored=resumed + reused,
        reused=reused,
        skipped=skipped,
        failed=failed,
        running=running,
        queued=queued,
        retrying=sum(step.retrying for step in steps),
        total=sum(total(step) for step in steps),
    )


def progress(view: RunView) -> tuple[int, int]:
    """``(finished, total)`` as people count: the fanned-out steps where there are any, else all steps."""
    fanned = [step for step in view.steps if total(step) > 1] or list(view.steps)
    return sum(map(finished, fanned)), sum(map(total, fanned))


def percent(view: RunView) -> int | None:
    """Share of the work of which nothing is left to do; 100 only when the run is done, None where unknown."""
    whole = together(view.steps)
    if view.status == "done":
        return 100
    if whole.total == 0:
        return None
    # A run whose known work is all finished may still be stuck, or about to make more.
    return min(99, round(100 * (finished(whole) + whole.skipped) / whole.total))


def fill(amounts: Sequence[int], whole: int, width: int) -> list[int]:
    """Shares a bar of ``width`` cells; what exists gets a cell, and full means all of it.

    Args:
        amounts: work items in each state.
        whole: work items in the bar, at least their sum.
        width: cells to share out.
    """
    if whole <= 0:
        return [0] * len(amounts)
    exact = [amount * width / whole for amount in amounts]
    given = [max(1, int(share)) if share else 0 for share in exact]
    most = width if sum(amounts) >= whole else width - 1
    target = max(sum(1 for share in exact if share), min(most, round(sum(exact))))
    while sum(given) < target:
        given[max(range(len(given)), key=lambda i: exact[i] - given[i])] += 1
    while sum(given) > target:
        given[max(range(len(given)), key=lambda i: given[i])] -= 1
    return given


def timing(view: RunView) -> str:
    """``1 min 04 s, about 40 s left``."""
    spent = duration(view.elapsed_s)
    if view.left_s is None or view.status != "running" or view.stopping_s is not None:
        return spent
    return f"{spent}, about {about(view.left_s)} left"


def saved(view: RunView) -> str:
    """``saved by resume: 60 executions, 4 min 10 s``, or by reuse, or by both; or nothing."""
    if view.saved_executions <= 0:
        return ""
    reused, took = view.reused_executions, duration(view.saved_s)
    resumed = view.saved_executions - reused
    if reused > 0 and resumed > 0:
        return f"saved: {many(resumed, 'execution')} by resume, {count(reused)} by reuse, {took}"
    return f"saved by {'reuse' if reused else 'resume'}: {many(view.saved_executions, 'execution')}, {took}"


def stopping(view: RunView) -> str:
    """The countdown after a Stop, with how to cut it short; or nothing."""
    if view.stopping_s is None:
        return ""
    under_way = sum(max(0, step.running) for step in view.steps)
    left = max(0, math.ceil(view.stopping_s))
    what = many(under_way, "running execution") if under_way else "running executions"
    have = "has" if under_way == 1 else "have"
    return f"stopping · {what} {have} {left:>2} s to finish · stop again to cancel at once"


def next_move(view: RunView, as_of: str = "") -> str:
    """The sentence that says where the run stands and what to do next.

    Args:
        view: the run.
        as_of: time of day of a picture of a running run, which may outlive its kernel.
    """
    if view.sentence:
        return clean(view.sentence)
    if view.status in ("new", "running"):
        seen = f"seen {view.status} at {as_of}; if its kernel has stopped, run this cell again to go on"
        return seen if as_of else ""
    return _MOVES.get(view.status, "")


def answer(view: RunView, question: QuestionView) -> str:
    """The magic that answers a question: ``%wfanswer enrich[1] VALUE``."""
    name = clean(view.name)
    run = name if name and not any(c.isspace() or c in "[]'\"" for c in name) else clean(view.run_id)[:8]
    number = f"[{question.index}]" if len(view.questions) > 1 else ""
    return command("%wfanswer", f"{run}{number}", "VALUE", store=view.store)


def moves(view: RunView, group: FailureView) -> tuple[tuple[str, str], ...]:
    """What a person may do about a failure, each with the magic that does it; nothing where no step failed.

    A side effect without an outcome comes first: nobody asks for it again once its execution is left out.

    Args:
        view: the run.
        group: executions that failed.
    """
    error = next((one for one in group.errors if one.unclear), group.errors[0])
    # By id: the name stands for its latest run, which need not be this one.
    run, place = clean(view.run_id)[:8], f"{clean(error.step)}[{error.index}]"
    unclear = map(clean, error.unclear)
    settle = tuple((f"say first what became of {one}", resolving(run, one, view.store)) for one in unclear)
    leave = "then leave it out" if settle else "leave it out"
    said = (("look", "%wfshow"), ("try it alone", "%wfreplay"), (leave, "%wfskip"))
    found = tuple((what, command(magic, run, place, store=view.store)) for what, magic in said)
    return (*settle, *found) if error.step else ()


def all_failed(view: RunView, error: ErrorView) -> str:
    """The magic that lists all of a step's failures: ``%wfshow 5b03ea30 work[failed]``."""
    return command("%wfshow", clean(view.run_id)[:8], f"{clean(error.step)}[failed]", store=view.store)


def failures(view: RunView) -> tuple[FailureView, ...]:
    """What failed for good, by error: what was set aside, or else what ended the run."""
    if view.failures or view.error is None:
        return view.failures
    return (FailureView((view.error,), 1),)


def title(group: FailureView) -> str:
    """What executions that failed have in common: their error, or its type alone where texts differ."""
    return clean(group.kind or group.errors[0].summary)


def message(group: FailureView, error: ErrorView) -> str:
    """What one of them says besides their title, or nothing."""
    said = clean(error.summary)
    return said.removeprefix(title(group)).removeprefix(":").strip() if group.kind else ""


def step_info(step: StepView) -> list[str]:
    """What stands after a step's bar: typical time, what is under way or left out, its note."""
    each = " each" if total(step) > 1 else ""
    info = [] if step.typical_s is None else [f"{duration(step.typical_s)}{each}"]
    info += [
        f"{count(amount)} {word}"
        for amount, word in (
            (step.running, "running"),
            (step.retrying, "retrying"),
            (step.failed, "failed"),
            (step.skipped, "left out"),
        )
        if amount > 0
    ]
    if step.note:
        info.append(clean(step.note))
    return info


def tally(views: Sequence[RunView]) -> str:
    """How many runs are in each status: ``10 done, 2 running``."""
    counts: dict[str, int] = {}
    for view in views:
        counts[view.status] = counts.get(view.status, 0) + 1
    return ", ".join(f"{count(number)} {status}" for status, number in counts.items())


def pick(views: Sequence[RunView], most: int) -> tuple[list[RunView], list[RunView]]:
    """Splits runs into those worth a line and the rest; trouble and work under way go first.

    Args:
        views: in first-seen order, which both parts keep.
        most: how many get a line.
    """
    urgent = {"failed": 0, "waiting": 0, "stuck": 0, "timed out": 0, "running": 1, "paused": 1}
    ranked = sorted(range(len(views)), key=lambda i: (urgent.get(views[i].status, 2), i))
    chosen = set(ranked[:most])
    return (
        [view for i, view in enumerate(views) if i in chosen],
        [view for i, view in enumerate(views) if i not in chosen],
    )
