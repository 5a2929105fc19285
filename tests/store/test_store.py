"""What goes in comes out: runs, journals, values, side entries."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_wfresume.errors import DamagedError, LeaseError, StoreError
from jupyter_wfresume.records import Lease
from jupyter_wfresume.store import JournalRead, Store
from jupyter_wfresume.store.keys import record_key
from jupyter_wfresume.store.rows import Change
from tests.store.helpers import BIG, ME, NOW, RUN, sql


def test_a_reopened_store_holds_what_was_written(store: Store, lease: Lease) -> None:
    """All kinds of entries outlive the process's handle on the folder."""
    store.close()
    with Store.open(store.path, create=False) as again:
        assert again.runs() == [(RUN, b"header")]
        assert again.get_run(RUN) == b"header"
        assert again.read(RUN) == JournalRead([b"zero", BIG, b"two"])
        assert again.notes(RUN) == {"answer": b"yes"}
        assert again.lease_of(RUN) == lease


def test_an_unknown_run_is_empty_and_no_error(store: Store) -> None:
    """Asking for what was never written gives nothing."""
    assert store.get_run(RUN) is None
    assert store.read(RUN) == JournalRead([])
    assert store.notes(RUN) == {}
    assert store.lease_of(RUN) is None
    assert store.size_bytes(RUN) == 0


@given(st.lists(st.integers(0, 2**40), min_size=2))
def test_record_keys_sort_as_numbers(numbers: list[int]) -> None:
    """The order of keys, which a range read follows, is the order of records."""
    keys = [record_key(RUN, number) for number in numbers]
    assert sorted(keys) == [record_key(RUN, number) for number in sorted(numbers)]


def test_many_records_come_back_in_order(store: Store) -> None:
    """A journal over the steps 32, 1024 of the key's digits reads without a gap."""
    lease = store.acquire(RUN, ME, now=NOW, alive=lambda _: True)
    records = [str(number).encode() for number in range(1100)]
    store.append_many(RUN, 0, records, lease=lease)
    assert store.read(RUN) == JournalRead(records)


def test_a_taken_number_is_refused_and_nothing_of_the_call_is_kept(store: Store, lease: Lease) -> None:
    """A record is never overwritten, and a refused batch leaves neither record nor header."""
    with pytest.raises(StoreError, match="record 2 of run 7f3a0001 is already in the store"):
        store.append(RUN, 2, b"other", lease=lease, header=b"new")
    with pytest.raises(StoreError, match=r"record 0 .* already"):
        store.append_many(RUN, 0, [b"other"], lease=lease)
    assert store.read(RUN).records[2] == b"two"
    assert store.get_run(RUN) == b"header"


def test_a_gap_is_refused(store: Store, lease: Lease) -> None:
    """Records have no gaps."""
    with pytest.raises(StoreError, match="record 3 is not in the store"):
        store.append(RUN, 4, b"four", lease=lease)
    assert len(store.read(RUN).records) == 3


def test_append_writes_record_and_header_together(store: Store, lease: Lease) -> None:
    """One call writes both."""
    store.append(RUN, 3, b"three", lease=lease, header=b"new")
    assert store.read(RUN).records[3] == b"three"
    assert store.get_run(RUN) == b"new"


def test_cut_deletes_from_a_number_on_with_its_files(store: Store, lease: Lease) -> None:
    """What is cut is gone from the table and the disk, and its numbers can be written again."""
    assert len(list(store.path.rglob("*.val"))) == 2
    assert store.cut(RUN, 1, lease=lease) == 2
    assert len(list(store.path.rglob("*.val"))) == 1
    store.append(RUN, 1, b"one", lease=lease)
    assert store.read(RUN) == JournalRead([b"zero", b"one"])


def test_runs_whose_ids_begin_alike_are_kept_apart(store: Store, lease: Lease) -> None:
    """Neither reading, cutting nor deleting one run touches another."""
    for other in (RUN[:-1], RUN + "0", RUN + "-"):
        store.append(other, 0, b"theirs", lease=lease)
        store.put_note(other, "slot", b"theirs")
    store.delete_run(RUN)
    assert store.read(RUN) == JournalRead([])
    for other in (RUN[:-1], RUN + "0", RUN + "-"):
        assert store.read(other) == JournalRead([b"theirs"])
        assert store.notes(other) == {"slot": b"theirs"}


def test_delete_run_leaves_nothing_of_it(store: Store, lease: Lease) -> None:
    """Header, journal, entries and lease go, and of the values only what the sweep takes."""
    store.delete_run(RUN)
    assert store.runs() == []
    assert store.sweep_blobs([]) == len(BIG) - 1
    assert sql(store.path, "SELECT key FROM Cache") == [("format",)]
    assert list(store.path.rglob("*.val")) == []


@pytest.mark.parametrize("data", [b"", b"small", BIG])
def test_a_value_is_kept_once_under_its_digest(store: Store, data: bytes) -> None:
    """Equal bytes have one digest and one row."""
    assert store.put_blob(data) == store.put_blob(data)
    assert store.get_blob(store.put_blob(data)) == data
    assert sql(store.path, "SELECT count(*) FROM Cache WHERE key >= 'b' AND key < 'c'") == [(1,)]


