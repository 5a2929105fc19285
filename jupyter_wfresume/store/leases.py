"""Who may write a run: how a lease lies in its row, and when it may be taken over."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from ..errors import LeaseError
from ..records import Lease, Owner
from .disk import Foreign, Unsound
from .keys import lease_key, shown
from .rows import Row, Rows


def fence(lease: Lease) -> bytes:
    """Return the part of a lease's row that changes with its holder and not with a sign of life."""
    owner = lease.owner
    return _json([lease.token, owner.pid, owner.started, owner.boot, owner.host]) + b"\n"


def written(lease: Lease) -> bytes:
    """Return a held lease as it lies in its row."""
    return fence(lease) + _json([lease.since, lease.beat])


def written_free(token: int) -> bytes:
    """Return a released lease as it lies in its row; the token stays, so that it keeps growing."""
    return _json([token]) + b"\n"


def read(run_id: str, data: bytes) -> tuple[int, Lease | None]:
    """Return a row's token, and its lease where it is held.

    Raises:
        Unsound: the row is no lease.
    """
    head, _, tail = data.partition(b"\n")
    try:
        token, *who = json.loads(head)
        if not who:
            return token, None
        since, beat = json.loads(tail)
        return token, Lease(run_id, token, Owner(*who), since, beat)
    except (ValueError, TypeError):
        raise Unsound("it is no lease") from None


def refuse_if_held(
    lease: Lease,
    asker: Owner,
    *,
    now: float,
    stale_after_s: float,
    alive: Callable[[Owner], bool | None],
) -> None:
    """Raise unless a held lease may be taken over.

    Args:
        lease: the lease in the store.
        asker: who wants it.
        now: seconds since the epoch.
        stale_after_s: seconds without a sign of life after which the lease of a process that cannot be looked
            at (another machine, another container) is free.
        alive: whether a process lives; None where that cannot be told from here.

    Raises:
        LeaseError: the holder lives, or may live.
    """
    lives = alive(lease.owner)
    if lives is False:
        return
    run = f"run {shown(lease.run_id)}"
    if lease.owner == asker:
        raise LeaseError(
            f"{run} is already driven by this kernel since {_clock(lease.since, now)}: "
            "wait for that cell or interrupt it, then run this cell again"
        )
    who = f"process {lease.owner.pid} on host {lease.owner.host}"
    held = f"{run} is driven by {who} since {_clock(lease.since, now)}"
    if lives:
        raise LeaseError(f"{held}: interrupt its cell or shut that kernel down, then run this cell again")
    silent_s = now - lease.beat
    if silent_s <= stale_after_s:
        raise LeaseError(
            f"{held}, last seen {max(silent_s, 0):.0f} s ago: if that kernel is dead, "
            f"run this cell again in {int(stale_after_s - silent_s) + 1} s"
        )


def last(rows: Rows, row: Row | None, run_id: str, now: float) -> tuple[int, Lease | None]:
    """Return the last token of a lease's row, and the lease where it is held.

    Raises:
        Foreign: the row was planted.
    """
    if row is None:
        return 0, None
    try:
        return read(run_id, rows.value(row))
    except Foreign as error:
        raise rows.damaged(row[0], error) from None
    except Unsound:
        # Nobody can prove to hold a damaged lease. A token from the clock is above all that were counted.
        return int(now), None


def holder(rows: Rows, run_id: str) -> Lease | None:
    """Return who holds a run, None where nobody does; raises ``DamagedError``."""
    key = lease_key(run_id)
    data = rows.get(key)
    try:
        return None if data is None else read(run_id, data)[1]
    except Unsound as error:
        raise rows.damaged(key, error) from None


def holds(rows: Rows, lease: Lease) -> bool:
    """Tell whether a lease is the one in the store; raises ``DamagedError``."""
    data = rows.get(lease_key(lease.run_id))
    return data is not None and data.startswith(fence(lease))


def check(rows: Rows, lease: Lease) -> None:
    """Raise ``LeaseError`` unless a lease is the one in the store."""
    if holds(rows, lease):
        return
    run, other = f"run {shown(lease.run_id)}", holder(rows, lease.run_id)
    if other is None:
        raise LeaseError(
            f"this kernel no longer drives {run}: its right to write was given up or the run was deleted; "
            "run the cell again to go on",
            rows.path,
        )
    who = f"process {other.owner.pid} on host {other.owner.host}"
    raise LeaseError(
        f"this kernel no longer drives {run}: {who} took it over at {_clock(other.since, other.beat)}; "
        "go on there, or shut that kernel down and run the cell again",
        rows.path,
    )


def _clock(at: float, now: float) -> str:
    """Return a moment as people read it: the time, and the day where that is another one."""
    moment, today = time.localtime(at), time.localtime(now)
    return time.strftime("%H:%M" if moment[:3] == today[:3] else "%Y-%m-%d %H:%M", moment)


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
