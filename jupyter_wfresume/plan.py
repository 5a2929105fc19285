"""Decides what a call does, from what the store holds; it acts on nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .records import RunHeader, Status

FINISHED: tuple[Status, ...] = ("done",)


@dataclass(frozen=True)
class Plan:
    """What a call does and why.

    Args:
        action: a new run, an unfinished one resumed, or a recorded result.
        run: the run that is resumed or answers, or None.
        why: a few words for the user.
        reuse: what the run has not finished may be answered from what other runs finished.
        any_code: outputs of code that has changed since are accepted.
    """

    action: Literal["new", "resume", "recorded"]
    run: RunHeader | None
    why: str
    reuse: bool = False
    any_code: bool = False


@dataclass(frozen=True)
class Call:
    """What is known of a call before anything is decided.

    Args:
        digest: tells calls apart.
        codes: digest of each step's code as it is now.
        fresh: how often ``--fresh`` was given.
        stale: what becomes of finished executions whose code has changed.
    """

    digest: str
    codes: Mapping[str, str]
    fresh: int = 0
    stale: Literal["auto", "rerun", "keep"] = "auto"


def outdated(header: RunHeader, codes: Mapping[str, str]) -> dict[str, int]:
    """By step, finished executions of a run that are of other code than today's.

    Args:
        header: the run's header.
        codes: digest of each step's code as it is now.
    """
    versions: Mapping[str, Mapping[str, Any]] = header.extra.get("versions", {})
    found = {
        step: sum(int(count) for code, count in counts.items() if code != codes.get(step))
        for step, counts in versions.items()
    }
    return {step: count for step, count in found.items() if count}


def decide(call: Call, headers: Sequence[RunHeader]) -> Plan:
    """Decide what a call does.

    Args:
        call: the call.
        headers: the runs of its name, newest first.
    """
    same = [h for h in headers if h.call == call.digest and h.extra.get("fork") is None]
    newest = same[0] if same else None
    any_code = call.stale == "keep"
    if call.fresh:
        if call.fresh == 1 and newest is not None and is_unfinished(newest) and newest.extra.get("fresh"):
            return Plan("resume", newest, "--fresh resumes its own unfinished run (--fresh --fresh insists)")
        return Plan("new", None, "--fresh")
    if newest is None:
        return Plan("new", None, "", reuse=True, any_code=any_code)
    old = outdated(newest, call.codes)
    if is_unfinished(newest):
        if old and call.stale == "rerun":
            return Plan("new", None, f"--stale rerun: {_counted(old)} changed", reuse=True)
        if old and call.stale == "auto" and newest.status == "stuck":
            # Nothing is left to do in it, so an edit could have no effect.
            return Plan("new", None, f"it was stuck, and {_counted(old)} changed", reuse=True)
        kept = f"{_counted(old)} changed since and are kept (--stale rerun runs them again)" if old else ""
        return Plan("resume", newest, kept, reuse=not newest.extra.get("fresh"), any_code=any_code)
    if not old or any_code:
        kept = f"the code of {_counted(old)} has changed since; --stale keep" if old else ""
        return Plan("recorded", newest, kept)
    return Plan("new", None, f"the code of {', '.join(sorted(old))} has changed", reuse=True)


def is_unfinished(header: RunHeader) -> bool:
    """Whether something is left to do in a run, or its result was not kept."""
    return header.status not in FINISHED or bool(header.extra.get("unkept"))


def _counted(old: Mapping[str, int]) -> str:
    return ", ".join(
        f"{count:,} execution{'' if count == 1 else 's'} of {step}" for step, count in sorted(old.items())
    )
