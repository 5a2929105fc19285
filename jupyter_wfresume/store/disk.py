"""How keys and values lie in a row or a file: text and bytes, never a pickle."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Collection, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import diskcache

from ..errors import DamagedError

FILE_FROM_BYTES = 32 * 1024
"""Values of this size and more get a file of their own, in bytes (diskcache's own default)."""

_VALUE_FILE = re.compile(r"[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]{28}\.val")
_MODE_ROW, _MODE_FILE, _MODE_PICKLE = 1, 2, 4
_SEAL_BYTES = 8
_TRIES = 10

# A value that is overwritten must not own a file: the old file could only go before or after the
# commit that replaces it, and a kill between the two would cost the value. Records and content-addressed
# values are written once.
_MAY_OWN_FILE = ("j", "b")


class Unsound(DamagedError):
    """A row whose value is not what was written.

    Args:
        reason: what is wrong, to stand after "cannot be read:".
        path: the store's folder, where known.
    """

    def __init__(self, reason: str, path: Path | None = None) -> None:
        self.reason = reason
        super().__init__(reason, path)


class Foreign(Unsound):
    """A row that this package never writes, such as a pickle; it is not looked into."""


def seal(key: str, data: bytes) -> bytes:
    """Put a checksum of key and data before the data."""
    return _checksum(key, data) + data


def unseal(key: str, sealed: bytes) -> bytes:
    """Take the checksum off again.

    Raises:
        Unsound: the bytes are not those written under this key.
    """
    data = sealed[_SEAL_BYTES:]
    if len(sealed) < _SEAL_BYTES or sealed[:_SEAL_BYTES] != _checksum(key, data):
        raise Unsound("its bytes were changed or cut off")
    return data


def _checksum(key: str, data: bytes) -> bytes:
    hashed = blake2b(key.encode(), digest_size=_SEAL_BYTES)
    hashed.update(data)
    return hashed.digest()


def _write(file: Path, data: bytes) -> None:
    for _ in range(_TRIES):
        file.parent.mkdir(parents=True, exist_ok=True)
        # Another process may delete the folder again before the file is in it.
        with contextlib.suppress(FileNotFoundError), open(file, "xb") as writer:
            writer.write(data)
            return
    raise FileNotFoundError(errno.ENOENT, "the folder for a value vanishes again and again", str(file))


class BytesDisk(diskcache.Disk):  # type: ignore[misc]  # the base class has no types
    """A diskcache ``Disk`` for text keys and bytes values that cannot unpickle.

    diskcache's own class runs ``pickle.load`` on rows marked as pickles, whoever wrote them (CVE-2025-69872).
    """

    def __init__(self, directory: str, **settings: Any) -> None:
        super().__init__(directory, **settings)
        self.folder = Path(directory)

    def put(self, key: object) -> tuple[str, bool]:
        """Return the row's key and raw flag; anything but text is a ``TypeError``."""
        if type(key) is not str:
            raise TypeError(f"a store's keys are text, not {type(key).__name__}")
        return key, True

    def get(self, key: object, raw: object) -> str:
        """Return a row's key as text; anything else raises ``Foreign``."""
        if type(key) is not str or raw != 1:
            raise Foreign("its key is pickled or no text, which this package never writes")
        return key

    def store(
        self, value: object, read: bool, key: object = diskcache.UNKNOWN
    ) -> tuple[int, int, str | None, bytes | None]:
        """Return the row's size, mode, file name and value, after writing the file if there is one."""
        if type(value) is not bytes or read:
            raise TypeError(f"a store's values are bytes, not {type(value).__name__}")
        if len(value) < FILE_FROM_BYTES or str(key)[:1] not in _MAY_OWN_FILE:
            return 0, _MODE_ROW, None, value
        name, full = self.filename(key, value)
        try:
            _write(Path(full), value)
        except BaseException:
            self.remove(name)
            raise
        return len(value), _MODE_FILE, name, None

    def fetch(self, mode: object, filename: object, value: object, read: bool) -> bytes:
        """Return a row's value.

        Raises:
            Foreign: the row is a pickle, text, a number, or names a file outside the store's own scheme.
            Unsound: the value's file is missing.
        """
        if mode == _MODE_ROW and type(value) is bytes and not read:
            return value
        if mode == _MODE_FILE and not read and type(filename) is str:
            with self._found(filename) as full:
                return full.read_bytes()
        what = "it is a pickle" if mode == _MODE_PICKLE else "it is of a kind"
        raise Foreign(f"{what} that this package never writes, so it is not opened")

    def remove(self, file_path: str) -> None:
        """Delete a value's file and the folders that it leaves empty; a missing one is fine."""
        full = self._value_file(file_path)
        # Another process may have been quicker, or may have put a file beside it.
        with contextlib.suppress(OSError):
            os.remove(full)
            os.rmdir(full.parent)
            os.rmdir(full.parent.parent)

    def total_bytes(self) -> int:
        """Return the bytes of all files in the folder."""
        return sum(size for _name, size, _at in self._files())

    def sweep_orphans(self, named: Collection[str], before: float) -> int:
        """Delete values' files that no row names, and return the bytes freed.

        Args:
            named: file names in rows.
            before: seconds since the epoch; younger files stay, since their row may be about to be committed.
        """
        freed = 0
        for name, size, changed in list(self._files()):
            if self.owns(name) and name not in named and changed < before:
                self.remove(name)
                freed += size
        return freed

    def _files(self) -> Iterator[tuple[str, int, float]]:
        """Yield name, size in bytes and time of change of each file in the folder."""
        for folder, _folders, names in os.walk(self.folder):
            for name in names:
                # Another process may delete it in between.
                with contextlib.suppress(FileNotFoundError):
                    full = Path(folder, name)
                    known = full.stat()
                    yield str(full.relative_to(self.folder)), known.st_size, known.st_mtime

    def owns(self, filename: object) -> bool:
        """Tell whether a file name is one that ``store`` gives, and so lies in the folder."""
        return type(filename) is str and bool(_VALUE_FILE.fullmatch(filename.replace(os.sep, "/")))

    def length(self, filename: str) -> int:
        """Return the size of a value's file in bytes; raises as ``fetch`` does."""
        with self._found(filename) as full:
            return full.stat().st_size

    @contextlib.contextmanager
    def _found(self, filename: str) -> Iterator[Path]:
        try:
            yield self._value_file(filename)
        except FileNotFoundError:
            raise Unsound(f"its file {filename} is missing") from None

    def _value_file(self, filename: str) -> Path:
        if not self.owns(filename):
            raise Foreign("it names a file outside the store, so it is not opened")
        return self.folder / filename
