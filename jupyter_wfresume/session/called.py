"""Which run a call is, and what is done with it."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import replace

from ..engine import Workflow, engine_version
from ..fingerprint import digest_of
from ..plan import Call, Plan, decide
from ..records import Options, RunHeader
from ..runtime import Flight
from ..store import Store
from .codes import Codes
from .earlier import versioned
from .life import Life
from .migrating import recorded_label


def blank_header(workflow: Workflow, call: str, name: str | None, fresh: int) -> RunHeader:
    """The header of a new top-level run, without its engine's id.

    Args:
        workflow: the instance.
        call: digest of its call.
        name: NAME, or None for the workflow class's name.
        fresh: how often ``--fresh`` was given.
    """
    now = time.time()
    return RunHeader(
        run_id=uuid.uuid4().hex[:16],
        name=name or type(workflow).__name__,
        workflow=type(workflow).__name__,
        call=call,
        created=now,
        engine_run_id="",
        engine=engine_version(),
        updated=now,
        extra={"fresh": True} if fresh else {},
    )


def below(header: RunHeader, parent: Life, flight: Flight) -> RunHeader:
    """A header as that of a run which an execution runs; the same execution finds it again.

    Args:
        header: of a top-level run.
        parent: the life of the run above.
        flight: the execution.
    """
    order = flight.nested.get(header.call, 0)
    flight.nested[header.call] = order + 1
    first = recorded_label(parent.header, flight.step, flight.index)
    place = (parent.header.run_id, f"{first}#{flight.attempt}")
    return replace(
        header,
        run_id=digest_of(*place, header.call, str(order))[:16],
        name=parent.header.name,
        parent=parent.header.run_id,
        parent_execution=f"{flight.label}#{flight.attempt}",
        extra={},
    )


def plan_of(
    store: Store,
    workflow: Workflow,
    header: RunHeader,
    codes: Codes,
    known: Sequence[RunHeader],
    root: RunHeader | None,
    options: Options,
) -> Plan:
    """What a call does.

    Args:
        store: the store.
        workflow: the instance.
        header: of the new run that the call would be.
        codes: the workflow's code as it is now.
        known: the runs of the name, newest first.
        root: of the top-level run that the call is below of, or None.
        options: what the user set.
    """
    if root is not None:
        # The execution that runs it is under way, so whatever it had
        # finished is kept, as in an unfinished run.
        same = [h for h in known if h.run_id == header.run_id]
        plan = decide(Call(header.call, codes.digests, stale="keep"), same)
        # What other runs had finished is another matter: their code may be older than an edit.
        fresh = bool(root.extra.get("fresh"))
        return replace(plan, any_code=options.stale == "keep", reuse=plan.reuse and not fresh)
    runs = [h for h in known if not h.parent]
    newest = next((h for h in runs if h.call == header.call and h.extra.get("fork") is None), None)
    if newest is not None:
        runs[runs.index(newest)] = versioned(newest, store, workflow, codes)
    return decide(Call(header.call, codes.digests, options.fresh, options.stale), runs)
