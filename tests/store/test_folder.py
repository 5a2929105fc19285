"""What counts as a store, its settings, and that nothing is ever evicted."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import diskcache
import pytest

from jupyter_wfresume.errors import DamagedError, StoreError, StoreFormatError
from jupyter_wfresume.records import Lease
from jupyter_wfresume.store import Store
from tests.store.helpers import ME, NOW, RUN, fill, snapshot, sql


def test_a_new_store_is_private_and_ignored_by_git(tmp_path: Path) -> None:
    """The folder is for its owner only and keeps itself out of version control."""
    path = tmp_path / "deep" / "er"
    Store.open(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert (path / ".gitignore").read_text().splitlines()[-1] == "*"


def test_mode_is_repaired_at_each_open(store: Store) -> None:
    """A folder that was opened to others is closed again."""
    store.path.chmod(0o755)
    Store.open(store.path).close()
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o700


def test_a_store_of_a_newer_format_is_refused_and_left_as_it_is(store: Store, lease: Lease) -> None:
    """What a newer version wrote is neither read nor repaired."""
    sql(store.path, "UPDATE Cache SET value = ? WHERE key = 'format'", b"2")
    sql(store.path, "UPDATE Settings SET value = 7 WHERE key = 'cull_limit'")
    with pytest.raises(StoreFormatError, match=r"newer version \(format 2, this one reads up to 1\): update"):
        Store.open(store.path)
    assert sql(store.path, "SELECT value FROM Settings WHERE key = 'cull_limit'") == [(7,)]


@pytest.mark.parametrize("value", [b"", b"x", "1", 1, None])
def test_a_damaged_format_entry_is_told(store: Store, value: object) -> None:
    """A format that is no number is damage, not version 0."""
    sql(store.path, "UPDATE Cache SET value = ? WHERE key = 'format'", value)
    with pytest.raises(DamagedError, match="its format entry is no number"):
        Store.open(store.path)


def test_a_folder_of_other_things_is_refused_and_not_littered(tmp_path: Path) -> None:
    """No store is made between a user's files."""
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(StoreFormatError, match=r"holds other files \(thesis.tex\)"):
        Store.open(tmp_path)
    assert os.listdir(tmp_path) == ["thesis.tex"]


def test_another_cache_or_database_is_refused(tmp_path: Path) -> None:
    """A diskcache folder with entries of its own, or another program's cache.db, is left alone."""
    with diskcache.Cache(tmp_path / "cache") as cache:
        cache["theirs"] = 1
    (tmp_path / "db").mkdir()
    with sqlite3.connect(tmp_path / "db" / "cache.db") as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    for name in ("cache", "db"):
        with pytest.raises(StoreFormatError, match="of something else"):
            Store.open(tmp_path / name)
    with diskcache.Cache(tmp_path / "cache") as cache:
        assert cache["theirs"] == 1


