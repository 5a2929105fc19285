"""A run as one self-contained HTML fragment; readable, too, where a host strips the style."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from html import escape

from ..records import ErrorView, FailureView, QuestionView, RunView, StepView
from . import figures as f
from .style import STYLE
from .text import CHILDREN, bar

_TITLE = 600
"""Characters of one text that are shown at the most, or kept in its ``title``."""
_TRACE = 20_000
"""Characters of a traceback's end that are kept."""
_SIGNS = {
    **{"restored": "↺", "reused": "↺", "done": "✓", "left out": "–"},
    **{"failed": "✕", "running": "●", "queued": "·"},
}
_CODE = re.compile(r"`([^`]+)`")
# Both names are honoured by the typesetters of the usual front ends: a "$" in a user's text is no formula.
_WRAP = '<div class="wfr mathjax_ignore tex2jax_ignore"'


def render(view: RunView, *, live: bool = False, as_of: str = "") -> str:
    """A run as HTML with its style inside, no script and nothing to fetch.

    Args:
        view: the run at this moment.
        live: leave room for the Stop button, and say how to stop where there is none.
        as_of: time of day of this picture, where a reader may meet it after the kernel's end.
    """
    return f"{style()}{panel(view, live=live, as_of=as_of)}"


def style() -> str:
    """The stylesheet as an element."""
    return f"<style>{STYLE}</style>"


def panel(view: RunView, *, live: bool = False, as_of: str = "") -> str:
    """One run without the stylesheet."""
    label = f"run {words(view.name, 80)}, {words(view.status)}"
    return f'{_WRAP} role="group" aria-label="{label}">{_top(view, live)}{_tail(view, live, as_of)}</div>'


def top(view: RunView, *, live: bool = False) -> str:
    """The part that moves while a run goes on: figures, bars, key."""
    return f"{_WRAP}>{_top(view, live)}</div>"


def tail(view: RunView, *, live: bool = False, as_of: str = "", asked: int = 0, failures: bool = True) -> str:
    """The part that seldom changes: the sentence, failure, questions, notes, how this life began.

    Args:
        view: the run at this moment.
        live: its cell runs.
        as_of: as in `render`.
        asked: how many questions have fields of their own beside this.
        failures: whether what failed is drawn here.
    """
    return f"{_WRAP}>{_tail(view, live, as_of, asked, failures)}</div>"


def question(asked: QuestionView) -> str:
    """What is asked, and by which step."""
    step = f' <span class="wfr-soft">asked by {words(asked.step)}</span>' if asked.step else ""
    return f"{_WRAP}>? {words(asked.text)}{step}</div>"


def say(sentence: str) -> str:
    """A sentence in the soft colour."""
    return f'{_WRAP}><span class="wfr-soft" role="status">{prose(sentence)}</span></div>'


def fault(sentence: str) -> str:
    """A sentence on what is wrong with a field."""
    return f'{_WRAP}><span class="wfr-fault" role="alert">✕ {prose(sentence)}</span></div>'


def input_head(kind: str, has_fields: bool) -> str:
    """What stands above the fields of a recorded input."""
    said = "" if has_fields else " has no fields"
    soft = '<span class="wfr-soft">'
    return f"{_WRAP}>{soft}input</span> {words(kind, 80)}{soft}{said}</span></div>"


def fixed_field(name: str, short: str) -> str:
    """A field that stays as it is recorded."""
    return (
        f'{_WRAP}><div class="wfr-fixed"><span class="wfr-cut">{words(name, 80)}</span>'
        f'<code title="{words(short)}">{words(short, 200)}</code>'
        '<span class="wfr-soft">stays as recorded</span></div></div>'
    )


def compact(lines: Sequence[RunView], rest: Sequence[RunView]) -> str:
    """Runs as single lines, and a sum of those that get none; empty for none at all."""
    rows = "".join(_run_line(view) for view in lines)
    if rest:
        rows += f'<div class="wfr-soft">and {f.count(len(rest))} more: {words(f.tally(rest))}</div>'
    return f"{_WRAP}>{rows}</div>" if rows else ""


def words(text: str, width: int = _TITLE) -> str:
    """Text that is safe in an element and in a quoted attribute, cut to ``width`` characters."""
    return escape(f.shorten(f.clean(text), width), quote=True)


def prose(text: str) -> str:
    """A sentence that is safe in an element, with what stands between backticks as code."""
    return _CODE.sub(r"<code>\1</code>", words(text))


def cut(text: str, width: int, *, tag: str = "span", cls: str = "") -> str:
    """Text in an element that is cut with an ellipsis and keeps its full text in ``title``."""
    return f'<{tag} class="wfr-cut {cls}" title="{words(text)}">{words(text, width)}</{tag}>'


