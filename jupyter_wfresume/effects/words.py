"""The sentences a user reads about side effects."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import RunEnded, UsageError
from ..typed import resolving
from .entries import Entry, error_text

GO_ON = "then run this cell again"


@dataclass(frozen=True)
class Unclear:
    """A side effect of which a person has to say what became of it.

    Args:
        name: NAME.
        entry: the side effect.
        what: what is known of it, such as ``charge[81] may have happened at 14:02:07``.
        store: the store's folder, where a command has to name it; else empty.
        typed: what names it alone in a command, where ``charge[81]`` does not; else empty or the same.
    """

    name: str
    entry: Entry
    what: str
    store: str = ""
    typed: str = ""

    @property
    def id(self) -> tuple[str, str]:
        """What tells it from all others of the NAME: 81 and "81" look alike."""
        return self.entry.effect, self.entry.digest


class Doubt(RunEnded):
    """A run stops here: what became of side effects is for a person to say.

    Args:
        run_id: the run.
        doubts: the side effects.
        sentence: what is said of them; by default what ``asking`` makes of them.
    """

    def __init__(self, run_id: str, doubts: Sequence[Unclear], sentence: str = "") -> None:
        self.doubts = tuple(doubts)
        super().__init__(run_id, "waiting", sentence or asking(self.doubts))


class InDoubt(UsageError):
    """An execution is set aside, as what became of a side effect of it is for a person to say."""


def asking(doubts: Sequence[Unclear]) -> str:
    """The sentence of a run that waits for a person's word on side effects."""
    first = doubts[0]
    said = f"`{resolving(first.name, first.typed or first.entry.name, first.store)}`"
    if len(doubts) == 1:
        return f"{first.what}: say what is so with {said}, {GO_ON}"
    listed = "; ".join(
        f"{one.what} ({one.typed})" if one.typed not in ("", one.entry.name) else one.what for one in doubts
    )
    return (
        f"{len(doubts)} side effects wait for a person: {listed}: say what is so of each, "
        f"as with {said}, {GO_ON}"
    )


def clock(at: float) -> str:
    """``14:02:07`` today, with the date on other days."""
    then, today = time.localtime(at), time.localtime()
    return time.strftime("%H:%M:%S" if then[:3] == today[:3] else "%Y-%m-%d %H:%M:%S", then)


def may_have_happened(entry: Entry) -> str:
    """An intent without a receipt, and nobody to ask."""
    return f"{entry.name} may have happened at {clock(entry.began)}"


def cannot_tell(entry: Entry, error: BaseException) -> str:
    """``verify`` could not say whether it happened."""
    return f"{may_have_happened(entry)}, and verify cannot tell ({error_text(error)})"


def undone(entry: Entry) -> str:
    """A person has compensated it, and now it is asked for again."""
    return f"{entry.name} was undone by hand at {clock(entry.at)}"


def without_receipt(entry: Entry) -> str:
    """It happened, but its receipt could not be kept."""
    return (
        f"{entry.name} happened at {clock(entry.at)}, but its receipt {entry.said} could not be kept: "
        f"{entry.why}"
    )


def not_kept(entry: Entry) -> str:
    """Said at once when a receipt cannot be kept."""
    return (
        f"the receipt of {entry.name} cannot be kept: {entry.why}; it happened and will not be done again, "
        "but a later execution asks for its receipt: return a text, a number or a dict from do"
    )


def by_another(entry: Entry) -> str:
    """Another process is at it."""
    who = "another process" if entry.owner is None else f"process {entry.owner.pid} on {entry.owner.host}"
    return (
        f"{entry.name} is being done by {who} since {clock(entry.began)}, in run {entry.run_id[:8]}: "
        "wait until that is over, then run this cell again"
    )


def not_in_a_replay(name: str, known: Entry | None) -> str:
    """A replay has no receipt to give."""
    state = "has never been done" if known is None else f"has no receipt ({described(known)})"
    return (
        f"a replay does no side effects, and {name} {state}: replay(effects=True) really does it, "
        "and records nothing"
    )


def nobody_knows(what: str) -> str:
    """Something durable goes on, and no execution is known to ask.

    Args:
        what: what is called.
    """
    return (
        f"{what} is called outside of a step, or in a thread that its step started by itself: call it "
        "through asyncio.to_thread, or run the thread's function in contextvars.copy_context()"
    )


def not_awaited(names: Sequence[str], label: str) -> str:
    """A step ended without having awaited side effects, so that they were never done.

    Args:
        names: of the effects.
        label: the execution.
    """
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    were = "were" if len(names) > 1 else "was"
    return (
        f"effect '{names[0]}'{more} {were} not awaited in {label}: write `await effect(...)`, or "
        "`effect.sync(...)` in a plain function"
    )


def described(entry: Entry) -> str:
    """How far a side effect came, in a few words."""
    if entry.state == "begun":
        return f"begun at {clock(entry.began)}, outcome unknown"
    said = f": {entry.said}" if entry.said else ""
    word = {"retry": "to be done again", "undone": "undone by hand"}.get(entry.state, entry.state)
    return f"{word} at {clock(entry.at)}{said}"
