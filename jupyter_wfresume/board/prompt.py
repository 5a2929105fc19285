"""Questions on a terminal: each is asked there, and the event loop goes on meanwhile."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from ..errors import WfresumeError
from ..records import FieldView, QuestionView, RunView
from . import figures as f

_KINDS = {"int": "a whole number", "float": "a number", "bool": "yes or no", "json": "JSON, or as in Python"}

_NOTHING = FieldView("")
"""Stands for the fields of a question whose answer says nothing of its own."""


class Prompt:
    """Asks one question at a time.

    The terminal is read when a line is there, and never waited for: Ctrl-C reaches the run as ever, and
    no reader is left behind that would take what is typed next.

    Args:
        stdin: the terminal.
        write: writes to the screen.
        on_answer: called with the run's id, the question and what was said.
        on_check: called with a field and what was typed for it; raises a `WfresumeError` where it does not
            fit, and the field is asked for again.
    """

    def __init__(
        self,
        stdin: TextIO,
        write: Callable[[str], None],
        on_answer: Callable[[str, QuestionView, Any], None],
        on_check: Callable[[FieldView, Any], Any] = lambda field, said: said,
    ) -> None:
        self._stdin = stdin
        self._write = write
        self._on_answer = on_answer
        self._on_check = on_check
        self._loop: asyncio.AbstractEventLoop | None = None
        self._typed = b""
        self._asked: tuple[str, QuestionView] | None = None
        self._fields: list[FieldView] = []
        self._said: dict[str, Any] = {}
        self._answered: set[tuple[str, str, float]] = set()
        self._told: set[tuple[str, str, float]] = set()
        self._able = True

    def show(self, views: Sequence[RunView]) -> None:
        """Ask the first question of those that wait, or take back what is no longer asked.

        Args:
            views: the runs that go on.
        """
        # Where the body reads the stream, it may ask by itself on this very terminal.
        waiting = [view for view in views if view.status == "waiting" and not view.body_reads]
        found = [(view.run_id, one) for view in waiting for one in view.questions]
        found = [one for one in found if _name(one[1]) not in self._answered]
        if self._asked is not None and all(_name(one) != _name(self._asked[1]) for _, one in found):
            self._asked = None
            self._write("\n")
        if not found:
            self.stop()
        elif self._listen():
            if self._asked is None:
                self._ask(*found[0])
        else:
            self._tell(waiting)

    def _tell(self, waiting: Sequence[RunView]) -> None:
        """Say once of each question how it is answered from elsewhere."""
        for view in waiting:
            for question in view.questions:
                if _name(question) not in self._told:
                    self._told.add(_name(question))
                    place = f", {view.store!r}" if view.store else ""
                    how = f"{f.answer(view, question)}, or open_run({view.name!r}{place}).answer(...)"
                    self._write(f"\n? {f.clean(question.text)} · answer with: {how}\n")

    def stop(self) -> None:
        """Leave the terminal alone."""
        if self._loop is not None:
            if not self._loop.is_closed():
                self._loop.remove_reader(self._stdin.fileno())
            self._loop = None
        self._asked = None
        self._typed = b""

    def _listen(self) -> bool:
        if self._loop is not None or not self._able:
            return self._able
        try:
            loop = asyncio.get_running_loop()
            loop.add_reader(self._stdin.fileno(), self._readable)
        except (RuntimeError, NotImplementedError, OSError, ValueError):
            # No loop runs here, or this one cannot watch a terminal (as on Windows).
            self._able = False
            return False
        self._loop = loop
        return True

    def _ask(self, run_id: str, question: QuestionView) -> None:
        self._asked = (run_id, question)
        self._said = {}
        self._fields = list(question.fields) or [_NOTHING]
        asked_by = f" ({f.clean(question.step)})" if question.step else ""
        self._write(f"\n? {f.clean(question.text)}{asked_by}\n")
        self._next()

    def _next(self) -> None:
        if not self._fields:
            self._give()
            return
        field, alone = self._fields[0], self._asked is not None and len(self._asked[1].fields) == 1
        if field is _NOTHING:
            self._write("  Enter answers it> ")
            return
        kind = ", ".join(field.choices) or _KINDS.get(field.kind, "")
        if field.none and kind:
            kind += ", or nothing"
        hint = f" ({kind})" if kind else ""
        self._write(f"  {'answer' if alone else field.name}{hint}> ")

    def _readable(self) -> None:
        data = os.read(self._stdin.fileno(), 4096)
        if not data:
            self._able = False
            self.stop()
            self._write("\n")
            return
        self._typed += data
        while b"\n" in self._typed and self._asked is not None:
            line, _, self._typed = self._typed.partition(b"\n")
            self._line(line.decode(self._stdin.encoding or "utf-8", "replace").strip())

    def _line(self, text: str) -> None:
        field = self._fields[0]
        if field is not _NOTHING and (text or field.required):
            try:
                self._on_check(field, text)
            except WfresumeError as error:
                self._write(f"  {error}\n")
                self._next()
                return
            self._said[field.name] = text
        self._fields.pop(0)
        self._next()

    def _give(self) -> None:
        assert self._asked is not None
        run_id, question = self._asked
        try:
            self._on_answer(run_id, question, self._said)
        except WfresumeError as error:
            self._write(f"  {error}\n")
            self._ask(run_id, question)
        else:
            self._answered.add(_name(question))
            self._asked = None


def _name(question: QuestionView) -> tuple[str, str, float]:
    return question.run_id, question.key, question.asked_at
