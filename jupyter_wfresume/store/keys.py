"""The keys of a store's rows: one letter for the kind, the run, then what is told apart within it.

Keys are short because sqlite writes each of them twice, into the row and into the index.
"""

from __future__ import annotations

import re

from ..errors import StoreError

FORMAT_KEY = "format"
HEADERS = ("h", "i")
"""All headers' keys lie from the first to before the second."""
BLOBS = ("b", "c")
"""All content-addressed values' keys lie from the first to before the second."""

_DIGITS = "0123456789abcdefghijklmnopqrstuv"
_RUN_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")
_SHOWN = 8


def header_key(run_id: str) -> str:
    """Return the key of a run's header; a bad id raises ``StoreError``."""
    return "h" + _checked(run_id)


def lease_key(run_id: str) -> str:
    """Return the key of a run's lease."""
    return "l" + _checked(run_id)


def record_key(run_id: str, number: int) -> str:
    """Return the key of a journal record; keys of one run sort as their numbers do."""
    if number < 0:
        raise StoreError(f"a record's number is 0 or more, not {number}")
    digits = ""
    rest = number
    while rest or not digits:
        rest, digit = divmod(rest, 32)
        digits = _DIGITS[digit] + digits
    # The count of digits comes first, so that 9 sorts before 10.
    return f"j{_checked(run_id)}.{_DIGITS[len(digits)]}{digits}"


def note_key(run_id: str, slot: str) -> str:
    """Return the key of a side entry."""
    if not slot or any(0xD800 <= ord(char) <= 0xDFFF or char == "\0" for char in slot):
        raise StoreError(f"{slot!r} cannot name an entry of run {shown(run_id)}: use plain text")
    return f"n{_checked(run_id)}.{slot}"


def blob_key(digest: str) -> str:
    """Return the key of a content-addressed value."""
    return "b" + digest


def records_of(run_id: str) -> tuple[str, str]:
    """Return the keys between which all records of a run lie."""
    return f"j{_checked(run_id)}.", f"j{run_id}/"


def notes_of(run_id: str) -> tuple[str, str]:
    """Return the keys between which all side entries of a run lie."""
    return f"n{_checked(run_id)}.", f"n{run_id}/"


def shown(run_id: str) -> str:
    """Return as much of a run id as people are shown."""
    return run_id[:_SHOWN]


def said(key: str) -> str:
    """Return what a key stands for, in words."""
    kind, rest = key[:1], key[1:]
    run_id, _, tail = rest.partition(".")
    if kind == "j":
        return f"record {_number(tail)} of run {shown(run_id)}"
    if kind == "n":
        return f"the entry {tail} of run {shown(run_id)}"
    if kind == "h":
        return f"the header of run {shown(run_id)}"
    if kind == "l":
        return f"the lease of run {shown(run_id)}"
    return f"the value {rest[:12]}" if kind == "b" else f"the entry {key}"


def _number(tail: str) -> str:
    digits = tail[1:].lower()
    return str(int(digits, 32)) if digits and all(char in _DIGITS for char in digits) else tail


def _checked(run_id: str) -> str:
    if not _RUN_ID.fullmatch(run_id):
        raise StoreError(f"{run_id!r} is no run id: use letters, digits, - and _, at most 64")
    return run_id
