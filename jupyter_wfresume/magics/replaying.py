"""``%wfreplay``: read what is meant, let a cell's body edit the input, replay or go on from there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from IPython.display import display

from ..board import make_board
from ..durable import open_run
from ..errors import MissingClassError, RunEnded, UsageError
from ..explore import explorer
from ..records import RunView
from ..replay import Edit, Replayed, choose
from ..session import Run
from ..session.again import fork_of, input_of, replay_of
from . import frontend
from .arguments import REPLAY_OPTIONS, parse
from .body import Body, Cell, execute, prepare
from .endings import show_next
from .several import Progress, replay_several

_EVENT, _EVENTS = "ev", "events"

# Shells are Any here: much of what IPython offers has no types, and which part differs by version.


@dataclass(frozen=True)
class Asked:
    """What a user wants to be replayed.

    Args:
        run: the run.
        text: ``work[17]``, as typed.
        chosen: step and index of each execution that it names.
        goes_on: make a new run that goes on from there.
        board: how its progress is shown.
    """

    run: Run
    text: str
    chosen: Sequence[tuple[str, int]]
    goes_on: bool
    board: Any


def read(magic: str, line: str, left: str = "", store: str | None = None) -> Asked:
    """Read a magic's line.

    Args:
        magic: as typed, for the sentences.
        line: the text behind it.
        left: id of the run that is meant, where the line is an old one, whose RUN may name another by now.
        store: the store that it is in.

    Raises:
        UsageError: it does not fit, or names what is not on record.
    """
    arguments = parse(magic, line, REPLAY_OPTIONS, 2, "RUN and STEP[N]")
    if not arguments.words:
        raise UsageError(f"{magic} needs RUN and STEP[N], as in {magic} enrich work[17]; %wfruns lists runs")
    run = open_run(left, store) if left else open_run(arguments.words[0], arguments.given.get("store"))
    if len(arguments.words) == 1:
        steps = ", ".join(sorted({one.step for one in run.executions})) or "none"
        raise UsageError(f"{magic} needs STEP[N] behind the run, as in work[17]; recorded steps: {steps}")
    text = arguments.words[1]
    asked = Asked(
        run,
        text,
        choose(run.records, text, run.left_out),
        bool(arguments.given.get("continue_")),
        arguments.given.get("board", "auto"),
    )
    if asked.goes_on and len(asked.chosen) > 1:
        raise UsageError(f"--continue goes on from one execution, and {text} names {len(asked.chosen)}")
    return asked


class Replaying:
    """One use of the magic.

    Args:
        shell: the shell.
        asked: what is to be replayed.
        cell: the cell whose body edits the input, or None.
        source: what is recorded as the cell of a new run.
    """

    def __init__(self, shell: Any, asked: Asked, cell: Cell | None, source: str) -> None:
        self._shell = shell
        self._asked = asked
        self._cell = cell
        self._source = source
        self._last: RunView | None = None
        self._hint = ""

    async def run(self) -> Any:
        """Replay what was asked for; or go on from it, and give the new run's result.

        Raises:
            UsageError: an execution cannot be replayed, or the edit does not fit.
            MissingClassError: a class is not defined in this kernel.
            BaseException: what the body, or the new run, raises; it is shown in our way when it reaches
                the shell.
        """
        try:
            body = None if self._cell is None else self._prepared(self._cell)
            if self._asked.goes_on:
                return await self._go_on(body)
            return await self._replay(body)
        except (UsageError, MissingClassError):
            raise
        except BaseException as error:
            said = self._last.sentence if self._last is not None else self._hint
            show_next(self._shell, error, said or None)
            raise

    def _prepared(self, cell: Cell) -> Body | None:
        body = prepare(self._shell, cell)
        # The magic's value is what the cell shows; its body's expressions are not.
        return replace(body, quiet=True) if body.statements else None

    async def _replay(self, body: Body | None) -> Any:
        chosen = self._asked.chosen
        if len(chosen) == 1:
            ((step, index),) = chosen
            return await self._alone(step, index, await self._edit(body, step, index))
        progress = Progress(len(chosen), frontend.look(self._shell).kernel)
        return await replay_several(self._asked.run, chosen, partial(self._edit, body), progress)

    async def _alone(self, step: str, index: int, edit: Edit | None) -> Replayed:
        run = self._asked.run
        try:
            return await replay_of(run, step, index, edit, None)
        except (asyncio.CancelledError, KeyboardInterrupt):
            said = f"the replay of {step}[{index}] was interrupted; nothing was written"
            raise RunEnded(run.id, run.status, said) from None

    async def _edit(self, body: Body | None, step: str, index: int) -> Edit | None:
        """The input as the body leaves it, or None without a body."""
        if body is None:
            return None
        given, lost = None, None
        try:
            given = input_of(self._asked.run, step, index)
        except UsageError as error:
            # The body may still give the whole input.
            lost = error
        names = [_EVENT, _EVENTS] if lost else [_EVENTS if isinstance(given, list) else _EVENT]
        namespace: dict[str, Any] = self._shell.user_ns
        with _set_aside(namespace):
            if lost is None:
                namespace[names[0]] = given
            try:
                await execute(self._shell, body, _as_it_is)
            except NameError as error:
                self._hint = _other_name(error.name, names, step)
                raise
            left = [namespace[name] for name in names if name in namespace]
        if left and left[0] is None:
            raise UsageError(
                f"the cell has set {names[0]} to None: change it in place, or give another event in its place"
            )
        if left:
            edited: Edit = left[0]
            return edited
        raise lost or UsageError(f"the cell has deleted {names[0]}, the input of {step}[{index}]")

    async def _go_on(self, body: Body | None) -> Any:
        ((step, index),) = self._asked.chosen
        edit = await self._edit(body, step, index)
        front = frontend.look(self._shell)
        stops: list[Callable[[], None]] = []
        board = make_board(
            self._asked.board,
            display=display if front.kernel else None,
            has_front_end=front.widgets and not front.headless,
            on_stop=(lambda: stops[0]()) if front.can_stop else None,
            on_explore=explorer(str(self._asked.run.store.path)),
        )

        def close(view: RunView) -> None:
            self._last = view
            board.close(view)

        result = await fork_of(
            self._asked.run,
            step,
            index,
            edit,
            None,
            on_view=board.update,
            on_close_view=close,
            tell=print,
            on_start=stops.append,
            can_stop=front.can_stop,
            headless=front.headless,
            cell=self._source,
        )
        old, new = self._asked.run.id[:8], "" if self._last is None else self._last.run_id[:8]
        print(f"run {new} left run {old} at {step}[{index}]; run {old} is as it was")
        return result


def _other_name(name: str | None, names: Sequence[str], step: str) -> str:
    """What the input is called, where a body has used the other name for it; else empty."""
    if name == _EVENT and _EVENT not in names:
        return f"{step} takes several events: use `{_EVENTS}`"
    if name == _EVENTS and _EVENTS not in names:
        return f"{step} takes one event: use `{_EVENT}`"
    return ""


@contextmanager
def _set_aside(namespace: dict[str, Any]) -> Iterator[None]:
    """Keep the user's own ``ev`` and ``events`` out of a body, and give them back."""
    own = {name: namespace.pop(name) for name in (_EVENT, _EVENTS) if name in namespace}
    try:
        yield
    finally:
        for name in (_EVENT, _EVENTS):
            namespace.pop(name, None)
        namespace.update(own)


async def _as_it_is(value: Any) -> Any:
    return value
