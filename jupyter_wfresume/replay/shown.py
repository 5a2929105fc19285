"""What came of replays, drawn as text and as HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .html import as_html, as_text
from .outcome import Outcome
from .pretty import WIDTH, pretty
from .traces import trace

if TYPE_CHECKING:
    from .again import Replayed

ROWS = 50
"""Replays that get a line in a table."""
HALF = 44
"""Characters of a line where two outputs stand beside each other."""
FEW = 20
"""Differences that are drawn of one replay."""
_INPUT_LINES = 10
_HEAD = ("execution", "recorded", "now", "difference")

_BOX = (
    "max-width:60rem;text-align:left;line-height:20px;font-variant-numeric:tabular-nums;"
    "color:var(--jp-ui-font-color1,var(--vscode-foreground,currentColor));"
    "font-family:var(--jp-ui-font-family,var(--vscode-font-family,system-ui,sans-serif));"
    "font-size:var(--jp-ui-font-size1,var(--vscode-font-size,13px));"
)
_SOFT = "color:var(--jp-ui-font-color2,var(--vscode-descriptionForeground,#6b6b6b));"
_LINE = "var(--jp-border-color2,var(--vscode-panel-border,rgba(128,128,128,.35)))"
_PRE = (
    "margin:0;padding:0;border:0;background:none;color:inherit;white-space:pre-wrap;overflow-wrap:anywhere;"
    "font-family:var(--jp-code-font-family,var(--vscode-editor-font-family,ui-monospace,monospace));"
    "font-size:.95em;line-height:18px;max-height:24em;overflow:auto;"
)
_CELL = "padding:1px 12px 1px 0;text-align:left;vertical-align:top;white-space:normal;"
# A "$" in a user's text is no formula for the typesetters of the usual front ends.
_OPEN = f'<div class="mathjax_ignore tex2jax_ignore" style="{_BOX}">'


def took(seconds: float) -> str:
    """Seconds as ``20 ms``, ``0.1 s`` or ``95 s``.

    Args:
        seconds: how long it took.
    """
    return (
        f"{round(seconds * 1000)} ms" if seconds < 0.0995 else f"{seconds:,.{1 if seconds < 9.95 else 0}f} s"
    )


def verdict(done: Replayed) -> str:
    """Whether the outcome is the recorded one, in a few words.

    Args:
        done: the replay.
    """
    if not done.differences:
        return "no difference: it gave what it had given"
    if done.old_error is None and done.new.error is not None:
        return "it raises now"
    if done.old_error is not None and done.new.error is None:
        return "it had failed, and does not now"
    count = len(done.differences)
    if done.new.waits:
        return "it waits for an event now"
    return f"{count:,} difference{'' if count == 1 else 's'}"


def _alone(done: Sequence[Replayed]) -> str:
    """What a replay does to the world, and what it leaves behind."""
    if any(one.did_effects for one in done):
        its = "its" if len(done) == 1 else "their"
        return f"replayed alone; {its} side effects were really done, and nothing of them was written"
    return "replayed alone, nothing was written"


def replay_text(done: Replayed) -> str:
    """One replay as lines of text: input, recorded output, new output, what differs.

    Args:
        done: the replay.
    """
    lines = [f"{done.label} · {_alone([done])} · {verdict(done)}"]
    lines += _part("edited input" if done.edited else "input", pretty(_one(done.input), lines=_INPUT_LINES))
    lines += _part(f"recorded, {took(done.old_seconds)}", _then(done, WIDTH))
    lines += _part(f"now, {took(done.new.seconds)}", _now(done, WIDTH))
    if done.new.error is not None:
        lines += [f"      at {line}" for line in trace(done.new.error)]
    if _tells(done):
        lines += _part("differences", as_text(done.differences, FEW))
    lines += [f"  note: {note}" for note in done.notes]
    return "\n".join(lines)


def replay_html(done: Replayed) -> str:
    """One replay as HTML: recorded output beside new output, and what differs.

    Args:
        done: the replay.
    """
    sides = [
        _side(f"recorded · {took(done.old_seconds)}", _then(done, HALF)),
        _side(f"now · {took(done.new.seconds)}", _now(done, HALF)),
    ]
    pieces = [
        f'<div><b style="font-weight:600">{html.escape(done.label)}</b> '
        f'<span style="{_SOFT}">{_alone([done])} ·</span> {html.escape(verdict(done))}'
        "</div>",
        _side("edited input" if done.edited else "input", pretty(_one(done.input), lines=_INPUT_LINES)),
        '<div style="display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);column-gap:16px;'
        f'border-top:1px solid {_LINE};margin-top:4px">{"".join(sides)}</div>',
    ]
    if done.new.error is not None:
        lines = "\n".join(trace(done.new.error))
        pieces.append(f'<pre style="{_PRE}{_SOFT}">{html.escape(lines)}</pre>')
    if _tells(done):
        pieces.append(f'<div style="border-top:1px solid {_LINE};margin-top:4px">')
        pieces.append(f"{as_html(done.differences, FEW)}</div>")
    pieces += [f'<div style="{_SOFT}">note: {html.escape(note)}</div>' for note in done.notes]
    return f"{_OPEN}{''.join(pieces)}</div>"


def replays_text(found: Sequence[Replayed], refused: Sequence[tuple[str, str]]) -> str:
    """Several replays as a table of text.

    Args:
        found: the replays.
        refused: label and reason of each execution that could not be replayed.
    """
    table = [_HEAD, *(_row(done) for done in found[:ROWS])]
    widths = [max(len(row[column]) for row in table) for column in range(3)]
    lines = [
        f"{label:<{widths[0]}}  {then:>{widths[1]}}  {now:>{widths[2]}}  {said}".rstrip()
        for label, then, now, said in table
    ]
    lines += [_rest(found)] if len(found) > ROWS else []
    lines += [f"{label}: {reason}" for label, reason in refused]
    return "\n".join([*lines, summary(found)])


def replays_html(found: Sequence[Replayed], refused: Sequence[tuple[str, str]]) -> str:
    """Several replays as a table, each line opening to the whole.

    Args:
        found: the replays.
        refused: label and reason of each execution that could not be replayed.
    """
    head = "".join(f'<th scope="col" style="{_CELL}{_SOFT}font-weight:400">{name}</th>' for name in _HEAD)
    rows = "".join(_html_row(done) for done in found[:ROWS])
    pieces = [
        '<table style="border-collapse:collapse;width:100%;table-layout:auto;font-size:inherit;margin:0">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    ]
    pieces += [f'<div style="{_SOFT}">{_rest(found)}</div>'] if len(found) > ROWS else []
    pieces += [f"<div>{html.escape(label)}: {html.escape(reason)}</div>" for label, reason in refused]
    return f'{_OPEN}{"".join(pieces)}<div style="{_SOFT}">{html.escape(summary(found))}</div></div>'


def summary(found: Sequence[Replayed]) -> str:
    """How many replays gave what is on record, and how many did not.

    Args:
        found: the replays.
    """
    same = sum(not done.differences for done in found)
    raised = sum(done.new.error is not None for done in found)
    said = f"{len(found):,} {_alone(found)}: {same:,} as recorded"
    said += f", {len(found) - same:,} otherwise" if same < len(found) else ""
    return said + (f"; {raised:,} raised" if raised else "")


def _tells(done: Replayed) -> bool:
    """Whether the differences say more than the two outcomes beside each other."""
    return (
        bool(done.differences) and (done.old_error is None) == (done.new.error is None) and not done.new.waits
    )


def _row(done: Replayed) -> tuple[str, str, str, str]:
    said = "none"
    if done.differences and not _tells(done):
        said = f"now {Outcome(done.new_output, done.new.error, done.new.waits).text}"
    elif done.differences:
        first = " ".join(as_text(done.differences[:1]).split())
        more = len(done.differences) - 1
        said = f"{first if len(first) <= 90 else first[:89] + '…'}{f' and {more:,} more' if more else ''}"
    elif done.new.error is not None:
        said = f"none: {Outcome([], done.new.error).word}"
    return done.label, took(done.old_seconds), took(done.new.seconds), said


def _html_row(done: Replayed) -> str:
    label, then, now, said = (html.escape(text) for text in _row(done))
    said = said if done.differences else f'<span style="{_SOFT}">{said}</span>'
    whole = f"{_CELL}white-space:nowrap"
    cells = "".join(f'<td style="{whole}">{text}</td>' for text in (label, then, now))
    inside = as_html(done.differences[:3]) if _tells(done) else said
    more = len(done.differences) - 3
    inside += f'<span style="{_SOFT}">… and {more:,} more</span>' if more > 0 else ""
    row = f"border-top:1px solid {_LINE};background:none"
    return f'<tr style="{row}">{cells}<td style="{_CELL}width:99%">{inside}</td></tr>'


def _rest(found: Sequence[Replayed]) -> str:
    return f"… and {len(found) - ROWS:,} more"


def _then(done: Replayed, width: int) -> str:
    return _outcome(Outcome(done.old_output, done.old_error), width)


def _now(done: Replayed, width: int) -> str:
    return _outcome(Outcome(done.new_output, done.new.error, done.new.waits), width)


def _outcome(outcome: Outcome, width: int) -> str:
    return outcome.word or (pretty(_one(outcome.output), width) if outcome.output else "nothing")


def _one(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def _part(title: str, text: str) -> list[str]:
    first, *rest = text.split("\n")
    if not rest and len(first) < 90:
        return [f"  {title:<18} {first}"]
    return [f"  {title}", *(f"      {line}" for line in (first, *rest))]


def _side(title: str, text: str) -> str:
    return (
        f'<div style="min-width:0"><div style="{_SOFT}">{html.escape(title)}</div>'
        f'<pre style="{_PRE}">{html.escape(text)}</pre></div>'
    )
