"""What stands behind a magic's name: one table of options, and its reader."""

from __future__ import annotations

import difflib
import math
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import UsageError
from ..records import Options

STALES = ("auto", "rerun", "keep")
BOARDS = ("auto", "widget", "text", "none")


@dataclass(frozen=True)
class Option:
    """One option of a magic.

    Args:
        flag: as typed, such as ``--timeout``.
        key: field of `Options` that it sets.
        value: what the value is called in help, or empty where the option takes none.
        read: turns the typed word into the field's value; raises `ValueError` with what was expected.
        words: values that TAB offers.
        most: how far it is counted when it is given several times.
    """

    flag: str
    key: str
    value: str = ""
    read: Callable[[str], Any] = str
    words: tuple[str, ...] = ()
    most: int = 1


@dataclass(frozen=True)
class Arguments:
    """What was typed behind a magic's name.

    Args:
        words: the words that are no options, in order.
        given: the options that were given, by field of `Options`.
    """

    words: tuple[str, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)

    def options(self) -> Options:
        """The options, with the defaults of `Options` for what was not given."""
        return Options(**self.given)


def seconds(word: str, unbounded: str) -> float:
    """Read a number of seconds, or the word for no bound.

    Args:
        word: what was typed.
        unbounded: the word that stands for infinity.

    Raises:
        ValueError: it is neither; the text says what was expected.
    """
    if word.lower() == unbounded:
        return math.inf
    expected = f"takes a number of seconds or {unbounded}"
    try:
        number = float(word)
    except ValueError:
        raise ValueError(expected) from None
    if not math.isfinite(number) or number < 0:
        raise ValueError(expected)
    return number


def timeout(word: str) -> float:
    """Read ``--timeout``: more than 0 seconds, or ``none``."""
    number = seconds(word, "none")
    if number == 0:
        raise ValueError("takes more than 0 seconds, or none")
    return number


def board(word: str) -> str:
    """Read ``--board``."""
    if word not in BOARDS:
        raise ValueError(f"takes {', '.join(BOARDS[:-1])} or {BOARDS[-1]}")
    return word


def stale(word: str) -> str:
    """Read ``--stale``."""
    if word not in STALES:
        raise ValueError(f"takes {', '.join(STALES[:-1])} or {STALES[-1]}")
    return word


def folder(word: str) -> str:
    """Read ``--store``."""
    if not word.strip():
        raise ValueError("takes a folder")
    return word


FRESH = Option("--fresh", "fresh", most=2)
TIMEOUT = Option("--timeout", "timeout_s", "SECONDS|none", timeout, ("none",))
STORE = Option("--store", "store", "DIR", folder)
WAIT = Option("--wait", "wait_s", "SECONDS|forever", lambda word: seconds(word, "forever"), ("forever",))
BOARD = Option("--board", "board", "auto|widget|text|none", board, BOARDS)

STALE = Option("--stale", "stale", "auto|rerun|keep", stale, STALES)
KEEP_GOING = Option("--keep-going", "keep_going")
K = Option("-k", "keep_going")
DRY_RUN = Option("--dry-run", "dry_run")

RUN_OPTIONS = (FRESH, KEEP_GOING, K, TIMEOUT, STALE, STORE, WAIT, BOARD, DRY_RUN)
RESUME_OPTIONS = (TIMEOUT, STORE, WAIT, BOARD)
LIST_OPTIONS = (STORE,)

DIFF = Option("--diff", "diff", "OTHER")
CONTINUE = Option("--continue", "continue_")
UNDO = Option("--undo", "undo")

SHOW_OPTIONS = (DIFF, STORE)
REPLAY_OPTIONS = (CONTINUE, STORE, BOARD)
SKIP_OPTIONS = (UNDO, STORE)


def parse(magic: str, line: str, options: Sequence[Option], most_words: int, word: str) -> Arguments:
    """Read what stands behind a magic's name.

    Args:
        magic: the magic as typed, such as ``%%wfrun``, for the sentences.
        line: the text.
        options: what is offered.
        most_words: how many words beside the options are allowed.
        word: what such a word is called, such as ``NAME``.

    Raises:
        UsageError: the line does not fit; one sentence that says what and how to do it right.
    """
    flags = {option.flag: option for option in options}
    words: list[str] = []
    given: dict[str, Any] = {}
    pieces = split(magic, line)
    typed = iter(_bracketed(pieces) if most_words > 1 else pieces)
    for piece in typed:
        if not piece.strip():
            raise UsageError(f"{magic}: the {word} is empty; write one, or leave it out")
        if not piece.startswith("-"):
            words.append(piece)
            continue
        flag, equals, rest = piece.partition("=")
        option = flags.get(flag)
        if option is None:
            hint = nearest(flag, flags) or f"; it has {', '.join(flags)}"
            raise UsageError(f"{magic} has no option {flag}{hint}")
        if option.key in given and option.most == 1:
            raise UsageError(f"{magic}: {flag} is given twice; give it once")
        if option.value:
            given[option.key] = _value(magic, option, rest if equals else next(typed, None))
        elif equals:
            raise UsageError(f"{magic}: {flag} takes no value; leave out {equals}{rest}")
        elif option.most == 1:
            given[option.key] = True
        else:
            given[option.key] = min(given.get(option.key, 0) + 1, option.most)
    if len(words) > most_words:
        raise UsageError(_too_many(magic, words, most_words, word))
    return Arguments(tuple(words), given)


def split(magic: str, line: str) -> list[str]:
    """Split into words as a shell does; quotes hold a word with spaces together, a comment is left out.

    Raises:
        UsageError: a quote is not closed.
    """
    lexer = shlex.shlex(_uncommented(line), posix=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    if os.name == "nt":
        lexer.escape = ""  # a backslash parts folders there
    try:
        return list(lexer)
    except ValueError:
        raise UsageError(f"{magic}: a quote is not closed in: {line.strip()}") from None


def _uncommented(line: str) -> str:
    """The line up to a ``#`` that begins a word outside of quotes."""
    quote, before = "", " "
    for place, char in enumerate(line):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"" and before != "\\":
            quote = char
        elif char == "#" and before.isspace():
            return line[:place]
        before = char
    return line


def _bracketed(pieces: list[str]) -> list[str]:
    """Put ``work[3, 17]`` together again, which the space has parted."""
    joined: list[str] = []
    for piece in pieces:
        if joined and joined[-1].count("[") > joined[-1].count("]"):
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined


def nearest(word: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    """Return ``; did you mean --fresh?`` where one of the known words is near, else an empty text."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    found = found or [one for one in known if len(word.strip("-")) > 1 and one.startswith(word)]
    return f"; did you mean {found[0]}?" if found else ""


def _value(magic: str, option: Option, word: str | None) -> Any:
    if word is None:
        raise UsageError(f"{magic}: {option.flag} needs a value: {option.flag} {option.value}")
    try:
        return option.read(word)
    except ValueError as error:
        hint = nearest(word, option.words)
        raise UsageError(f"{magic}: {option.flag} {error}, not {word!r}{hint}") from None


def _too_many(magic: str, words: Sequence[str], most: int, word: str) -> str:
    shown = " and ".join(repr(each) for each in words[:3])
    if most == 0:
        return f"{magic} takes no {word}, but got {shown}"
    if most > 1:
        return f"{magic} takes {word}, but got {shown}; put quotes around a name with spaces"
    return f"{magic} takes one {word}, but got {shown}; put quotes around a {word} with spaces"
