"""Live, die after any write, live again: a run's writes are kept, so that each prefix can be put back.

A process that is killed leaves exactly the writes that it had made. So a store made anew from the first N
writes of a recorded life is what a kill right after the N-th write leaves.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from jupyter_wfresume.journal import Record, history
from jupyter_wfresume.records import Lease, Options, Owner, RunView
from jupyter_wfresume.runtime import CURRENT
from jupyter_wfresume.session import Session
from jupyter_wfresume.store import Store, this_process
from tests.counting import bump, counts

Body = Callable[[], Awaitable[Any]]

LIFE_S = 30.0
"""A life that takes longer hangs."""

# No plain globals: a step's code is told apart by the values that it reads, and these differ with each life.
_LEDGER: ContextVar[Path] = ContextVar("ledger")
_DRIVER: ContextVar[Session] = ContextVar("driver")


def ran(label: str | None = None) -> None:
    """Count the execution that calls, by its run and ``STEP[N]``, or by the given label."""
    bump(_LEDGER.get(), label or running())


def running() -> str:
    """The run and ``STEP[N]`` of the execution that calls."""
    flight = CURRENT.get()
    for life in _DRIVER.get()._lives:
        if flight is not None and life.drive.flights.get(flight.invocation_id) is flight:
            return f"{life.header.run_id} {flight.label}"
    raise AssertionError("no session drives the step that runs")


@dataclass(frozen=True)
class Write:
    """One write to the store: the method's name and what it was given, without the lease."""

    method: str
    run_id: str
    args: tuple[Any, ...]
    header: bytes | None = None


@dataclass
class Life:
    """What one life did."""

    result: Any = None
    error: BaseException | None = None
    ran: Counter[str] = field(default_factory=Counter)
    writes: list[Write] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    views: list[RunView] = field(default_factory=list)
    session: Session | None = None


@contextmanager
def _kept(writes: list[Write]) -> Iterator[None]:
    put_run, append, put_blob = Store.put_run, Store.append, Store.put_blob

    def keep_run(self: Store, run_id: str, header: bytes, *, lease: Lease | None = None) -> None:
        put_run(self, run_id, header, lease=lease)
        writes.append(Write("put_run", run_id, (), header))

    def keep_record(
        self: Store, run_id: str, number: int, record: bytes, *, lease: Lease, header: bytes | None = None
    ) -> None:
        append(self, run_id, number, record, lease=lease, header=header)
        writes.append(Write("append", run_id, (number, record), header))

    def keep_blob(self: Store, data: bytes) -> str:
        writes.append(Write("put_blob", "", (data,)))
        return put_blob(self, data)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "put_run", keep_run)
        patch.setattr(Store, "append", keep_record)
        patch.setattr(Store, "put_blob", keep_blob)
        yield


async def live(store: Path, body: Body, *, name: str | None = None, **options: Any) -> Life:
    """Run a body in a session to its end."""
    life = Life()
    ledger = store.parent / f"{store.name}.{len(list(store.parent.glob(f'{store.name}.*')))}.ran"
    token = _LEDGER.set(ledger)
    session = Session(
        name,
        Options(store=str(store), **options),
        on_view=lambda view: None,
        on_close_view=life.views.append,
        tell=life.told.append,
    )
    life.session = session
    driver = _DRIVER.set(session)
    try:
        with _kept(life.writes), session:
            life.result = await asyncio.wait_for(body(), LIFE_S)
            await asyncio.wait_for(session.settle(), LIFE_S)
    except BaseException as error:  # noqa: BLE001  # how a life ends is what is looked at
        life.error = error
    finally:
        _LEDGER.reset(token)
        _DRIVER.reset(driver)
    life.ran = counts(ledger)
    return life


def roots(writes: list[Write]) -> list[str]:
    """The top-level runs that were written, by their first record."""
    found: dict[str, None] = {}
    for write in writes:
        if write.method == "put_run" and b'"parent":""' in (write.header or b""):
            found[write.run_id] = None
    return list(found)


def put_back(store: Path, writes: list[Write]) -> None:
    """Make a store that holds these writes, left by a process that is dead."""
    dead = Owner(pid=this_process().pid, started=1, boot=this_process().boot, host="here")
    opened = Store.open(store)
    try:
        leases = {
            run_id: opened.acquire(run_id, dead, now=1.0, alive=lambda owner: False)
            for run_id in roots(writes)
        }
        for write in writes:
            _put_one(opened, write, leases)
    finally:
        opened.close()


def _put_one(opened: Store, write: Write, leases: dict[str, Lease]) -> None:
    # Any lease will do for a nested run: the store checks that it is held, the run's root says which it is.
    lease = leases.get(write.run_id) or next(iter(leases.values()), None)
    if write.method == "put_run":
        opened.put_run(write.run_id, write.header or b"", lease=None)
    elif write.method == "append":
        assert lease is not None
        opened.append(write.run_id, *write.args, lease=lease, header=write.header)
    else:
        opened.put_blob(*write.args)


def records_of(store: Path, run_id: str) -> list[Record]:
    """The records of a run."""
    opened = Store.open(store)
    try:
        return history(opened, run_id).records
    finally:
        opened.close()


def done_for_good(writes: list[Write]) -> set[str]:
    """Run and ``STEP[N]`` of recorded results after which nothing of it is left to do."""
    found: set[str] = set()
    for write in writes:
        if write.method != "append":
            continue
        record = json.loads(write.args[1])
        if record["k"] == "R" and all(item[0] in "rcde" for item in record["r"]):
            found.add(f"{write.run_id} {record['s']}[{record['i']}]")
    return found


def results_of(writes: list[Write]) -> Counter[str]:
    """How many results, failures included, each run and ``STEP[N]`` has on record."""
    found: Counter[str] = Counter()
    for write in writes:
        if write.method == "append":
            record = json.loads(write.args[1])
            if record["k"] in "RF":
                found[f"{write.run_id} {record['s']}[{record['i']}]"] += 1
    return found
