"""``%wfresolve``: a person's word on a side effect."""

from __future__ import annotations

import ast
import io
import json
import re
import shlex
from dataclasses import dataclass
from typing import Any

from IPython.core.error import UsageError as ShellUsageError
from IPython.core.magic import Magics, line_magic, magics_class, no_var_expand

from ..durable import open_run
from ..effects import DECISIONS, Decision, Entry, described, typed_name
from ..errors import UsageError, WfresumeError
from ..session import Run
from ..typed import command, quoted
from .arguments import STORE, nearest

_EFFECT = re.compile(r"([^\[\]\s]+)\[(.*)\]", re.DOTALL)
_UNDECIDED = ("begun", "undone")
_MAGIC = "%wfresolve"
_HOW = f"{_MAGIC} RUN EFFECT[KEY] done RECEIPT | retry | undone"


@dataclass(frozen=True)
class Word:
    """What a person says.

    Args:
        run: the run, as typed.
        effect: ``charge[81]`` as typed; empty where the side effects are to be listed.
        decision: done, retry or undone.
        receipt: the text behind ``done``.
        store: the store's folder, or None.
    """

    run: str
    effect: str = ""
    decision: str = ""
    receipt: str = ""
    store: str | None = None


@magics_class
class ResolveMagics(Magics):
    """``%wfresolve``."""

    @no_var_expand
    @line_magic
    def wfresolve(self, line: str) -> None:
        """Say what became of a side effect whose outcome is unknown, or have it done again.

        %wfresolve RUN EFFECT[KEY] done RECEIPT | retry | undone [--store DIR]
        %wfresolve RUN

        done RECEIPT  it happened, and this is its receipt: text, or a Python or JSON value such as 17,
                      "0017", {"id": 17}; all of the line behind `done` belongs to it
        retry         it is done again when a step next asks for it
        undone        it happened, and you have compensated it by hand

        RUN is a name or the start of a run's id; a side effect belongs to all runs of the name. With RUN
        alone, the side effects on record are listed. Options stand before the decision's receipt.

        Example:

            %wfresolve shop charge[81] done ch_2040
        """
        try:
            word = read(line)
            run = open_run(word.run, word.store)
            print(said(run) if not word.effect else decided(run, word))
        except WfresumeError as error:
            raise ShellUsageError(str(error)) from None


def read(line: str) -> Word:
    """Read the magic's line.

    Raises:
        UsageError: it does not fit; the sentence says how to write it.
    """
    text = io.StringIO(line)
    lexer = shlex.shlex(text, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    store: str | None = None
    try:
        while (piece := lexer.get_token()) is not None:
            if len(words) == 2 and words[1].count("[") > words[1].count("]"):
                words[1] += f" {piece}"
            elif piece.split("=")[0] == STORE.flag:
                store = piece.partition("=")[2] or lexer.get_token()
                if not store:
                    raise UsageError(f"{_MAGIC}: --store needs a value: --store DIR")
            elif piece.startswith("-"):
                raise UsageError(f"{_MAGIC} has no option {piece}{nearest(piece, [STORE.flag])}")
            else:
                words.append(piece)
            if words[2:] == ["done"]:
                break
    except ValueError:
        raise UsageError(f"{_MAGIC}: a quote is not closed in: {line.strip()}") from None
    return _word(words, text.read().strip(), store)


def _word(words: list[str], receipt: str, store: str | None) -> Word:
    if not words:
        raise UsageError(f"{_MAGIC} needs a run: {_HOW}; %wfruns lists runs")
    if len(words) == 1:
        return Word(words[0], store=store)
    if len(words) == 2:
        raise UsageError(f"{_MAGIC} needs a decision behind {words[1]}: done RECEIPT, retry or undone")
    run, effect, decision, *more = words
    if decision not in DECISIONS:
        hint = nearest(decision, DECISIONS)
        raise UsageError(f"{_MAGIC}: a decision is done RECEIPT, retry or undone, not {decision!r}{hint}")
    if more:
        raise UsageError(f"{_MAGIC}: nothing stands behind {decision}, but got {more[0]!r}")
    if decision == "done" and not receipt:
        raise UsageError(
            f"{_MAGIC}: done needs the receipt, as in {_example(run, effect, store)}; None is one too"
        )
    if _EFFECT.fullmatch(effect) is None:
        raise UsageError(f"{_MAGIC}: a side effect is written EFFECT[KEY], as in charge[81], not {effect!r}")
    return Word(run, effect, decision, receipt, store)


def _example(run: str, effect: str, store: str | None) -> str:
    return f"{command(_MAGIC, quoted(run), quoted(effect), store=store or '')} done ch_2040"


def value_of(text: str) -> Any:
    """What a receipt's text stands for: a Python value, a JSON value, else the text itself."""
    for parse in (ast.literal_eval, json.loads):
        try:
            return parse(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    return text


def decided(run: Run, word: Word) -> str:
    """Write the decision down, and say what follows from it.

    Raises:
        UsageError: there is no such side effect, or the decision does not fit it.
    """
    found = _EFFECT.fullmatch(word.effect)
    assert found is not None
    decision = next(one for one in DECISIONS if one == word.decision)
    entry = run.resolve(found[1], found[2], decision, value_of(word.receipt) if word.receipt else None)
    return f"{entry.name} is {_follows(entry, decision, run.name if run.status == 'done' else '')}"


def _follows(entry: Entry, decision: Decision, finished: str) -> str:
    """What a decision means, and the next move; running the cell of a finished run again executes nothing."""
    asks = f"{finished} is finished, and its cell asks again only with --fresh, or with a changed input"
    if decision == "done":
        more = f"{finished} is finished, so that nothing more is needed" if finished else "run the cell again"
        return f"done, with the receipt {entry.said}: {more}{'' if finished else ' to go on'}"
    if decision == "retry":
        return f"done again when a step next asks for it: {asks if finished else 'run the cell again'}"
    then = f"; {asks}" if finished else ""
    return f"undone: a step that asks for it again stops, until you say done RECEIPT or retry{then}"


def said(run: Run) -> str:
    """The side effects on record, those that wait for a person first."""
    found: list[Entry] = sorted(run.effects, key=lambda entry: entry.state not in _UNDECIDED)
    if not found:
        return f"{run.name} has no side effects on record"
    names = [typed_name(found, entry) for entry in found]
    width = max(map(len, names))
    return "\n".join(
        f"{name:{width}}  {'' if name == entry.name else f'{entry.name} '}{described(entry)}"
        for name, entry in zip(names, found, strict=True)
    )