def test_sweep_keeps_what_is_used_and_what_is_younger_than_the_look(store: Store) -> None:
    """A value that was written after ``used`` was collected is not deleted under a running kernel."""
    used, unused = store.put_blob(b"used"), store.put_blob(b"unused")
    assert store.sweep_blobs([used], before=time.time()) == 0
    assert store.get_blob(unused) == b"unused"
    assert store.sweep_blobs([used], before=time.time() + 3600) == len(b"unused")
    assert store.get_blob(used) == b"used"
    with pytest.raises(DamagedError, match="is missing from the store"):
        store.get_blob(unused)
    assert store.get_blob(store.put_blob(b"unused")) == b"unused"


def test_sweep_takes_old_files_without_a_row(store: Store, lease: Lease) -> None:
    """A file that a killed process left goes once it is old; a young one may be about to get its row."""
    left = store.path / "ab" / "cd" / ("0" * 28 + ".val")
    left.parent.mkdir(parents=True)
    left.write_bytes(b"12345")
    used = [key[1:] for (key,) in sql(store.path, "SELECT key FROM Cache WHERE key >= 'b' AND key < 'c'")]
    assert store.sweep_blobs(used) == 0
    assert left.exists()
    old = time.time() - 7200
    os.utime(left, (old, old))
    assert store.sweep_blobs(used) == 5
    assert not left.exists()
    assert store.read(RUN).damage is None


def test_notes_are_told_by_prefix_and_deleted_singly(store: Store) -> None:
    """A slot is any text; the newest write of a slot counts."""
    for slot in ("answer.0", "answer.1", "receipt Käse/größer"):
        store.put_note(RUN, slot, b"old")
        store.put_note(RUN, slot, slot.encode())
    assert store.notes(RUN, "answer.") == {"answer.0": b"answer.0", "answer.1": b"answer.1"}
    store.delete_note(RUN, "answer.0")
    store.delete_note(RUN, "never written")
    assert set(store.notes(RUN)) == {"answer.1", "receipt Käse/größer"}


def test_an_entry_that_somebody_changed_is_not_written_over(store: Store) -> None:
    """A swap needs the entry to be what its writer saw, or nothing where nothing was seen."""
    assert store.note(RUN, "receipt") is None
    assert store.swap_note(RUN, "receipt", b"one", seen=None)
    assert not store.swap_note(RUN, "receipt", b"two", seen=None)
    assert not store.swap_note(RUN, "receipt", b"two", seen=b"other")
    assert store.swap_note(RUN, "receipt", b"two", seen=b"one")
    assert store.note(RUN, "receipt") == b"two"


def test_a_swap_goes_to_the_disk(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """sqlite syncs a swap's commit, so that a power cut does not take it back; other writes stay fast."""
    levels: list[int] = []
    run = Change.run

    def looked(self: Change, work: Any) -> Any:
        levels.extend(store._rows.connection().execute("PRAGMA synchronous").fetchone())
        return run(self, work)

    monkeypatch.setattr(Change, "run", looked)
    store.swap_note(RUN, "receipt", b"one", seen=None)
    store.put_note(RUN, "receipt", b"two")
    assert levels == [2, 1], "FULL is 2, NORMAL is 1"


def test_a_swap_is_fenced_by_its_lease(store: Store, lease: Lease) -> None:
    """A run that was taken over swaps nothing."""
    store.release(lease)
    with pytest.raises(LeaseError, match="no longer drives"):
        store.swap_note(RUN, "receipt", b"one", seen=None, lease=lease)
    assert store.note(RUN, "receipt") is None


def test_size_counts_header_and_journal_only(store: Store, lease: Lease) -> None:
    """A run's size is its own bytes, give or take the checksums."""
    payload = len(b"header") + len(b"zero") + len(BIG) + len(b"two")
    assert payload <= store.size_bytes(RUN) <= payload + 4 * 8
    assert store.total_bytes() > 2 * len(BIG)


@pytest.mark.parametrize("run_id", ["", "a/b", "a.b", "x" * 65, "7f3a\n"])
def test_a_bad_run_id_is_refused(store: Store, run_id: str) -> None:
    """An id that could leave its run's range of keys is refused by name."""
    with pytest.raises(StoreError, match="is no run id"):
        store.put_run(run_id, b"header")


def test_a_slot_that_cannot_be_written_is_refused(store: Store) -> None:
    """A slot without characters, or with half a character, is named."""
    for slot in ("", "\ud800"):
        with pytest.raises(StoreError, match="cannot name an entry"):
            store.put_note(RUN, slot, b"data")


def test_a_closed_store_says_so(store: Store) -> None:
    """Use after close is an error, not a silent reopening."""
    store.close()
    store.close()
    with pytest.raises(StoreError, match="is closed"):
        store.runs()


def test_threads_share_a_store(store_dir: Path) -> None:
    """Four threads append to four runs through one handle, each to its own journal."""
    with Store.open(store_dir) as store:
        errors: list[BaseException] = []

        def work(run_id: str) -> None:
            try:
                lease = store.acquire(run_id, ME, now=NOW, alive=lambda _: True)
                for number in range(50):
                    store.append(run_id, number, f"{run_id} {number}".encode(), lease=lease)
            except BaseException as error:  # noqa: BLE001 - shown by the assertion below
                errors.append(error)

        threads = [threading.Thread(target=work, args=(f"run{index}",)) for index in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        for index in range(4):
            expected = [f"run{index} {number}".encode() for number in range(50)]
            assert store.read(f"run{index}") == JournalRead(expected)
