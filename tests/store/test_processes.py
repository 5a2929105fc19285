"""Several processes on one folder, and processes that are killed or interrupted while they write."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_wfresume.store import JournalRead, Store, is_alive, this_process
from tests.store.helpers import ME, NOW, RUN, in_child, python, sql

CREATE = """
import sys
from jupyter_wfresume.store import Store
sys.stdin.readline()
with Store.open(sys.argv[1]) as store:
    store.put_run(sys.argv[2], b"header")
print("done", flush=True)
"""


def test_many_processes_create_one_store(store_dir: Path) -> None:
    """Whoever comes first, all find the same store."""
    children = [python(CREATE, store_dir, f"run{index}") for index in range(6)]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    assert [child.communicate()[0] for child in children] == ["done\n"] * 6
    with Store.open(store_dir, create=False) as store:
        assert [run_id for run_id, _ in store.runs()] == [f"run{index}" for index in range(6)]


APPEND = """
import sys, time
from jupyter_wfresume.store import Store, is_alive, this_process
folder, run_id, count, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
store = Store.open(folder)
lease = store.acquire(run_id, this_process(), now=time.time(), alive=is_alive)
for number in range(count):
    store.append(run_id, number, f"{run_id} {number} ".encode() * size, lease=lease, header=b"%d" % number)
    print(number, flush=True)
"""


def test_two_processes_append_to_two_runs_at_once(store_dir: Path) -> None:
    """Each journal has each record once, in order, whatever the other process does."""
    Store.open(store_dir).close()
    children = [python(APPEND, store_dir, run_id, 300, 10) for run_id in ("a", "b")]
    for child in children:
        child.communicate()
    with Store.open(store_dir) as store:
        for run_id in ("a", "b"):
            assert store.read(run_id) == JournalRead([f"{run_id} {n} ".encode() * 10 for n in range(300)])
        assert store.runs() == [("a", b"299"), ("b", b"299")]
    assert sql(store_dir, "PRAGMA integrity_check") == [("ok",)]


@pytest.mark.parametrize("size", [10, 10_000], ids=["in rows", "in files"])
@pytest.mark.parametrize("kill_after", [1, 17, 40])
def test_a_killed_writer_leaves_whole_records_only(store_dir: Path, kill_after: int, size: int) -> None:
    """All that was reported is there, nothing is half, and header and journal agree."""
    child = python(APPEND, store_dir, RUN, 100_000, size)
    assert child.stdout is not None
    for _ in range(kill_after):
        child.stdout.readline()
    child.kill()
    reported = kill_after + len(child.stdout.read().split())
    child.communicate()
    with Store.open(store_dir) as store:
        found = store.read(RUN)
        assert found.damage is None
        assert found.records == [f"{RUN} {n} ".encode() * size for n in range(len(found.records))]
        assert reported <= len(found.records) <= reported + 1
        assert store.get_run(RUN) == str(len(found.records) - 1).encode()
        lease = store.acquire(RUN, this_process(), now=NOW, alive=is_alive)
        store.append(RUN, len(found.records), b"next life", lease=lease)


INTERRUPT = """
import signal, sys
from jupyter_wfresume.records import Owner
from jupyter_wfresume.store import Store

def interrupt(*_):
    raise KeyboardInterrupt

store = Store.open(sys.argv[1], timeout_s=1)
lease = store.acquire("a", Owner(1, 1, "b", "h"), now=1.0, alive=lambda _: False)
signal.signal(signal.SIGALRM, interrupt)
number = hits = 0
while hits < 300:
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0001 + hits * 1e-6)
        while True:
            store.append("a", number, str(number).encode() * (1 if number % 7 else 9000), lease=lease)
            number += 1
    except KeyboardInterrupt:
        hits += 1
    signal.setitimer(signal.ITIMER_REAL, 0)
    found = store.read("a")
    assert found.damage is None, found.damage
    assert found.records == [str(n).encode() * (1 if n % 7 else 9000) for n in range(len(found.records))]
    assert number <= len(found.records) <= number + 1, (number, len(found.records))
    number = len(found.records)
    with Store.open(sys.argv[1], timeout_s=1) as other:
        other.put_note("b", "slot", b"not locked out")
print("whole", flush=True)
"""


def test_an_interrupt_at_any_moment_leaves_the_store_whole(store_dir: Path) -> None:
    """After each of 300 interrupts no record is half or lost, and nobody is locked out."""
    out, _ = python(INTERRUPT, store_dir).communicate()
    assert out == "whole\n"


def test_a_forked_child_and_its_parent_both_write(store_dir: Path) -> None:
    """A handle that was opened before a fork works on both sides of it."""
    with Store.open(store_dir) as store:
        leases = [store.acquire(run_id, ME, now=NOW, alive=lambda _: True) for run_id in ("a", "b")]

        def child() -> int:
            for number in range(50):
                store.append("b", number, b"child", lease=leases[1])
            return len(store.read("b").records)

        store.append("a", 0, b"parent", lease=leases[0])
        assert in_child(child) == 50
        for number in range(1, 50):
            store.append("a", number, b"parent", lease=leases[0])
        assert store.read("a") == JournalRead([b"parent"] * 50)
        assert store.read("b") == JournalRead([b"child"] * 50)
    assert sql(store_dir, "PRAGMA integrity_check") == [("ok",)]