def progress_bar(step: StepView, label: str) -> str:
    """A bar of all states; each has a colour, a texture and words for those who hear it."""
    whole = f.total(step)
    amounts = [(state, n) for (state, _), n in zip(f.STATES, f.parts(step), strict=True) if n]
    said = f"{f.count(f.finished(step))} of {f.count(whole)} finished"
    if amounts:
        said += ": " + ", ".join(f"{f.count(amount)} {state}" for state, amount in amounts)
    drawn = "".join(f'<i class="{_class(state)}" style="flex-grow:{n}"></i>' for state, n in amounts)
    missing = whole - sum(f.parts(step))
    if missing > 0:
        drawn += f'<span style="flex:{missing} 1 0"></span>'
    return (
        f'<div class="wfr-bar" role="progressbar" aria-label="{words(label, 80)}" aria-valuemin="0" '
        f'aria-valuemax="{whole}" aria-valuenow="{f.finished(step)}" aria-valuetext="{said}" title="{said}">'
        f'{drawn}<span class="wfr-plain" aria-hidden="true">{bar(step)}</span></div>'
    )


def _class(state: str) -> str:
    return f"wfr-{state.replace(' ', '-')}"


def status(word: str) -> str:
    """A status as sign and word."""
    sign = f.STATUS_SIGNS.get(word, "")
    kind = word.split()[0] if word in f.STATUS_SIGNS else "new"
    return f'<span class="wfr-status wfr-is-{kind}"><i aria-hidden="true">{sign}</i> {words(word)}</span>'


def _top(view: RunView, live: bool) -> str:
    share = f.percent(view)
    workflow = cut(view.workflow, 80, cls="wfr-soft") if view.workflow and view.workflow != view.name else ""
    time = f.timing(view)
    if view.stopping_s is not None:
        time = f"stopping, at most {max(0, math.ceil(view.stopping_s))} s"
    head = (
        f'<div class="wfr-head{" wfr-live" if live else ""}"><div class="wfr-name">'
        f"{cut(view.name, 120, tag='b')} {status(view.status)} {workflow}</div> "
        f'<span class="wfr-share">{"" if share is None else f"{share} %"}</span> '
        f'<span class="wfr-cut wfr-time">{time}</span></div>'
    )
    saved = f.saved(view)
    whole = f.together(view.steps)
    line = cut(saved, 120, cls="wfr-soft") if saved else ""
    over_all = f'<div class="wfr-whole">{progress_bar(whole, f"all steps of {view.name}")} {line}</div>'
    if not view.steps:
        return head + (over_all if saved else "")
    return f"{head}{over_all}{_steps(view)}{_key(whole)}"


def _steps(view: RunView) -> str:
    done_w = max(3, *(len(f.count(f.finished(step))) for step in view.steps))
    total_w = max(3, *(len(f.count(f.total(step))) for step in view.steps))
    rows = "".join(
        f"<tr>{cut(step.name, 120, tag='td')}"
        f'<td class="wfr-num">{f.count(f.finished(step))} / '
        f'<span class="wfr-of" style="width:{total_w}ch">{f.count(f.total(step))}</span></td>'
        f"<td>{progress_bar(step, step.name)}</td>"
        f"{cut(' · '.join(f.step_info(step)), 160, tag='td', cls='wfr-soft')}</tr>"
        for step in view.steps
    )
    widths = ("width:18%", f"width:{done_w + total_w + 5}ch", "", "width:42%")
    columns = "".join(f'<col style="{width}">' for width in widths)
    return f'<table class="wfr-steps"><colgroup>{columns}</colgroup><tbody>{rows}</tbody></table>'


def _key(whole: StepView) -> str:
    width = min(4, max(2, *(len(f.count(amount)) for amount in f.parts(whole))))
    items = "".join(
        f'<span{"" if amount else " class=wfr-none"}><i class="{_class(state)}"></i>'
        f'<span class="wfr-plain">{_SIGNS[state]} </span>'
        f'{state} <b style="min-width:{width}ch">{f.count(amount)}</b></span> '
        for state, amount in f.key(whole)
    )
    return f'<div class="wfr-key">{items}</div>'


def _tail(view: RunView, live: bool, as_of: str, asked: int = 0, failures: bool = True) -> str:
    pieces = [failure(view, group) for group in f.failures(view)] if failures else []
    sentence = (f.stopping(view) if live else "") or f.next_move(view, as_of)
    if sentence:
        pieces.append(f'<div class="wfr-say" role="status">{prose(sentence)}</div>')
    for one in view.questions[asked:]:
        step = f' <span class="wfr-soft">asked by {words(one.step)}</span>' if one.step else ""
        pieces.append(
            f'<div class="wfr-mark wfr-ask">? {words(one.text)}{step}<br>'
            f'<span class="wfr-soft">answer with</span> <code>{words(f.answer(view, one))}</code></div>'
        )
    pieces += [f'<div class="wfr-mark wfr-note">{prose(note)}</div>' for note in view.notes]
    shown, rest = f.pick(view.children, CHILDREN)
    pieces += [_run_line(child, "↳ ") for child in shown]
    if rest:
        pieces.append(f'<div class="wfr-soft">↳ and {f.count(len(rest))} more: {words(f.tally(rest))}</div>')
    pieces.append(_foot(view, live))
    return "".join(pieces)


