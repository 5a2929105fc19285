"""What TAB offers behind our magics' names."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, context_matcher

from ..durable import open_run, runs
from ..effects import DECISIONS, typed_name
from ..errors import WfresumeError
from ..projection import Row, executions
from ..typed import quoted
from . import answer
from .arguments import (
    DIFF,
    LIST_OPTIONS,
    REPLAY_OPTIONS,
    RESUME_OPTIONS,
    RUN_OPTIONS,
    SHOW_OPTIONS,
    SKIP_OPTIONS,
    STORE,
    UNDO,
    Option,
)

_MOST_IDS = 20
"""Runs whose ids are offered beside the names."""
_MOST_INDEXES = 50
"""Executions of a step that are offered."""

_IDENTIFIER = "jupyter_wfresume"
_LINE = re.compile(
    r"(?:\s*|.*=\s*)(%%wfrun|%wfruns|%wfresume|%wfshow|%%?wfreplay|%wfresolve|%wfanswer|%wfskip)(\s.*)"
)
_OFFERED: dict[str, tuple[Sequence[Option], bool, bool]] = {
    "%%wfrun": (RUN_OPTIONS, False, False),
    "%wfruns": (LIST_OPTIONS, False, False),
    "%wfresume": (RESUME_OPTIONS, True, False),
    "%wfshow": (SHOW_OPTIONS, True, True),
    "%wfreplay": (REPLAY_OPTIONS, True, True),
    "%%wfreplay": (REPLAY_OPTIONS, True, True),
    "%wfresolve": (LIST_OPTIONS, True, False),
    "%wfanswer": (LIST_OPTIONS, True, False),
    "%wfskip": (SKIP_OPTIONS, True, True),
}
"""By magic: its options, whether ids of runs fit where names do, and whether an execution follows."""


def register(shell: Any) -> None:
    """Have the shell's completer ask us for our magics' lines."""
    unregister(shell)
    matcher: Any = context_matcher(identifier=_IDENTIFIER)
    shell.Completer.custom_matchers.append(matcher(complete))


def unregister(shell: Any) -> None:
    """Take back what `register` did."""
    matchers = shell.Completer.custom_matchers
    matchers[:] = [each for each in matchers if getattr(each, "matcher_identifier", "") != _IDENTIFIER]


def complete(context: CompletionContext) -> Any:
    """Answer IPython's completer; on our magics' lines nobody else is asked, but for a folder's name."""
    line = context.line_with_cursor[: context.cursor_position]
    found = _LINE.fullmatch(line)
    above = context.full_text.split("\n")[: context.cursor_line]
    if found is None or (found[1].startswith("%%") and any(row.strip() for row in above)):
        return {"completions": []}
    typed, offered = candidates(found[2], *_OFFERED[found[1]])
    if found[1] == "%wfanswer":
        typed, offered = answer.candidates(found[2])
        if not offered and not found[2].removesuffix(typed).strip():
            # Nobody asks: were nothing offered, IPython would offer all names that there are.
            offered = [*_runs(None, ids=False), STORE.flag]
    if found[1] == "%wfresolve" and offered is not None and not typed.startswith("-"):
        offered = [*_decisions(found[2].removesuffix(typed)), *offered]
    if offered is None:
        return {"completions": []}
    fitting = [SimpleCompletion(text=text, type="magic") for text in offered if text.startswith(typed)]
    return {"completions": fitting, "matched_fragment": typed, "suppress": True, "ordered": True}


def candidates(
    line: str, options: Sequence[Option], ids: bool, places: bool = False
) -> tuple[str, list[str] | None]:
    """Return the word that is being typed, and what may stand there.

    Args:
        line: what stands between the magic's name and the cursor.
        options: what the magic offers.
        ids: whether ids of runs fit where names do.
        places: whether ``STEP[N]`` follows the run.

    The second is None where others know better, as for a folder's name.
    """
    words = line.split()
    typed = words.pop() if words and not line[-1].isspace() else ""
    flags = {option.flag: option for option in options}
    previous = flags.get(words[-1]) if words else None
    if previous is DIFF:
        return typed, _runs(_store(words), ids)
    if previous is not None and previous.value:
        return typed, None if previous is STORE else list(previous.words)
    left = [flag for flag, option in flags.items() if words.count(flag) < option.most]
    given = _plain_words(words, flags)
    if places and len(given) == 1 and not typed.startswith("-"):
        return typed, [*_places(given[0], _store(words), typed, only_failed=UNDO in options), *left]
    if typed.startswith("-") or given:
        return typed, left
    return typed, [*_runs(_store(words), ids), *left]


def _plain_words(words: Sequence[str], flags: dict[str, Option]) -> list[str]:
    """The words beside the options and their values."""
    takes_value = {flag for flag, option in flags.items() if option.value}
    pairs = itertools.pairwise(["", *words])
    return [word for previous, word in pairs if not word.startswith("-") and previous not in takes_value]


def _store(words: Sequence[str]) -> str | None:
    return next((word for flag, word in itertools.pairwise(words) if flag == STORE.flag), None)


def _runs(store: str | None, ids: bool) -> list[str]:
    try:
        found = runs(store=store)
    except WfresumeError:
        return []  # TAB is no place for a sentence about the store
    names = list(dict.fromkeys(run.header.name for run in found))
    names = [f'"{name}"' if len(name.split()) > 1 else name for name in names]
    return [*names, *([run.header.run_id[:8] for run in found[:_MOST_IDS]] if ids else [])]


def _places(run: str, store: str | None, typed: str, *, only_failed: bool) -> list[str]:
    """Steps of a run; behind a step's bracket its executions, failures first.

    Args:
        run: as typed.
        store: the store's folder, or None.
        typed: the word so far.
        only_failed: leave out what has not failed.
    """
    try:
        opened = open_run(run.strip("'\""), store)
        rows = executions(opened.records, opened.left_out)
    except WfresumeError:
        return []  # as above
    by_step: dict[str, list[Row]] = {}
    for row in rows:
        by_step.setdefault(row.step, []).append(row)
    if only_failed:
        return _failed(by_step, typed)
    step, bracket, index = typed.partition("[")
    if not bracket:
        return [
            f"{name}[0]" if [row.index for row in found] == [0] else name for name, found in by_step.items()
        ]
    found = by_step.get(step, [])
    labels = [f"{step}[failed]"] if any(row.status == "failed" for row in found) else []
    found = sorted(found, key=lambda row: (row.status != "failed", row.index))
    labels += [f"{step}[{row.index}]" for row in found if str(row.index).startswith(index)]
    return labels[:_MOST_INDEXES]


def _failed(by_step: dict[str, list[Row]], typed: str) -> list[str]:
    """Failed executions, and all of a step's at once where it has several."""
    labels: list[str] = []
    for step, rows in by_step.items():
        indexes = sorted(row.index for row in rows if row.status == "failed")
        labels += [f"{step}[failed]"] if len(indexes) > 1 else []
        labels += [f"{step}[{index}]" for index in indexes]
    return [label for label in labels if label.startswith(typed)][:_MOST_INDEXES]


def _decisions(line: str) -> list[str]:
    """Behind a run its side effects, behind one of those what a person may say."""
    words = line.split()
    given = _plain_words(words, {option.flag: option for option in LIST_OPTIONS})
    if len(given) == 2:
        return list(DECISIONS)
    if len(given) != 1:
        return []
    try:
        found = open_run(given[0].strip("'\""), _store(words)).effects
    except WfresumeError:
        return []  # as above
    return [quoted(typed_name(found, entry)) for entry in found][:_MOST_INDEXES]
