"""``%wfanswer``: a person answers a run that waits."""

from __future__ import annotations

import ast
import re
from typing import Any

from IPython.core.error import UsageError as ShellUsageError
from IPython.core.magic import Magics, line_magic, magics_class, no_var_expand

from ..durable import open_run, runs
from ..errors import UsageError, WfresumeError
from ..records import FieldView, QuestionView
from ..session import literal, question_of
from .arguments import STORE

_STORE = r"--store(?:=|\s+)(?P<store>\"[^\"]*\"|'[^']*'|[^\s\"']+)"
_LEADING = re.compile(rf"\s*{_STORE}(?=\s|$)")
_TRAILING = re.compile(rf"\s{_STORE}\s*$")
_RUN = re.compile(r"\s*(?P<run>\"[^\"]*\"|'[^']*'|[^\s\[\]]+)(?:\[(?P<number>[^\]]*)\])?(?=\s|$)")
_USAGE = "%wfanswer RUN VALUE, or %wfanswer RUN[K] VALUE where it asks several questions"


@magics_class
class AnswerMagics(Magics):
    """``%wfanswer``."""

    @no_var_expand
    @line_magic
    def wfanswer(self, line: str) -> None:
        """Answer a run that waits for a person; the answer is on disk when this returns.

        %wfanswer RUN VALUE [--store DIR]
        %wfanswer RUN[K] VALUE [--store DIR]

        RUN    a name, for its latest run, or a run id or its unique prefix
        K      which question, counted from 0, where the run asks several
        VALUE  text is taken as it is typed, quotes around it are optional and $name is no variable; a number,
               yes or no, or one of the choices where that is asked for; a dict for several fields

        The kernel that drives the run takes the answer at once. Where none does, run the cell again, or
        %wfresume RUN. For a value in a variable: open_run(RUN).answer(value).

        Examples:

            %wfanswer review looks good to me
            %wfanswer review[1] {"approved": True, "note": "mind the dates"}
        """
        try:
            print(_answer(line))
        except WfresumeError as error:
            raise ShellUsageError(str(error)) from None


def _answer(line: str) -> str:
    name, number, text, store = read(line)
    run = open_run(name, store)
    which = None if number is None else int(number)
    question = question_of(run.asked(which), which, name)
    if not text and question.fields:
        raise UsageError(f"%wfanswer needs a VALUE; {name} asks: {question.text}{_wanted(question)}")
    run.answer(value_of(question, text), question)
    left = len(run.questions)
    more = f"; {left} more question{'s wait' if left > 1 else ' waits'}" if left else ""
    return f"answered '{question.text}': {run.how_to_go_on}{more}"


def read(line: str) -> tuple[str, str | None, str, str | None]:
    """Split what stands behind ``%wfanswer`` into RUN, K, VALUE as typed, and the store.

    Raises:
        UsageError: there is no RUN, or K is no number.
    """
    store = None
    for pattern in (_LEADING, _TRAILING):
        given = pattern.search(line) if pattern is _TRAILING else pattern.match(line)
        if given is not None:
            store = given["store"].strip("\"'")
            line = line[: given.start()] + line[given.end() :]
    found = _RUN.match(line)
    if found is None:
        raise UsageError(f"%wfanswer needs a RUN: {_USAGE}")
    if found["run"].startswith("--"):
        raise UsageError(f"%wfanswer has no option {found['run'].partition('=')[0]}; it has --store")
    number = found["number"]
    if number is not None and not number.strip().isdecimal():
        raise UsageError(f"%wfanswer: [{number}] is no number of a question; they count from 0")
    return found["run"].strip("\"'"), number, line[found.end() :].strip(), store


def value_of(question: QuestionView, text: str) -> Any:
    """What typed text means for a question: a dict of fields where it is one, else text without quotes.

    Args:
        question: what is answered.
        text: as typed.
    """
    names = {name for field in question.fields for name in (field.name, field.alias) if name}
    if text.startswith("{"):
        given = literal(text)
        several = len(question.fields) > 1 or (len(names) == 1 and question.fields[0].kind == "json")
        if isinstance(given, dict) and (several or names & given.keys()):
            return given
    try:
        plain = ast.literal_eval(text) if text[:1] in ("'", '"') else text
    except (ValueError, SyntaxError):
        return text
    return plain if isinstance(plain, str) else text


def _wanted(question: QuestionView) -> str:
    said = ", ".join(_field(field) for field in question.fields if field.kind != "any")
    return f" ({said})" if said else ""


def _field(field: FieldView) -> str:
    return f"{field.name}: {'|'.join(field.choices) if field.choices else field.kind}"


def candidates(line: str) -> tuple[str, list[str]]:
    """Return the word that is being typed, and what may stand there: runs that wait, then choices.

    Args:
        line: what stands between ``%wfanswer`` and the cursor.
    """
    words = line.split()
    typed = words.pop() if words and not line[-1].isspace() else ""
    try:
        if not words:
            return typed, _waiting()
        name, number, said, store = read(" ".join(words))
        questions = open_run(name, store).questions
    except WfresumeError:
        return typed, []  # TAB is no place for a sentence
    chosen = [one for one in questions if number is None or one.index == int(number)]
    if said or len(chosen) != 1:
        return typed, []
    # Of free text nothing can be offered; were this empty, IPython would offer all names that there are.
    return typed, choices(chosen[0]) or [STORE.flag]


def choices(question: QuestionView) -> list[str]:
    """What may be said, where that is one of a few words."""
    if len(question.fields) != 1:
        return []
    field = question.fields[0]
    return ["yes", "no"] if field.kind == "bool" else list(field.choices)


def _waiting() -> list[str]:
    found: list[str] = []
    for run in runs():
        name = f'"{run.name}"' if len(run.name.split()) > 1 else run.name
        if any(one.split("[")[0] == name for one in found):
            name = run.id[:8]
        many = len(run.questions) > 1
        found += [f"{name}[{one.index}]" if many else name for one in run.questions]
    return found
