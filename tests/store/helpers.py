"""What the store's tests share: a table of all methods, children, and planted rows."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jupyter_wfresume.records import Lease, Owner
from jupyter_wfresume.store import Store

ME = Owner(pid=os.getpid(), started=1, boot="this-boot", host="here")
OTHER = Owner(pid=4242, started=7, boot="this-boot", host="there")
RUN = "7f3a0001"
NOW = 1_800_000_000.0
ROOT = Path(__file__).parents[2]
BIG = bytes(range(256)) * 1024  # 256 KiB, so it gets a file of its own

WRITES: dict[str, Callable[[Store, Lease], object]] = {
    "put_run": lambda store, lease: store.put_run(RUN, BIG, lease=lease),
    "append": lambda store, lease: store.append(RUN, 3, BIG[:30_000], lease=lease),
    "append_many": lambda store, lease: store.append_many(RUN, 3, [BIG[:30_000]] * 9, lease=lease),
    "cut": lambda store, lease: store.cut(RUN, 1, lease=lease),
    "put_blob": lambda store, lease: store.put_blob(BIG),
    "put_note": lambda store, lease: store.put_note(RUN, "slot", BIG),
    "swap_note": lambda store, lease: store.swap_note(RUN, "answer", BIG, seen=b"yes", lease=lease),
    "delete_note": lambda store, lease: store.delete_note(RUN, "answer"),
    "acquire": lambda store, lease: store.acquire("7f3a0002", ME, now=NOW, alive=lambda _: True),
    "renew": lambda store, lease: store.renew(lease, now=NOW + 1),
    "release": lambda store, lease: store.release(lease),
    "delete_run": lambda store, lease: store.delete_run(RUN),
    "sweep_blobs": lambda store, lease: store.sweep_blobs([]),
}
READS: dict[str, Callable[[Store, Lease], object]] = {
    "get_run": lambda store, lease: store.get_run(RUN),
    "runs": lambda store, lease: store.runs(),
    "damaged_runs": lambda store, lease: store.damaged_runs(),
    "read": lambda store, lease: store.read(RUN),
    "get_blob": lambda store, lease: store.get_blob(KEPT),
    "note": lambda store, lease: store.note(RUN, "answer"),
    "notes": lambda store, lease: store.notes(RUN),
    "lease_of": lambda store, lease: store.lease_of(RUN),
    "size_bytes": lambda store, lease: store.size_bytes(RUN),
    "total_bytes": lambda store, lease: store.total_bytes(),
}
KEPT = ""
"""Digest of the value that ``fill`` keeps; it is the same in every store."""


def fill(store: Store) -> Lease:
    """Put a run with three records, a header, a note and a value into a store, and hold its lease."""
    global KEPT
    lease = store.acquire(RUN, ME, now=NOW, alive=lambda _: True)
    store.put_run(RUN, b"header")
    store.append_many(RUN, 0, [b"zero", BIG, b"two"], lease=lease)
    store.put_note(RUN, "answer", b"yes")
    KEPT = store.put_blob(BIG[1:])
    return lease


def snapshot(store: Store) -> object:
    """Return all that a store holds of the run that ``fill`` made."""
    return (store.runs(), store.read(RUN), store.notes(RUN), store.lease_of(RUN), store.get_blob(KEPT))


def sql(folder: Path, statement: str, *values: object) -> list[Any]:
    """Do to a store's database what another program might."""
    connection = sqlite3.connect(folder / "cache.db", isolation_level=None)
    try:
        return connection.execute(statement, values).fetchall()
    finally:
        connection.close()


def in_child(act: Callable[[], object]) -> Any:
    """Run a function in a forked process and return its result, which must fit JSON."""
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(out)
            with os.fdopen(into, "w") as pipe:
                json.dump(act(), pipe)
            code = 0
        except BaseException:  # noqa: BLE001 - the child must end here, whatever happened, and not run pytest on
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(into)
    with os.fdopen(out) as pipe:
        text = pipe.read()
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, "the child failed; its traceback is above"
    return json.loads(text)


def python(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a fresh Python on some code, with pipes to and from it."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
