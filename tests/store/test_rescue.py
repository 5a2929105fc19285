"""What is saved from a damaged database."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from jupyter_wfresume.errors import StoreError
from jupyter_wfresume.records import Lease
from jupyter_wfresume.store import Rescued, Store, rescue
from jupyter_wfresume.store.keys import blob_key, record_key
from tests.store import helpers
from tests.store.helpers import BIG, ME, NOW, RUN, fill, snapshot, sql

PAGE = 4096
RECORDS = [b"zero", BIG, b"two", *(f"record {number} ".encode() * 40 for number in range(3, 120))]


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a closed store of some pages."""
    path = tmp_path_factory.mktemp("intact") / "store"
    with Store.open(path) as store:
        lease = fill(store)
        store.append_many(RUN, 3, RECORDS[3:], lease=lease)
    return path


@pytest.fixture
def copy(intact: Path, tmp_path: Path) -> Path:
    """Return a copy of that store, to be damaged."""
    path = tmp_path / "damaged"
    shutil.copytree(intact, path)
    return path


def test_a_whole_store_is_saved_whole(copy: Path, tmp_path: Path) -> None:
    """Nothing is lost where nothing is damaged, and the old folder stays as it was."""
    before = {file: file.read_bytes() for file in copy.rglob("*") if file.is_file()}
    rescued = rescue(copy, tmp_path / "new")
    assert rescued == Rescued(kept=len(RECORDS) + 4, lost=())
    with Store.open(tmp_path / "new", create=False) as new:
        found = snapshot(new)
    assert {file: file.read_bytes() for file in copy.rglob("*") if file.is_file()} == before
    with Store.open(copy) as old:
        assert snapshot(old) == found


def test_an_overwritten_header_loses_nothing(copy: Path, tmp_path: Path) -> None:
    """The first page is the same in all stores, so the rest can be read without it."""
    with open(copy / "cache.db", "r+b") as file:
        file.write(bytes(PAGE))
    with pytest.raises(StoreError, match=r"is no database any more; .* rescue"):
        Store.open(copy)
    rescue(copy, tmp_path / "new")
    with Store.open(tmp_path / "new") as new:
        assert new.read(RUN).records == RECORDS
        assert new.get_blob(helpers.KEPT) == BIG[1:]


def test_half_a_database_keeps_its_half(copy: Path, tmp_path: Path) -> None:
    """A cut file costs what lay behind the cut."""
    size = (copy / "cache.db").stat().st_size
    os.truncate(copy / "cache.db", size // 2)
    rescue(copy, tmp_path / "new")
    with Store.open(tmp_path / "new") as new:
        found = new.read(RUN)
        assert found.records == RECORDS[: len(found.records)]
        assert len(found.records) > len(RECORDS) // 4
        assert new.get_run(RUN) == b"header"


def test_any_lost_page_costs_only_its_own_rows_and_the_run_goes_on(intact: Path, tmp_path: Path) -> None:
    """Page by page: most records are saved, none comes back changed, and the saved run can be driven on."""
    for page in range((intact / "cache.db").stat().st_size // PAGE):
        damaged, saved = tmp_path / f"damaged{page}", tmp_path / f"saved{page}"
        shutil.copytree(intact, damaged)
        with open(damaged / "cache.db", "r+b") as file:
            file.seek(page * PAGE)
            file.write(bytes(PAGE))
        rescue(damaged, saved)
        with Store.open(saved) as new:
            found = new.read(RUN)
            assert found.records == RECORDS[: len(found.records)]
            assert len(found.records) + found.beyond > len(RECORDS) * 3 // 4 or page == _root_page(intact)
            lease = new.acquire(RUN, ME, now=NOW, alive=lambda _: False)
            new.cut(RUN, len(found.records), lease=lease)
            new.append(RUN, len(found.records), b"next", lease=lease)
            assert new.read(RUN).damage is None


def _root_page(path: Path) -> int:
    """Return the page, counted from 0, without which no row can be found."""
    return int(sql(path, "SELECT rootpage FROM sqlite_master WHERE name = 'Cache'")[0][0]) - 1


def test_rows_that_cannot_be_trusted_are_named_and_left(store: Store, lease: Lease, tmp_path: Path) -> None:
    """A changed record, a pickle and a missing file do not get into the new store."""
    for key in (record_key(RUN, 0), blob_key(helpers.KEPT)):
        sql(store.path, "UPDATE Cache SET mode = 4 WHERE key = ?", key)
    file = sql(store.path, "SELECT filename FROM Cache WHERE key = ?", record_key(RUN, 1))[0][0]
    (store.path / file).unlink()
    sql(store.path, "INSERT INTO Cache (key, raw, mode, value) VALUES (x'00', 0, 1, x'00')")
    rescued = rescue(store.path, tmp_path / "new")
    pickled = "it is a pickle that this package never writes, so it is not opened"
    no_text = "its key is pickled or no text, which this package never writes"
    assert sorted(rescued.lost) == [
        f"an entry with a key that is no text is lost: {no_text}",
        f"record 0 of run 7f3a0001 is lost: {pickled}",
        f"record 1 of run 7f3a0001 is lost: its file {file} is missing",
        f"the value {helpers.KEPT[:12]} is lost: {pickled}",
    ]
    with Store.open(tmp_path / "new") as new:
        assert new.get_run(RUN) == b"header"
        assert new.read(RUN).beyond == 1


def test_a_folder_in_use_is_not_saved_into(store: Store, lease: Lease) -> None:
    """A rescue does not mix two stores."""
    with pytest.raises(StoreError, match="is not empty"):
        rescue(store.path, store.path)
