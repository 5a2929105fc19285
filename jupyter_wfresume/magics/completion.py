"""What TAB offers behind our magics' names."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, context_matcher

from ..durable import runs
from ..errors import WfresumeError
from .arguments import LIST_OPTIONS, RESUME_OPTIONS, RUN_OPTIONS, STORE, Option

_MOST_IDS = 20
"""Runs whose ids are offered beside the names."""

_IDENTIFIER = "jupyter_wfresume"
_LINE = re.compile(r"(?:\s*|.*=\s*)(%%wfrun|%wfruns|%wfresume)(\s.*)")
_OFFERED: dict[str, tuple[Sequence[Option], bool]] = {
    "%%wfrun": (RUN_OPTIONS, False),
    "%wfruns": (LIST_OPTIONS, False),
    "%wfresume": (RESUME_OPTIONS, True),
}
"""By magic: its options, and whether ids of runs fit where names do."""


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
    if found is None or (found[1] == "%%wfrun" and any(row.strip() for row in above)):
        return {"completions": []}
    options, ids = _OFFERED[found[1]]
    typed, offered = candidates(found[2], options, ids)
    if offered is None:
        return {"completions": []}
    fitting = [SimpleCompletion(text=text, type="magic") for text in offered if text.startswith(typed)]
    return {"completions": fitting, "matched_fragment": typed, "suppress": True, "ordered": True}


def candidates(line: str, options: Sequence[Option], ids: bool) -> tuple[str, list[str] | None]:
    """Return the word that is being typed, and what may stand there.

    Args:
        line: what stands between the magic's name and the cursor.
        options: what the magic offers.
        ids: whether ids of runs fit where names do.

    The second is None where others know better, as for a folder's name.
    """
    words = line.split()
    typed = words.pop() if words and not line[-1].isspace() else ""
    flags = {option.flag: option for option in options}
    previous = flags.get(words[-1]) if words else None
    if previous is not None and previous.value:
        return typed, None if previous is STORE else list(previous.words)
    left = [flag for flag, option in flags.items() if words.count(flag) < option.most]
    if typed.startswith("-") or _has_word(words, flags):
        return typed, left
    return typed, [*_runs(_store(words), ids), *left]


def _has_word(words: Sequence[str], flags: dict[str, Option]) -> bool:
    """Whether the one word beside the options is there."""
    takes_value = {flag for flag, option in flags.items() if option.value}
    pairs = itertools.pairwise(["", *words])
    return any(not word.startswith("-") and previous not in takes_value for previous, word in pairs)


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