def _foot(view: RunView, live: bool) -> str:
    how = [view.headline, f"run {view.run_id[:8]}"]
    if live and not view.can_stop and view.status == "running":
        how.append("interrupt the kernel to stop")
    return f'<div class="wfr-foot">{prose(" · ".join(piece for piece in how if piece))}</div>'


def failure(view: RunView, group: FailureView) -> str:
    """Executions that failed with the same error: the user's line, inputs, traceback, what to do."""
    if not group.errors:
        return f'<div class="wfr-mark wfr-error">✕ {f.many(group.count, "execution")} failed otherwise</div>'
    rows = "".join(_failed(group, error) for error in group.errors) if group.count > 1 else ""
    more = group.count - len(group.errors)
    if more:
        magic = words(f.all_failed(view, group.errors[0]))
        rows += f'<div class="wfr-soft">… and {f.count(more)} more: <code>{magic}</code></div>'
    inside = f"{failure_head(group)}{rows}{failure_tail(view, group)}"
    return f'<div class="wfr-mark wfr-error" role="alert">{inside}</div>'


def failure_head(group: FailureView, *, wrapped: bool = False) -> str:
    """The error and the user's line; of a single execution its input too, unless it has a line of its own.

    Args:
        group: the executions.
        wrapped: it stands alone, with a line for each execution below it.
    """
    error = _told(group)
    many = group.count > 1
    count = f' <span class="wfr-soft">{f.many(group.count, "execution")}</span>' if many else ""
    where = f"<code>{words(error.where)}</code> " if error.where else ""
    label = error.step if many else f"{error.step}[{error.index}]"
    place = f'<span class="wfr-soft">{words(label)}</span>' if error.step else ""
    rows = ""
    if where or place:
        rows += f'<div class="wfr-fact"><span class="wfr-soft">in</span> <span>{where}{place}</span></div>'
    if error.input and not many and not wrapped:
        rows += (
            f'<div class="wfr-fact"><span class="wfr-soft">input</span> '
            f'<code title="{words(error.input, 2000)}">{words(error.input, 300)}</code></div>'
        )
    return _alone(f"✕ <b>{words(f.title(group))}</b>{count}{rows}", wrapped)


def failure_tail(view: RunView, group: FailureView, *, wrapped: bool = False) -> str:
    """The user's own frames, folded, and the next moves.

    Args:
        view: the run.
        group: the executions.
        wrapped: it stands alone.
    """
    error = _told(group)
    trace = f.clean(error.traceback, lines=True).strip("\n")[-_TRACE:]
    drawn = f"<details><summary>traceback</summary><pre>{escape(trace)}</pre></details>" if trace else ""
    moves = " · ".join(f"{what} <code>{words(magic)}</code>" for what, magic in f.moves(view, group))
    return _alone(drawn + (f'<div class="wfr-soft">{moves}</div>' if moves else ""), wrapped)


def failed_one(group: FailureView, error: ErrorView) -> str:
    """One failed execution in a line of its own: what it alone says, and its input."""
    return _alone(_failed(group, error), True)


def _alone(inside: str, wrapped: bool) -> str:
    return f'{_WRAP}><div class="wfr-mark">{inside}</div></div>' if wrapped else inside


def _told(group: FailureView) -> ErrorView:
    """The one of them whose traceback was kept."""
    return next((error for error in group.errors if error.traceback), group.errors[0])


def _failed(group: FailureView, error: ErrorView) -> str:
    label = words(f"{error.step}[{error.index}]", 80)
    said = f.message(group, error)
    return (
        f'<div class="wfr-failed-one"><span>{label}</span> '
        f"{cut(said, 300) + ' ' if said else ''}"
        f'<code class="wfr-cut" title="{words(error.input, 2000)}">{words(error.input, 300)}</code></div>'
    )


def _run_line(view: RunView, sign: str = "") -> str:
    finished, total = f.progress(view)
    figures = f"{f.count(finished)} of {f.count(total)}" if total else ""
    return (
        f'<div class="wfr-run">{cut(sign + view.name, 100)} {status(view.status)} '
        f'<span class="wfr-num">{figures}</span> {progress_bar(f.together(view.steps), view.name)} '
        f'<span class="wfr-cut wfr-soft">{f.timing(view)}</span></div>'
    )