def test_a_file_is_no_store(tmp_path: Path) -> None:
    """A path to a file is refused in words."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreFormatError, match="is a file, not a folder"):
        Store.open(tmp_path / "file")


def test_without_create_nothing_is_made(tmp_path: Path) -> None:
    """Looking at a store that is not there does not make one."""
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(StoreError, match="there is no store at"):
            Store.open(path, create=False)
    assert os.listdir(tmp_path) == []


def test_hidden_files_do_not_stand_in_the_way(tmp_path: Path) -> None:
    """A folder with only what editors and notebooks hide in it is as good as empty."""
    (tmp_path / ".ipynb_checkpoints").mkdir()
    Store.open(tmp_path).close()
    Store.open(tmp_path, create=False).close()


def test_a_creation_that_was_killed_is_finished(tmp_path: Path) -> None:
    """Whatever a kill during creation leaves, the next open makes a store of it."""
    stages = [tmp_path / "empty", tmp_path / "no tables", tmp_path / "no rows", tmp_path / "no marker"]
    for path in stages:
        path.mkdir()
    (stages[1] / "cache.db").touch()
    diskcache.Cache(stages[2]).close()
    Store.open(stages[3]).close()
    (stages[3] / ".gitignore").unlink()
    for path in stages:
        with Store.open(path) as store:
            before = fill(store)
        with Store.open(path, create=False) as store:
            assert store.lease_of(RUN) == before


@pytest.mark.parametrize("state", ["missing", "empty"])
def test_a_lost_database_is_damage_and_no_new_store(store: Store, lease: Lease, state: str) -> None:
    """A store whose database vanished does not quietly begin anew."""
    store.close()
    (store.path / "cache.db").unlink()
    if state == "empty":
        (store.path / "cache.db").touch()
    with pytest.raises(DamagedError, match=f"its database cache.db is {state}"):
        Store.open(store.path)


def test_relative_and_home_paths_are_resolved_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of the working folder or of the environment does not move an open store."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLACE", str(tmp_path / "here"))
    with Store.open("$PLACE/store") as store, Store.open("other") as other:
        assert store.path == tmp_path / "here" / "store"
        assert other.path == tmp_path / "other"
        monkeypatch.chdir("/")
        fill(other)


@pytest.mark.parametrize("name", ["eviction_policy", "cull_limit", "size_limit", "sqlite_mmap_size"])
def test_planted_settings_are_repaired(store: Store, lease: Lease, name: str) -> None:
    """A setting that would evict, or harm, holds only until the next open."""
    before = sql(store.path, "SELECT value FROM Settings WHERE key = ?", name)
    sql(store.path, "UPDATE Settings SET value = 'least-recently-used' WHERE key = ?", name)
    store.close()
    Store.open(store.path).close()
    assert sql(store.path, "SELECT value FROM Settings WHERE key = ?", name) == before


@pytest.mark.parametrize("name", ["_sql", "set", "close", "disk_evil", "sqlite_query_only", "_disk"])
def test_settings_that_are_not_diskcaches_are_dropped(store: Store, lease: Lease, name: str) -> None:
    """A planted row does not become an attribute, a pragma or an argument."""
    before = snapshot(store)
    store.close()
    sql(store.path, "INSERT INTO Settings VALUES (?, 1)", name)
    with Store.open(store.path) as again:
        assert snapshot(again) == before
        again.put_note(RUN, "slot", b"data")
    assert sql(store.path, "SELECT value FROM Settings WHERE key = ?", name) == []


def test_nothing_is_evicted(store_dir: Path) -> None:
    """2,000 entries beyond a planted limit remain, with default openers in between."""
    with Store.open(store_dir) as store:
        lease = store.acquire(RUN, ME, now=NOW, alive=lambda _: True)
        for number in range(1000):
            store.append(RUN, number, b"x" * 100, lease=lease)
    diskcache.Cache(
        store_dir, size_limit=1000, eviction_policy="least-recently-stored", cull_limit=50
    ).close()
    with Store.open(store_dir) as store:
        with diskcache.Cache(store_dir) as theirs:
            theirs.set("theirs", "small")
            theirs.cull()
            theirs.expire()
        for number in range(1000, 2000):
            store.append(RUN, number, b"x" * 100, lease=lease)
        with diskcache.Cache(store_dir) as theirs:
            theirs.set("theirs", "again")
        found = store.read(RUN)
        assert (len(found.records), found.damage) == (2000, None)


def test_settings_planted_while_open_do_not_evict(store: Store, lease: Lease) -> None:
    """An open store does not take up what another opener sets."""
    diskcache.Cache(store.path, size_limit=1, eviction_policy="least-recently-used", cull_limit=100).close()
    for number in range(3, 300):
        store.append(RUN, number, b"x" * 100, lease=lease)
    assert len(store.read(RUN).records) == 300


@pytest.mark.filterwarnings("always")  # check() collects warnings, and returns them
def test_diskcache_itself_can_read_the_rows(store: Store, lease: Lease) -> None:
    """Rows are diskcache's own, with its counters right."""
    with diskcache.Cache(store.path) as theirs:
        assert theirs[f"h{RUN}"].endswith(b"header")
        assert len(theirs) == sql(store.path, "SELECT count(*) FROM Cache")[0][0]
        messages = [str(warning.message) for warning in theirs.check()]
    assert [message for message in messages if ".gitignore" not in message] == []
