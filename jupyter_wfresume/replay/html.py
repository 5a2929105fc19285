"""Differences drawn as text and as HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence

from .words import Difference, Piece

LIMIT = 100
"""Differences that are drawn; the others are counted."""

_WHOLE = 32
"""Characters of a path that are not broken over lines."""

SIGNS = {"added": "+", "removed": "-", "changed": "~", "type": "~"}

_INS = "text-decoration:none;background:rgba(9,105,218,.14);border-bottom:2px solid rgba(9,105,218,.8);"
_DEL = "text-decoration:line-through;background:rgba(188,76,0,.14);"
_MONO = "font-family:var(--jp-code-font-family,monospace);white-space:pre-wrap;overflow-wrap:anywhere;"
_MUTED = "opacity:.65;"


def as_text(found: Sequence[Difference], limit: int = LIMIT) -> str:
    """Differences as lines of text, a sign before each.

    Args:
        found: the differences.
        limit: how many are drawn.
    """
    if not found:
        return "no difference"
    lines: list[str] = []
    for one in found[:limit]:
        name = _name(one)
        if "\n" in one.text or one.shown.layout == "lines":
            lines += [f"{SIGNS[one.kind]} {name}:", *(f"    {line}" for line in one.text.split("\n"))]
        else:
            lines.append(f"{SIGNS[one.kind]} {name}: {one.text}")
    if len(found) > limit:
        lines.append(f"… and {len(found) - limit} more")
    return "\n".join(lines)


def as_html(found: Sequence[Difference], limit: int = LIMIT) -> str:
    """Differences as HTML with its style in it; what was put in and taken out has a sign beside its colour.

    Args:
        found: the differences.
        limit: how many are drawn.
    """
    if not found:
        return f'<div style="{_MUTED}">no difference</div>'
    rows = [_row(one) for one in found[:limit]]
    if len(found) > limit:
        rows.append(f'<tr><td colspan="3" style="{_MUTED}">… and {len(found) - limit} more</td></tr>')
    return f'<table style="border-collapse:collapse;{_MONO}">{"".join(rows)}</table>'


def _name(one: Difference) -> str:
    return one.path.removeprefix(".") or "value"


def _row(one: Difference) -> str:
    cell = "padding:1px 8px;text-align:left;vertical-align:top;"
    separator = "<br>" if one.shown.layout == "lines" else " "
    parts = [_piece(piece) for piece in one.shown.pieces]
    if one.shown.note:
        style = _MUTED if parts else ""
        parts.append(f'<span style="{style}">{html.escape(one.shown.note)}</span>')
    name = _name(one)
    whole = "white-space:nowrap;" if len(name) <= _WHOLE else ""
    return (
        f'<tr><td style="{cell}{whole}">{SIGNS[one.kind]}</td>'
        f'<td style="{cell}{whole}">{html.escape(name)}</td>'
        # Wide enough that no usual word is broken, however long the names beside it are.
        f'<td style="{cell}min-width:12em">{separator.join(parts)}</td></tr>'
    )


def _piece(piece: Piece) -> str:
    sign, text = piece[0], html.escape(piece[1])
    if sign == "+":
        return f'<ins style="{_INS}">+ {text}</ins>'
    if sign == "-":
        return f'<del style="{_DEL}">- {text}</del>'
    return f'<span style="{_MUTED}">{"… " if sign == "…" else ""}{text}</span>'
