"""One place where two values differ, put into words and signs."""

from __future__ import annotations

import datetime as dt
import difflib
import re
import sys
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from typing import Any, Literal

Kind = Literal["changed", "added", "removed", "type"]
Piece = tuple[Literal["+", "-", " ", "…"], str]
"""A part of a text: put in, taken out, kept, or left out for shortness."""

SHORT = 80
"""Characters up to which a text is shown whole, old beside new."""

COMPARED = 4_000
"""Lines or words up to which a text's changed middle is compared: it costs their square."""

CONTEXT_WORDS = 4
CONTEXT_LINES = 1


@dataclass(frozen=True)
class Shown:
    """What differs, in parts.

    Args:
        layout: ``pair`` (old beside new), ``words`` or ``lines`` of a text.
        pieces: the parts, in order.
        note: said behind them.
    """

    layout: Literal["pair", "words", "lines"]
    pieces: tuple[Piece, ...]
    note: str = ""

    @property
    def text(self) -> str:
        """The same as plain text, with a sign at what was put in or taken out."""
        if self.layout == "lines":
            return "\n".join(f"{sign} {text}" for sign, text in self.pieces)
        if self.layout == "words":
            marked = {"+": "{{+{}+}}", "-": "[-{}-]", " ": "{}", "…": "…"}
            return " ".join(marked[sign].format(text) for sign, text in self.pieces)
        pair = " → ".join(text for _, text in self.pieces)
        return " ".join(part for part in (pair, self.note) if part)


@dataclass(frozen=True)
class Difference:
    """One place where two values differ.

    Args:
        path: where, such as ``.items[3].name``; empty for the whole value.
        kind: ``changed``, ``added``, ``removed``, or ``type`` where the types differ.
        old: what was there, None where it was added.
        new: what is there now, None where it was removed.
        text: what differs, for reading; of several lines where they are lines of a text.
        shown: the same in parts.
    """

    path: str
    kind: Kind
    old: Any
    new: Any
    text: str
    shown: Shown


def difference(path: str, kind: Kind, old: Any, new: Any, shown: Shown | None = None) -> Difference:
    """A difference, put into words.

    Args:
        path: where.
        kind: of which kind.
        old: what was there.
        new: what is there now.
        shown: the words, where they are known already.
    """
    words = shown or _shown(kind, old, new)
    return Difference(path, kind, old, new, words.text, words)


def show(value: Any, limit: int = SHORT) -> str:
    """A value in one line, cut in the middle where it is long.

    Args:
        value: of any kind.
        limit: characters.
    """
    try:
        text = repr(_bare(value))
    except Exception as error:  # noqa: BLE001  # a user's __repr__ may raise anything; its name has to do
        text = f"<{type(value).__name__}, whose repr() raises {type(error).__name__}>"
    if "\n" in text:
        text = " ".join(text.split())
    if len(text) <= limit:
        return text
    return f"{text[: limit * 2 // 3]}…{text[-(limit // 4) :]}"


def _bare(value: Any) -> Any:
    """A numpy number as Python's own, which reads better beside its like."""
    scalar: Any = getattr(sys.modules.get("numpy"), "number", None)
    return value.item() if scalar is not None and isinstance(value, scalar) else value


def type_name(value: Any) -> str:
    """A type's name, with its library where that says something."""
    cls = type(value)
    if cls.__module__ in ("builtins", "__main__"):
        return cls.__qualname__
    return f"{cls.__module__.partition('.')[0]}.{cls.__qualname__}"


def _shown(kind: Kind, old: Any, new: Any) -> Shown:
    if kind == "added":
        return Shown("pair", (("+", show(new)),))
    if kind == "removed":
        return Shown("pair", (("-", show(old)),))
    if kind == "type":
        return Shown("pair", (("-", _typed(old)), ("+", _typed(new))))
    if isinstance(old, str) and isinstance(new, str):
        return texts(old, new)
    return Shown("pair", (("-", show(old)), ("+", show(new))), _change(old, new))


def _typed(value: Any) -> str:
    text, name = show(value), type_name(value)
    bare = name.rpartition(".")[2]
    return text if value is None or text.startswith((f"{bare}(", f"<{bare}")) else f"{name} {text}"


def _change(old: Any, new: Any) -> str:
    """How far two numbers or times are apart; empty where that says nothing."""
    if isinstance(old, (dt.date, dt.timedelta)):
        try:
            return f"({new - old})"
        except (TypeError, OverflowError):
            return ""
    if isinstance(old, bool) or not (_is_number(old) and _is_number(new)):
        return ""
    try:
        by = new - old
        absolute = f"{by:+d}" if isinstance(by, int) else f"{by:+.6g}"
        share = float(by / abs(old) * 100) if old else None
    except (TypeError, ValueError, ArithmeticError):
        return ""
    if by != by or (share is not None and share != share):
        return ""
    if share is None:
        return f"({absolute})"
    return f"({absolute}, {share:{'+.3g' if abs(share) < 1000 else '+,.0f'}} %)"


def _is_number(value: Any) -> bool:
    scalar: Any = getattr(sys.modules.get("numpy"), "number", None)
    return isinstance(value, (int, float, Decimal)) or (scalar is not None and isinstance(value, scalar))


def texts(old: str, new: str) -> Shown:
    """What differs between two texts: whole where short, by lines where they have some, else by words.

    Args:
        old: what was there.
        new: what is there now.
    """
    whole = Shown("pair", (("-", show(old)), ("+", show(new))))
    if "\n" in old or "\n" in new:
        lines = _compact(old.splitlines(), new.splitlines(), CONTEXT_LINES)
        changed = any(sign in "+-" for sign, _ in lines)
        return Shown("lines", tuple(lines)) if changed else Shown("pair", whole.pieces, "(line ends)")
    if len(old) <= SHORT and len(new) <= SHORT:
        return Shown("pair", (("-", repr(old)), ("+", repr(new))))
    pieces = _compact(re.findall(r"\s*\S+", old), re.findall(r"\s*\S+", new), CONTEXT_WORDS)
    words: list[Piece] = [
        (sign, "".join(text for _, text in some).strip())
        for sign, some in groupby(pieces, key=lambda piece: piece[0])
    ]
    return Shown("words", tuple(words)) if any(sign == " " for sign, _ in words) else whole


def _compact(old: list[str], new: list[str], context: int) -> list[Piece]:
    """Changed parts with a little of what stands around them."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    a, b = old[start : len(old) - end], new[start : len(new) - end]
    pieces = _trim(old[:start], 0, context)
    if len(a) + len(b) > COMPARED:
        pieces += [("-", f"{len(a)} parts, too many to compare"), ("+", f"{len(b)} parts")]
    else:
        for tag, i, j, k, m in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
            if tag == "equal":
                pieces += _trim(a[i:j], context, context)
            else:
                pieces += [("-", part) for part in a[i:j]]
                pieces += [("+", part) for part in b[k:m]]
    return pieces + _trim(old[len(old) - end :], context, 0)


def _trim(parts: list[str], head: int, tail: int) -> list[Piece]:
    """Parts that are the same, without those far from a change."""
    if len(parts) <= head + tail + 1:
        return [(" ", part) for part in parts]
    gap: Piece = ("…", f"({len(parts) - head - tail} more)")
    behind = parts[len(parts) - tail :]
    return [*((" ", part) for part in parts[:head]), gap, *((" ", part) for part in behind)]
