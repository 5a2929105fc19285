"""Boards without a widget: nothing, text on a stream, and one output that is replaced."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TextIO
from uuid import uuid4

from ..records import FieldView, QuestionView, RunView
from . import html, text
from .book import PANELS, Book, Page, Source
from .pace import Pacer, Timer
from .prompt import Prompt

STATIC_S = 2.0
"""Seconds between two static pictures, so that a killed kernel leaves one that is seconds old."""
TTY_S = 0.2
"""Seconds between two drawings of a terminal's line."""
LINE_S = 10.0
"""Seconds between two lines of a log while the status stays the same."""
BEAT_S = 1.0
"""Seconds after which a clock on show is drawn again without an update."""

_ASCII = str.maketrans("·█▓▒░✕✓●○‖◷…↳", "|#=~.x**o=@~>")


class NullBoard:
    """Draws nothing."""

    def update(self, view: Source) -> None:
        """Does nothing."""

    def close(self, view: RunView) -> None:
        """Does nothing."""


class PacedBoard:
    """What the drawing boards share: collect updates, draw seldom, draw the end at once.

    Args:
        least_s: seconds between two drawings at the least.
        clock: monotonic seconds.
        timer: calls back later, or None for the running event loop.
    """

    def __init__(self, *, least_s: float, clock: Callable[[], float], timer: Timer | None) -> None:
        self._book = Book()
        self._clock = clock
        beat_s = max(BEAT_S, least_s)
        self._pacer = Pacer(self._turn, least_s=least_s, beat_s=beat_s, clock=clock, timer=timer)

    def update(self, view: Source) -> None:
        """Shows a view soon; a callable is only asked for its view when it is time to draw."""
        self._book.put(view)
        self._pacer.poke()

    def close(self, view: RunView) -> None:
        """Shows the last view of a run at once."""
        self._book.close(view)
        self._pacer.flush()

    def _turn(self) -> bool:
        self._book.read()
        self._draw(self._book.page())
        return self._book.moving()

    def _draw(self, page: Page) -> None:
        raise NotImplementedError


