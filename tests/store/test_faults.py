"""All methods under a locked database, a full disk and a read-only folder."""

from __future__ import annotations

import inspect
import os
import resource
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jupyter_wfresume.errors import StoreError
from jupyter_wfresume.records import Lease
from jupyter_wfresume.store import Store
from tests.store.helpers import BIG, READS, RUN, WRITES, fill, in_child, python, snapshot

HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1] + "/cache.db", isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def locked(store: Store, lease: Lease) -> Iterator[None]:
    """Let another process hold the database's write lock."""
    holder = python(HOLD, store.path)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    yield
    holder.communicate("\n")


def test_the_table_names_every_method() -> None:
    """A method that is added without a row in the table is noticed."""
    public = {name for name, _ in inspect.getmembers(Store, inspect.isfunction) if not name.startswith("_")}
    assert public - {"close"} == {*WRITES, *READS}


@pytest.mark.parametrize("name", WRITES)
def test_a_locked_store_refuses_writes_in_words(name: str, store: Store, lease: Lease, locked: None) -> None:
    """Each writing method waits as told, then says that the store is locked, and has done nothing."""
    before = snapshot(store)
    with pytest.raises(StoreError, match=r"is locked by another process \(waited 0.2 s\)") as caught:
        WRITES[name](store, lease)
    assert str(store.path) in str(caught.value)
    assert caught.value.path == store.path
    assert snapshot(store) == before


@pytest.mark.parametrize("name", READS)
def test_a_locked_store_can_be_read(name: str, store: Store, lease: Lease, locked: None) -> None:
    """Reading does not wait for another kernel's write."""
    assert READS[name](store, lease) is not None


def test_a_locked_store_cannot_be_opened_and_says_so(store: Store, lease: Lease, locked: None) -> None:
    """Opening waits no longer than it was told."""
    with pytest.raises(StoreError, match="is locked by another process"):
        Store.open(store.path, timeout_s=0.1)


def test_a_lock_that_ends_in_time_is_waited_for(store_dir: Path) -> None:
    """A short lock costs time, no error."""
    with Store.open(store_dir) as store:
        lease = fill(store)
        holder = python(HOLD, store.path)
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "held\n"
        holder.stdin.write("\n")
        holder.stdin.flush()
        store.append(RUN, 3, b"three", lease=lease)
        holder.communicate()
        assert len(store.read(RUN).records) == 4


def _no_more_pages(store: Store) -> None:
    connection = store._rows.connection()
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")


def _no_longer_files(store: Store) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))


def _fill_the_disk(store: Store) -> None:
    with open(store.path / "ballast", "wb", buffering=0) as ballast:
        for size in (65536, 512):
            try:
                while ballast.write(b"x" * size):
                    pass
            except OSError:
                continue


# A small disk needs root; the other two stand in for it everywhere.
LIMITS: dict[str, Callable[[Store], None]] = {"pages": _no_more_pages, "file size": _no_longer_files}
if os.name == "posix" and os.geteuid() == 0:
    LIMITS["small disk"] = _fill_the_disk


