"""Values that were changed, cut off, deleted or planted, and databases that were damaged."""

from __future__ import annotations

import os
import pickle
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_wfresume.errors import DamagedError, StoreError
from jupyter_wfresume.records import Lease
from jupyter_wfresume.store import JournalRead, Store
from jupyter_wfresume.store.keys import blob_key, header_key, lease_key, note_key, record_key
from tests.store import helpers
from tests.store.helpers import BIG, ME, NOW, OTHER, RUN, fill, sql


class Bomb:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return open, (str(self.path), "w")


def _file_of(folder: Path, key: str) -> Path:
    return folder / sql(folder, "SELECT filename FROM Cache WHERE key = ?", key)[0][0]


def _flip(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "one bit flipped": _flip,
    "cut in half": lambda data: data[: len(data) // 2],
    "emptied": lambda data: b"",
    "longer": lambda data: data + b"\0",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_record_ends_the_intact_prefix(
    store: Store, lease: Lease, change: Callable[[bytes], bytes]
) -> None:
    """The records before it are kept, it and those behind it are told; a value never comes back changed."""
    key = record_key(RUN, 0)
    ((value,),) = sql(store.path, "SELECT value FROM Cache WHERE key = ?", key)
    sql(store.path, "UPDATE Cache SET value = ? WHERE key = ?", change(value), key)
    found = store.read(RUN)
    assert (found.records, found.beyond) == ([], 2)
    assert found.damage is not None
    assert found.damage.startswith(
        "record 0 of run 7f3a0001 cannot be read: its bytes were changed or cut off"
    )
    assert found.damage.endswith("2 later records follow it")


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_file_is_told_with_its_name(
    store: Store, lease: Lease, change: Callable[[bytes], bytes]
) -> None:
    """A record and a value in files of their own are checked as those in rows are."""
    for key in (record_key(RUN, 1), blob_key(helpers.KEPT)):
        file = _file_of(store.path, key)
        file.write_bytes(change(file.read_bytes()))
    found = store.read(RUN)
    assert (found.records, found.beyond) == ([b"zero"], 1)
    assert str(_file_of(store.path, record_key(RUN, 1)).relative_to(store.path)) in str(found.damage)
    with pytest.raises(
        DamagedError, match=rf"the value {helpers.KEPT[:12]} .* changed or cut off \(file .*\.val\)"
    ):
        store.get_blob(helpers.KEPT)


def test_a_missing_file_is_told_with_its_name(store: Store, lease: Lease) -> None:
    """A deleted file of a record or value is damage, not an empty value."""
    files = [_file_of(store.path, key) for key in (record_key(RUN, 1), blob_key(helpers.KEPT))]
    for file in files:
        file.unlink()
    assert store.read(RUN).records == [b"zero"]
    assert f"its file {files[0].relative_to(store.path)} is missing" in str(store.read(RUN).damage)
    with pytest.raises(DamagedError, match=r"its file .* is missing"):
        store.get_blob(helpers.KEPT)


def test_a_deleted_record_is_noticed(store: Store, lease: Lease) -> None:
    """A gap ends the intact prefix, whatever lies behind it."""
    sql(store.path, "DELETE FROM Cache WHERE key = ?", record_key(RUN, 1))
    found = store.read(RUN)
    assert found == JournalRead(
        [b"zero"], "record 1 of run 7f3a0001 is missing; 1 later record follows it", found.beyond
    )
    assert found.beyond == 1


def test_records_that_changed_places_are_noticed(store: Store, lease: Lease) -> None:
    """A checksum covers its key: an intact value under another key is damage."""
    first, third = record_key(RUN, 0), record_key(RUN, 2)
    sql(store.path, "UPDATE Cache SET key = 'swap' WHERE key = ?", first)
    sql(store.path, "UPDATE Cache SET key = ? WHERE key = ?", first, third)
    sql(store.path, "UPDATE Cache SET key = ? WHERE key = 'swap'", third)
    assert store.read(RUN).records == []


def test_after_a_cut_a_damaged_run_goes_on(store: Store, lease: Lease) -> None:
    """The damaged tail can be given up and written anew."""
    _file_of(store.path, record_key(RUN, 1)).unlink()
    assert store.cut(RUN, 1, lease=lease) == 2
    store.append(RUN, 1, b"one", lease=lease)
    assert store.read(RUN) == JournalRead([b"zero", b"one"])


def test_a_damaged_value_is_repaired_by_putting_it_again(store: Store, lease: Lease) -> None:
    """Deduplication does not keep a broken copy, in the process that wrote it neither."""
    file = _file_of(store.path, blob_key(helpers.KEPT))
    file.unlink()
    assert store.put_blob(BIG[1:]) == helpers.KEPT
    assert store.get_blob(helpers.KEPT) == BIG[1:]
    file = _file_of(store.path, blob_key(helpers.KEPT))
    file.write_bytes(_flip(file.read_bytes()))
    with Store.open(store.path) as again:
        again.put_blob(BIG[1:])
        assert again.get_blob(helpers.KEPT) == BIG[1:]
    assert len(list(store.path.rglob("*.val"))) == 2


def test_one_damaged_header_does_not_hide_other_runs(store: Store, lease: Lease) -> None:
    """The list holds what can be read, and what cannot is named beside it."""
    store.put_run("7f3a0002", b"good")
    sql(store.path, "UPDATE Cache SET value = x'00' WHERE key = ?", header_key(RUN))
    assert store.runs() == [("7f3a0002", b"good")]
    ((run_id, sentence),) = store.damaged_runs()
    assert run_id == RUN
    assert sentence.startswith("the header of run 7f3a0001 in the store")
    with pytest.raises(DamagedError, match="the header of run 7f3a0001"):
        store.get_run(RUN)


def test_a_damaged_lease_stops_its_holder_and_can_be_taken(store: Store, lease: Lease) -> None:
    """Nobody writes under a lease that cannot be read, and the run is not locked for ever."""
    sql(store.path, "UPDATE Cache SET value = x'00' WHERE key = ?", lease_key(RUN))
    with pytest.raises(DamagedError, match="the lease of run 7f3a0001"):
        store.append(RUN, 3, b"three", lease=lease)
    taken = store.acquire(RUN, OTHER, now=NOW, alive=lambda _: True)
    assert taken.token > lease.token
    store.append(RUN, 3, b"three", lease=taken)


@pytest.mark.parametrize("kind", ["row", "file"])
@pytest.mark.parametrize(
    "key",
    [header_key(RUN), record_key(RUN, 1), blob_key("KEPT"), note_key(RUN, "answer"), lease_key(RUN)],
    ids=["header", "record", "value", "note", "lease"],
)
def test_a_planted_pickle_is_refused_and_not_executed(
    store: Store, lease: Lease, tmp_path: Path, key: str, kind: str
) -> None:
    """No read path of any kind of entry unpickles; the error names the entry."""
    key = key.replace("KEPT", helpers.KEPT)
    bomb = pickle.dumps(Bomb(tmp_path / "executed"))
    name = "ab/cd/" + "0" * 28 + ".val"
    (store.path / "ab" / "cd").mkdir(parents=True, exist_ok=True)
    (store.path / name).write_bytes(bomb)
    in_row, in_file = (bomb, None) if kind == "row" else (None, name)
    sql(store.path, "UPDATE Cache SET mode = 4, value = ?, filename = ? WHERE key = ?", in_row, in_file, key)
    reads: dict[str, list[Callable[[], object]]] = {
        "h": [lambda: store.get_run(RUN), store.runs, store.damaged_runs],
        "j": [lambda: store.read(RUN)],
        "b": [lambda: store.get_blob(helpers.KEPT), lambda: store.put_blob(BIG[1:])],
        "n": [lambda: store.notes(RUN)],
        "l": [
            lambda: store.lease_of(RUN),
            lambda: store.renew(lease, now=NOW),
            lambda: store.release(lease),
            lambda: store.append(RUN, 3, b"three", lease=lease),
            lambda: store.acquire(RUN, ME, now=NOW, alive=lambda _: False),
        ],
    }
    for read in reads[key[0]]:
        with pytest.raises(DamagedError, match="it is a pickle that this package never writes"):
            read()
    assert not (tmp_path / "executed").exists()


def test_a_planted_key_is_refused_and_not_executed(store: Store, lease: Lease, tmp_path: Path) -> None:
    """A pickled key is refused where the table is listed and when the store is opened."""
    bomb = pickle.dumps(Bomb(tmp_path / "executed"))
    sql(store.path, "INSERT INTO Cache (key, raw, mode, value) VALUES (?, 0, 1, x'00')", bomb)
    for read in (store.runs, store.damaged_runs, lambda: Store.open(store.path)):
        with pytest.raises(DamagedError, match=r"row \d+ of the store .* has a key that is pickled"):
            read()
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("key", [1, 2.5, b"bytes"])
def test_a_key_that_is_no_text_is_refused(store: Store, key: object) -> None:
    """Whatever else the table may hold as a key, a store holds text."""
    sql(store.path, "INSERT INTO Cache (key, raw, mode, value) VALUES (?, 1, 1, x'00')", key)
    with pytest.raises(DamagedError, match="pickled or no text"):
        store.runs()


def test_a_second_row_that_claims_to_be_pickled_is_refused(store: Store, lease: Lease) -> None:
    """A text key marked as a pickle is refused, beside the real row too."""
    for key in (header_key(RUN), record_key(RUN, 1)):
        sql(store.path, "INSERT INTO Cache (key, raw, mode, value) VALUES (?, 0, 1, x'00')", key)
    for read in (lambda: store.get_run(RUN), store.runs, lambda: store.read(RUN)):
        with pytest.raises(DamagedError, match="its key is pickled"):
            read()


@pytest.mark.parametrize("name", ["../outside", "/etc/hostname", "ab/cd/../../cache.db", "cache.db", 1])
def test_a_planted_file_name_is_neither_read_nor_deleted(store: Store, lease: Lease, name: object) -> None:
    """A row cannot make the store open or delete a file outside its own scheme of names."""
    outside = store.path.parent / "outside"
    outside.write_text("precious")
    sql(
        store.path,
        "UPDATE Cache SET mode = 2, value = NULL, filename = ? WHERE key = ?",
        name,
        record_key(RUN, 1),
    )
    with pytest.raises(DamagedError, match="record 1 of run 7f3a0001"):
        store.read(RUN)
    store.cut(RUN, 1, lease=lease)
    store.delete_run(RUN)
    assert outside.read_text() == "precious"
    assert (store.path / "cache.db").exists()


@pytest.mark.parametrize("mode", [0, 3, 5, None, "1"])
def test_a_value_of_another_kind_is_refused(store: Store, lease: Lease, mode: object) -> None:
    """Only bytes in a row or a file are values."""
    sql(store.path, "UPDATE Cache SET mode = ?, value = 'text' WHERE key = ?", mode, header_key(RUN))
    with pytest.raises(DamagedError, match="the header of run 7f3a0001"):
        store.get_run(RUN)


def _damage(database: Path, how: str, page: int) -> None:
    with open(database, "r+b") as file:
        file.seek(page * 4096)
        old = file.read(4096)
        new = {"zeroed": bytes(4096), "noise": random.Random(page).randbytes(4096), "flipped": _flip(old)}
        file.seek(page * 4096)
        file.write(new[how])


def _survey(path: Path, truth: list[bytes]) -> list[str]:
    """Use a damaged store in every way; return the errors, and fail where it gives back something wrong."""
    errors = []
    try:
        store = Store.open(path, timeout_s=1)
    except StoreError as error:
        return [str(error)]
    with store:
        lease = store.lease_of
        acts = [*helpers.READS.values(), *helpers.WRITES.values()]
        for act in acts:
            try:
                found = act(store, lease(RUN) or Lease(RUN, 1, ME, NOW, NOW))
            except StoreError as error:
                errors.append(str(error))
                continue
            if isinstance(found, JournalRead):
                assert found.records == truth[: len(found.records)]
                assert found.damage or len(found.records) == len(truth)
                errors += [found.damage] if found.damage else []
            if act is helpers.READS["get_blob"]:
                assert found == BIG[1:]
    return errors


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[bytes]]:
    """Return a closed store of some pages, and the records of its run."""
    path = tmp_path_factory.mktemp("intact") / "store"
    noise = random.Random(1)
    with Store.open(path) as store:
        lease = fill(store)
        records = [noise.randbytes(noise.randrange(20, 900)) for _ in range(100)]
        store.append_many(RUN, 3, records, lease=lease)
    return path, [b"zero", BIG, b"two", *records]


@pytest.mark.parametrize("how", ["zeroed", "noise", "flipped"])
def test_no_damaged_page_gives_back_something_wrong(
    intact: tuple[Path, list[bytes]], tmp_path: Path, how: str
) -> None:
    """Page by page: what is read is what was written, and all else is a sentence."""
    path, truth = intact
    pages = (path / "cache.db").stat().st_size // 4096
    assert pages > 15
    told = 0
    for page in range(pages):
        copy = tmp_path / f"page{page}"
        shutil.copytree(path, copy)
        _damage(copy / "cache.db", how, page)
        told += bool(_survey(copy, truth))
    assert told > (pages * 3 // 4 if how != "flipped" else 0)


@pytest.mark.parametrize("size", [1, 100, 4096, 5000, 0.25, 0.5, 0.9])
def test_a_cut_database_is_told(intact: tuple[Path, list[bytes]], tmp_path: Path, size: float) -> None:
    """However much is left, the store is named as damaged and its file is not touched further."""
    path, truth = intact
    copy = tmp_path / "copy"
    shutil.copytree(path, copy)
    database = copy / "cache.db"
    left = int(size if size >= 1 else database.stat().st_size * size)
    os.truncate(database, left)
    before = database.read_bytes()
    (error,) = _survey(copy, truth)
    assert error.startswith(f"the store {copy} is damaged: ")
    assert database.read_bytes() == before


def test_a_database_cut_under_an_open_store_does_not_kill_the_process(store: Store, lease: Lease) -> None:
    """The file is read, not mapped: what vanished is an error."""
    store.append_many(RUN, 3, [b"x" * 3000] * 200, lease=lease)
    connection = store._rows.connection()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("PRAGMA shrink_memory")
    os.truncate(store.path / "cache.db", 8192)
    told = 0
    for act in (lambda: store.read(RUN), lambda: store.append(RUN, 203, b"x", lease=lease), store.runs):
        try:
            act()
        except StoreError as error:
            told += str(store.path) in str(error)
    assert told or store.read(RUN).damage
