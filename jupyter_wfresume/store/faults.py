"""Turns what sqlite, diskcache and the system raise into sentences."""

from __future__ import annotations

import errno
import functools
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar

import diskcache

from ..errors import DamagedError, StoreError


class Placed(Protocol):
    """Something that knows the folder it works on."""

    @property
    def path(self) -> Path: ...

    @property
    def timeout_s(self) -> float: ...


P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound=Placed)

# Primary result codes, from sqlite's documentation.
_PERM, _BUSY, _LOCKED, _READONLY, _IOERR, _CORRUPT, _FULL, _CANTOPEN, _NOTADB = 3, 5, 6, 8, 10, 11, 13, 14, 26

# Python 3.10 gives no result code, and no version gives one for text that does not decode.
_CODES_BY_TEXT = (
    ("locked", _BUSY),
    ("is full", _FULL),
    ("readonly", _READONLY),
    ("unable to open", _CANTOPEN),
    ("i/o error", _IOERR),
    ("malformed", _CORRUPT),
    ("could not decode", _CORRUPT),
    ("not a database", _NOTADB),
)
_FULL_ERRNOS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN_ERRNOS = {errno.EACCES, errno.EPERM, errno.EROFS}


def plainly(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Decorate a method so that it raises ``StoreError`` where sqlite or the system fails."""

    @functools.wraps(method)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(self, *args, **kwargs)
        except (sqlite3.Error, diskcache.Timeout, OSError) as error:
            raise sentence(error, self.path, self.timeout_s) from error

    return call


def sentence(error: BaseException, path: Path, timeout_s: float) -> StoreError:
    """Say what failed, on which folder, and what to do.

    Args:
        error: what was raised.
        path: the store's folder.
        timeout_s: seconds that were waited for a lock.
    """
    if isinstance(error, diskcache.Timeout) and isinstance(error.__context__, sqlite3.Error):
        # diskcache raises Timeout for whatever stopped a transaction from beginning.
        error = error.__context__
    if isinstance(error, OSError):
        return _system_sentence(error, path)
    code = sqlite_code(error)
    if code in (_BUSY, _LOCKED):
        return StoreError(
            f"the store {path} is locked by another process (waited {timeout_s:g} s): "
            "close what holds it, then run this again",
            path,
        )
    if code == _FULL:
        return _full(path)
    if code in (_READONLY, _PERM):
        return _forbidden(path)
    if code == _CANTOPEN:
        return StoreError(
            f"cannot open cache.db in the store {path}: make the folder and its files readable "
            "and writable for you, or choose another folder with --store",
            path,
        )
    if code in (_CORRUPT, _NOTADB):
        return DamagedError(
            f"the store {path} is damaged: cache.db {_damage(code)}; nothing was changed in it; "
            f"{rescue_hint(path)}",
            path,
        )
    if code == _IOERR:
        return StoreError(
            f"the disk refused to read or write the store {path} ({error}): "
            "check its space, quota and connection, then run this again",
            path,
        )
    return StoreError(f"the store {path} could not be used: {error}; run this again", path)


def is_damage(error: sqlite3.Error) -> bool:
    """Tell whether the database's pages, not its surroundings, are the cause."""
    return sqlite_code(error) in (_CORRUPT, _NOTADB)


def sqlite_code(error: BaseException) -> int:
    """Return sqlite's primary result code, 0 where it cannot be told."""
    code = getattr(error, "sqlite_errorcode", None)
    if isinstance(code, int):
        return code & 0xFF
    text = str(error).lower()
    return next((code for part, code in _CODES_BY_TEXT if part in text), 0)


def rescue_hint(path: Path) -> str:
    """Return what to do about a damaged database."""
    return (
        "restore it from a copy, or save what can be read: "
        f"from jupyter_wfresume.store import rescue; rescue({str(path)!r}, 'NEW_FOLDER')"
    )


def _damage(code: int) -> str:
    return "is no database any more" if code == _NOTADB else "has pages that are lost or changed"


def _system_sentence(error: OSError, path: Path) -> StoreError:
    if error.errno in _FULL_ERRNOS:
        return _full(path)
    if error.errno in _FORBIDDEN_ERRNOS:
        return _forbidden(path)
    where = f" ({error.filename})" if error.filename else ""
    return StoreError(f"cannot read or write the store {path}: {error.strerror or error}{where}", path)


def _full(path: Path) -> StoreError:
    return StoreError(
        f"the disk with the store {path} is full: free some space, then run this again; "
        "nothing was half written",
        path,
    )


def _forbidden(path: Path) -> StoreError:
    return StoreError(
        f"the store {path} is read-only for you: make the folder and its files writable, "
        "or choose another folder with --store",
        path,
    )
