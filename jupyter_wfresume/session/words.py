"""The sentences a user reads about runs."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ..records import RunHeader, StepView
from ..typed import command


def short(run_id: str) -> str:
    """The first characters of a run id."""
    return run_id[:4]


def counted(steps: Sequence[StepView]) -> str:
    """``60 of 100``: finished executions of those known, of the steps that fan out where any do."""
    steps = [step for step in steps if step.total > 1] or steps
    finished = sum(step.done + step.restored for step in steps)
    total = sum(step.total for step in steps)
    return f"{finished:,} of {total:,}"


def counted_of(steps: Sequence[StepView]) -> str:
    """``60 of 100 executions``, and of which steps, where others are not counted."""
    named = [step.name for step in steps if step.total > 1]
    of = f" of {listed(named)}" if 0 < len(named) < len(steps) else ""
    return f"{counted(steps)} executions{of}"


def ago(seconds: float) -> str:
    """``2 h`` for an age in seconds."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"


def at(stamp: float) -> str:
    """``14:02`` today, with the date on other days."""
    then = time.localtime(stamp)
    today = time.localtime()
    form = "%H:%M" if then[:3] == today[:3] else "%Y-%m-%d %H:%M"
    return time.strftime(form, then)


def in_steps(places: Sequence[tuple[str, int]]) -> str:
    """``work[43]``, or ``8 executions of work`` where there are many.

    Args:
        places: step and index of each execution.
    """
    if len(places) <= 2:
        return ", ".join(f"{step}[{index}]" for step, index in places)
    counts: dict[str, int] = {}
    for step, _ in places:
        counts[step] = counts.get(step, 0) + 1
    return ", ".join(
        f"{count:,} executions of {step}" if count > 1 else f"{step}" for step, count in counts.items()
    )


def listed(labels: Sequence[str], most: int = 4) -> str:
    """``work[3], work[4] and 5 more``."""
    shown = ", ".join(labels[:most])
    more = len(labels) - most
    return f"{shown} and {more} more" if more > 0 else shown


def known(count: int) -> str:
    """What earlier runs offer a new one."""
    if not count:
        return ""
    return f"{count:,} finished execution{'' if count == 1 else 's'} of earlier runs may answer it"


def how_it_ended(header: RunHeader, in_flight: Sequence[tuple[str, int]], beat: float | None) -> str:
    """Why an unfinished run is unfinished, for the line before it resumes."""
    if header.status == "running":
        when = f" at {at(beat)}" if beat else ""
        where = f" in {in_steps(in_flight)}" if in_flight else ""
        return f"the previous kernel died{when}{where}"
    if header.status == "failed" and header.error is not None:
        return f"{header.error.step}[{header.error.index}] had failed: {header.error.summary}"
    return f"it was {header.status}"


GO_ON = "run this cell again to go on"


def paused(steps: Sequence[StepView]) -> str:
    """The sentence of a run that was stopped."""
    return f"paused at {counted(steps)}: {GO_ON}"


def failed(header: RunHeader) -> str:
    """The sentence below a failure."""
    error = header.error
    if error is None:
        return f"{header.name} failed at {counted(header.steps)}: {GO_ON}"
    return (
        f"{error.step}[{error.index}] failed at {counted(header.steps)}: fix `{error.step}` or its input "
        f"and {GO_ON}; what is finished is not executed again"
    )


def timed_out(header: RunHeader, budget_s: float | None) -> str:
    """The sentence of a run whose budget is used up."""
    said = "its time budget" if budget_s is None else f"its time budget of {budget_s:g} s"
    return (
        f"{header.name} timed out at {counted(header.steps)}: {said} is used up; run this cell again with "
        f"--timeout none (or with more seconds) to go on"
    )


def waiting(header: RunHeader, texts: Sequence[str]) -> str:
    """The sentence of a run that waits for a person."""
    asked = f' "{texts[0]}"' if texts else ""
    more = f" and {len(texts) - 1} more" if len(texts) > 1 else ""
    return f"{header.name} waits for an answer{asked}{more}: answer it and {GO_ON}"


ANSWERED = f"answered: {GO_ON}"
"""What a board says of a run whose questions are all answered, when its cell has ended."""


def go_on(run_id: str, store: str) -> str:
    """How a run goes on that nobody drives, said elsewhere than below its cell.

    Args:
        run_id: the top-level run.
        store: the store's folder, where it has to be named; else empty.
    """
    return f"run its cell again to go on, or {command('%wfresume', run_id[:8], store=store)}"


def times(count: int, name: str) -> str:
    """``3 × `Item```."""
    return f"`{name}`" if count == 1 else f"{count:,} × `{name}`"


def stuck(header: RunHeader, reasons: Sequence[str]) -> str:
    """The sentence of a run that cannot move.

    Args:
        header: the run.
        reasons: what nobody accepted, and what fan-ins wait for.
    """
    return f"{header.name} is stuck at {_where(header, reasons)}; fix the workflow and {GO_ON}"


def stands_still(header: RunHeader, reasons: Sequence[str]) -> str:
    """What is said of a stuck run while the cell's own code may still send it an event.

    Args:
        header: the run.
        reasons: as for `stuck`.
    """
    return f"{header.name} goes on only if this cell sends it an event; it is at {_where(header, reasons)}"


def _where(header: RunHeader, reasons: Sequence[str]) -> str:
    why = ", and ".join(reasons) or "all that was sent is done, and no step has returned a StopEvent"
    return f"{counted(header.steps)}: {why}"


def left_out(labels: Sequence[str]) -> str:
    """What a run says of executions that a person left out, such as ``work[37]``."""
    return f"{listed(labels)} {'is' if len(labels) == 1 else 'are'} left out: a person decided so"


def set_aside(header: RunHeader, count: int) -> str:
    """The sentence of a run that went on past failures."""
    # A fan-out that has made the documents is none of them.
    steps = [step for step in header.steps if step.failed] or list(header.steps)
    done, skipped = sum(step.done + step.restored for step in steps), sum(step.skipped for step in steps)
    without = f", {skipped:,} left out" if skipped else ""
    return (
        f"{header.name}: {done:,} done, {count:,} failed{without}: fix the cause and run this cell again; it "
        "executes only what failed and what waited for it"
    )
