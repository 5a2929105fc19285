"""Where executions stand, for their side effects."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..codec import digest
from ..effects import Place
from ..engine import Event
from ..fingerprint import digest_of
from ..journal import FindClass
from ..records import Lease, RunHeader
from ..runtime import Flight
from ..store import Store

if TYPE_CHECKING:
    from .runs import Run


def places(
    store: Store,
    header: RunHeader,
    lease: Lease,
    find_class: FindClass,
    warn: Callable[[str], None],
    hint: str,
) -> Callable[[Flight], Place]:
    """What tells where an execution of a run stands.

    Args:
        store: where receipts are.
        header: of the run.
        lease: the right to write it.
        find_class: asked first for each class of a receipt.
        warn: told of what a user should know.
        hint: the store's folder, where a command has to name it; else empty.
    """

    def place(flight: Flight) -> Place:
        def content() -> str:
            events = [flight.replaced.get(id(event), event) for event in flight.inputs]
            step = header.extra.get("was", {}).get(flight.step, flight.step)
            return _content(header, step, events)

        label = flight.label
        ended = flight.ended.append
        return Place(store, header.name, header.run_id, lease, label, content, find_class, warn, hint, ended)

    return place


def replay_place(
    run: Run, step: str, index: int, events: Callable[[], list[Event]], find: FindClass
) -> Place:
    """Where a replayed execution stands: it does nothing, and is given what is on record.

    Args:
        run: the run.
        step: the step.
        index: N of ``STEP[N]``.
        events: makes its input, edits included.
        find: asked first for each class of a receipt.
    """
    return Place(
        run.store,
        run.name,
        run.id,
        None,
        f"{step}[{index}]",
        lambda: _content(run.header, step, events()),
        find,
        lambda sentence: None,
    )


def _content(header: RunHeader, step: str, events: list[Event]) -> str:
    # In which order a fan-in's events arrive is no part of what it is.
    return digest_of(
        header.workflow, step, *sorted(digest(event, opaque=True, dict_order=False) for event in events)
    )