class TextBoard(PacedBoard):
    """Text on a stream: one rewritten line on a terminal, seldom a new line in a log, then a summary.

    Args:
        stream: where to write.
        on_answer: writes an answer down; None asks nothing.
        stdin: where answers are typed, if it is a terminal.
        on_check: refuses what does not fit a field of an answer, by raising a `WfresumeError`.
        clock: monotonic seconds.
        timer: calls back later.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        on_answer: Callable[[str, QuestionView, Any], None] | None = None,
        stdin: TextIO | None = None,
        on_check: Callable[[FieldView, Any], Any] = lambda field, said: said,
        clock: Callable[[], float] = time.monotonic,
        timer: Timer | None = None,
    ) -> None:
        self._stream = stream
        self._tty = stream.isatty()
        asks = on_answer is not None and stdin is not None and self._tty and stdin.isatty()
        self._prompt = Prompt(stdin, self._write, on_answer, on_check) if asks else None  # type: ignore[arg-type]  # just seen
        self._line = ""
        self._said: dict[str, tuple[str, float]] = {}
        self._noted: set[tuple[str, str]] = set()
        self._ending: list[RunView] = []
        self._ended = 0
        super().__init__(least_s=TTY_S if self._tty else BEAT_S, clock=clock, timer=timer)

    def close(self, view: RunView) -> None:
        """Writes the summary of a run that has ended."""
        if self._prompt is not None:
            self._prompt.stop()
        self._ending.append(view)
        super().close(view)

    def _draw(self, page: Page) -> None:
        while self._ending:
            self._rewrite("")
            view = self._ending.pop(0)
            new = tuple(note for note in view.notes if (view.run_id, note) not in self._noted)
            view = replace(view, notes=new)
            self._write((text.block(view) if self._ended < PANELS else text.one_line(view)) + "\n")
            self._ended += 1
        for view in page.open:
            self._note(view)
        if self._tty:
            self._draw_line(page)
            if self._prompt is not None:
                self._prompt.show(page.open)
            return
        for view in page.open:
            status, said_at = self._said.get(view.run_id, ("", 0.0))
            now = self._clock()
            word = "stopping" if view.stopping_s is not None else view.status
            if word != status or now - said_at >= LINE_S:
                self._said[view.run_id] = (word, now)
                self._write(text.one_line(view, 200) + "\n")

    def _note(self, view: RunView) -> None:
        """Write at once what a user should know; the summary may come too late."""
        for note in (*view.notes, *([view.sentence] if view.status == "stuck" else [])):
            if note and (view.run_id, note) not in self._noted:
                self._noted.add((view.run_id, note))
                self._rewrite("")
                self._write(f"{text.noted(note)}\n")

    def _draw_line(self, page: Page) -> None:
        if page.open:
            others = f" · and {len(page.open) - 1} more" if len(page.open) > 1 else ""
            width = shutil.get_terminal_size().columns - 1 - len(others)
            self._rewrite(text.one_line(page.open[0], max(20, width)) + others)

    def _rewrite(self, line: str) -> None:
        if self._tty and line != self._line:
            self._write("\r" + line + " " * (len(self._line) - len(line)) + ("" if line else "\r"))
            self._line = line

    def _write(self, words: str) -> None:
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        try:
            words.encode(encoding)
        except UnicodeEncodeError:
            words = words.translate(_ASCII).encode(encoding, "replace").decode(encoding)
        self._stream.write(words)
        self._stream.flush()


class StaticBoard(PacedBoard):
    """One output whose HTML and text are replaced every two seconds, and at the end.

    Args:
        display: IPython's ``display``, or what takes its arguments.
        only_text: leave the HTML out.
        clock: monotonic seconds.
        timer: calls back later.
        time_of_day: the wall clock as people read it.
    """

    def __init__(
        self,
        display: Callable[..., Any],
        *,
        only_text: bool = False,
        clock: Callable[[], float] = time.monotonic,
        timer: Timer | None = None,
        time_of_day: Callable[[], str] = lambda: time.strftime("%H:%M:%S"),
    ) -> None:
        self._output = Output(display)
        self._only_text = only_text
        self._time_of_day = time_of_day
        super().__init__(least_s=STATIC_S, clock=clock, timer=timer)

    def _draw(self, page: Page) -> None:
        bundle = picture(page, self._time_of_day() if page.open else "")
        self._output.show({"text/plain": bundle["text/plain"]} if self._only_text else bundle)


class Output:
    """One output of a cell, shown first and replaced later.

    Args:
        display: IPython's ``display``, or what takes its arguments.

    ``name`` is its display id, which also serves as a class name.
    """

    def __init__(self, display: Callable[..., Any]) -> None:
        self._display = display
        self.name = f"wfresume-{uuid4().hex}"
        self._shown = False

    def show(self, bundle: dict[str, Any]) -> None:
        """Shows a mime bundle in place of the one before."""
        if self._shown:
            self._display(bundle, raw=True, display_id=self.name, update=True)
        else:
            self._display(bundle, raw=True, display_id=self.name)
            self._shown = True


def picture(page: Page, as_of: str = "", *, name: str = "", rule: str = "") -> dict[str, Any]:
    """A page as a bundle of static HTML and text.

    Args:
        page: what to show.
        as_of: time of day, for a picture that may outlive its kernel.
        name: a class by which a live board hides this picture.
        rule: further CSS that goes with it.
    """
    shown = [(view, as_of if view in page.open else "") for view in page.panels]
    blocks = [text.block(view, as_of=seen) for view, seen in shown]
    if page.lines:
        blocks.append("\n".join(text.rows(page.lines, page.rest)))
    drawn = "".join(html.panel(view, as_of=seen) for view, seen in shown)
    drawn = f"{html.style()}{drawn}{html.compact(page.lines, page.rest)}"
    if name:
        drawn = f'<div class="{name}"><style>{rule}</style>{drawn}</div>'
    return {"text/html": drawn, "text/plain": "\n\n".join(blocks)}
