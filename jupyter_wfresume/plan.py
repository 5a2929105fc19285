"""Decides what a call does, from what the store holds; it acts on nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .records import RunHeader, Status

FINISHED: tuple[Status, ...] = ("done",)


@dataclass(frozen=True)
class Plan:
    """What a call does and why.

    Args:
        action: a new run, an unfinished one resumed, or a recorded result.
        run: the run that is resumed or answers, or None.
        why: a few words for the user.
    """

    action: Literal["new", "resume", "recorded"]
    run: RunHeader | None
    why: str


def decide(call: str, code: str, headers: Sequence[RunHeader], fresh: int) -> Plan:
    """Decide what a call does.

    Args:
        call: digest that tells calls apart.
        code: digest of the workflow class as it is now.
        headers: the runs of this name, newest first.
        fresh: how often ``--fresh`` was given.
    """
    same = [h for h in headers if h.call == call and h.extra.get("fork") is None]
    newest = same[0] if same else None
    if fresh:
        if fresh == 1 and newest is not None and newest.status not in FINISHED and newest.extra.get("fresh"):
            return Plan("resume", newest, "--fresh resumes its own unfinished run (--fresh --fresh insists)")
        return Plan("new", None, "--fresh")
    if newest is None:
        return Plan("new", None, "")
    if newest.status not in FINISHED:
        return Plan("resume", newest, "")
    if newest.code == code:
        return Plan("recorded", newest, "")
    return Plan("new", None, f"the code of {newest.workflow} has changed since run {newest.run_id[:4]}")