@pytest.fixture
def small_disk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """Return a folder, on a disk of 4 MiB where that is asked for and allowed."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = (
        request.param == "small disk"
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], check=False
        ).returncode
    )
    yield folder
    if mounted:
        subprocess.run(["umount", "-l", folder], check=True)


def _when_full(folder: Path, limit: Callable[[Store], None], name: str) -> list[object]:
    """Call a method on a full disk; return its error and whether the state is whole."""
    with Store.open(folder / "store", timeout_s=1) as store:
        lease = fill(store)
        before = snapshot(store)
        limit(store)
        try:
            WRITES[name](store, lease)
            return ["", True]
        except StoreError as error:
            return [str(error), snapshot(store) == before]


MUST_GROW = ["append_many", "put_blob", "put_note", "put_run"]


@pytest.mark.parametrize(
    ("small_disk", "limit"),
    list(LIMITS.items()),
    indirect=["small_disk"],
    ids=[*LIMITS],
)
@pytest.mark.parametrize("name", WRITES)
def test_a_full_disk_is_told_and_nothing_is_half_written(
    small_disk: Path, limit: Callable[[Store], None], name: str
) -> None:
    """Each writing method succeeds or names the full disk; what was there before is whole."""
    message, whole = in_child(lambda: _when_full(small_disk, limit, name))
    assert whole
    if limit is not _no_more_pages or name != "put_blob":  # a file of its own takes no page
        assert message or name not in MUST_GROW
    if message:
        assert "is full" in message or "refused to read or write" in message
        assert str(small_disk) in message


@pytest.mark.parametrize("small_disk", ["file size"], indirect=True)
def test_a_failed_write_leaves_no_file(small_disk: Path) -> None:
    """A value's file that did not fit is taken away again."""
    message, _ = in_child(lambda: _when_full(small_disk, _no_longer_files, "put_blob"))
    assert "is full" in message
    assert sorted(file.stat().st_size for file in small_disk.rglob("*.val")) == [len(BIG) - 1, len(BIG) + 8]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Return a folder that every user of the machine can reach."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def _as_plain_user(folder: Path, act: Callable[[], object]) -> object:
    """Run a function as a user whom permissions bind, which they do not bind root."""

    def drop_rights_and_act() -> object:
        if os.geteuid() == 0:
            os.setuid(65534)
        return act()

    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, 65534, 65534)
    return in_child(drop_rights_and_act)


def _message_of_open(path: Path) -> str:
    try:
        Store.open(path, timeout_s=0.1).close()
    except StoreError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("what", ["folder", "file"])
def test_a_read_only_store_is_told(open_folder: Path, what: str) -> None:
    """A folder or file that cannot be written is named as such when the store is opened."""
    path = open_folder / "store"
    with Store.open(path) as store:
        fill(store)
    (path if what == "folder" else path / "cache.db").chmod(0o500 if what == "folder" else 0o400)
    message = _as_plain_user(open_folder, lambda: _message_of_open(path))
    assert str(path) in str(message)
    assert "read-only" in str(message) or "cannot open cache.db" in str(message)
    assert "--store" in str(message)


def test_a_store_that_becomes_read_only_refuses_writes(open_folder: Path) -> None:
    """Each method on a store opened before says what is wrong, if it fails at all."""
    path = open_folder / "store"
    with Store.open(path) as store:
        fill(store)

    def act() -> list[str]:
        with Store.open(path, timeout_s=0.1) as store:
            store.put_note(RUN, "before", b"x")
            os.chmod(path, 0o500)
            messages = []
            for name in ("put_blob",):
                try:
                    WRITES[name](store, store.lease_of(RUN))  # type: ignore[arg-type]  # held since fill
                except StoreError as error:
                    messages.append(str(error))
            os.chmod(path, 0o700)
            return messages

    messages = _as_plain_user(open_folder, act)
    assert isinstance(messages, list)
    assert ["read-only" in message for message in messages] == [True]


def test_a_folder_that_cannot_be_created_is_told(open_folder: Path) -> None:
    """A missing store below a read-only folder is named, not a traceback of the system."""
    open_folder.chmod(0o500)
    message = _as_plain_user(open_folder, lambda: _message_of_open(open_folder / "store"))
    open_folder.chmod(0o700)
    assert "is read-only for you" in str(message)


def test_raw_errors_never_come_through(store: Store, lease: Lease, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever sqlite raises, a ``StoreError`` with the folder's name arrives."""

    def fail(*_: object) -> object:
        raise sqlite3.OperationalError("something new")

    monkeypatch.setattr(store._rows, "connection", fail)
    for act in (*WRITES.values(), *READS.values()):
        if act is READS["total_bytes"]:
            continue
        with pytest.raises(StoreError, match="something new"):
            act(store, lease)
