"""A run that waits for a person, by itself or in runs that its steps run, or that is stuck."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ..errors import WfresumeError
from . import words
from .stuck import reasons

if TYPE_CHECKING:
    from .life import Life

STUCK_GRACE_S = 1.0
"""How long a run may be idle with nobody to wait for before it counts as stuck, in seconds."""

LOOK_AGAIN_S = 0.5
"""How often it is looked whether the cell's own code may still move a stuck run, in seconds."""

ASKED_S = 0.1
"""How soon a question is in the header, in seconds; several at once are written together."""


class Waiting:
    """Knows whether a run waits, and ends it when nobody is there for that.

    A run is idle when nothing of it is under way. It rests when whatever it still
    executes waits for a person in a run below it.

    Args:
        life: the run's life.
    """

    def __init__(self, life: Life) -> None:
        self._life = life
        self._below: set[Life] = set()
        self._task: asyncio.Task[None] | None = None
        self._write_soon: asyncio.TimerHandle | None = None
        self.rests = False
        life.session.movers.lives.add(life)

    def idle(self, is_idle: bool) -> None:
        """Nothing can move without help from outside, or again it can."""
        life = self._life
        if self._task is not None:
            self._task.cancel()
            self._task = None
        if life.has_ending:
            return
        if not is_idle:
            if life.status in ("waiting", "stuck"):
                life.status, life.sentence = "running", ""
                self._tell_parent(False)
                life.changed()
            return
        waits = life.drive.waits()
        if not waits and life.drive.parked:
            if not life.answers.skips.deliver():
                life.fail_set_aside()
            return
        life.status = "waiting" if waits else "stuck"
        life.write_header()
        self._tell_parent(waits)
        life.changed()
        self._task = asyncio.ensure_future(self._wait_out(waits))

    async def _wait_out(self, waits: bool) -> None:
        life = self._life
        if waits:
            patience_s = life.session.wait_s
            life.answers.deliver()
            if patience_s is None:
                return
            top = life.top()
            if top is not life:
                # What runs beside it goes on first, as it would in one run.
                await top.drive.flights.until(lambda: top.waiting.rests or top.is_ending)
            await asyncio.sleep(patience_s)
            # A body that has not looked yet may be about to answer by itself.
            await life.drive.flights.until(lambda: life.drive.was_awaited or life.drive.consumed)
        else:
            await asyncio.sleep(STUCK_GRACE_S)
            while life.session.movers.may_move(life):  # no event tells of users' tasks
                life.sentence = words.stands_still(life.header_with_steps(), self._reasons())
                life.changed()
                await asyncio.sleep(LOOK_AGAIN_S)
        if (waits and life.drive.consumed) or life.drive.is_expecting:
            return
        self._task = None
        await life.finish("waiting" if waits else "stuck", "")

    def why_stuck(self) -> str:
        """The sentence of a run that cannot move."""
        return words.stuck(self._life.header_with_steps(), self._reasons())

    def _reasons(self) -> list[str]:
        progress, state = self._life.drive.progress, self._life.drive.known_state()
        return reasons(progress.steps, progress.unaccepted, state)

    # -- what is asked ------------------------------------------------------

    def asked(self) -> None:
        """What is asked has changed: others must not wait for the next record to see it in the header."""
        if self._write_soon is None and not self._life.concluded:
            self._write_soon = asyncio.get_running_loop().call_later(ASKED_S, self._write)
        if self._life.parent is not None:
            self._life.parent.waiting.asked()

    def _write(self) -> None:
        self._write_soon = None
        if self._life.concluded:
            return
        try:
            self._life.write_header()
        except WfresumeError as error:
            # The next record meets the same fault, and stops the run with its sentence.
            self._life.warn(f"what is asked cannot be written down: {error}")
        self._life.changed()

    # -- runs below ---------------------------------------------------------

    def below(self, child: Life, waits: bool) -> None:
        """A run below this one waits for a person, or goes on, or has ended."""
        if waits:
            self._below.add(child)
        else:
            self._below.discard(child)
        self.look()

    def look(self) -> None:
        """Something has changed, so that the run may rest now, or no longer."""
        if not self._below and not self.rests:
            return
        found = self._found()
        if found == self.rests:
            return
        self.rests, life = found, self._life
        life.drive.rest(found)
        if not life.is_ending:
            life.status = "waiting" if found else "running"
        self._tell_parent(found)
        self.asked()
        life.drive.flights.poke()

    def _found(self) -> bool:
        life = self._life
        if not self._below or life.is_ending:
            return False
        waiting = {child.header.parent_execution for child in self._below}
        busy = {child.header.parent_execution for child in life.children if child not in self._below}
        places = {f"{flight.label}#{flight.attempt}" for flight in life.drive.flights.active()}
        return places <= waiting - busy and not life.drive.has_timers()

    def _tell_parent(self, waits: bool) -> None:
        parent = self._life.parent
        if parent is not None:
            parent.waiting.below(self._life, waits)
            parent.waiting.asked()

    def end(self) -> None:
        """The run has ended."""
        for pending in (self._task, self._write_soon):
            if pending is not None:
                pending.cancel()
        life = self._life
        life.session.movers.lives.discard(life)
        if life.parent is None:
            return
        if life.status != "waiting" and life in life.parent.children:
            # One that ended with a question is still shown, and its question with it.
            life.parent.children.remove(life)
        life.parent.waiting.below(life, False)
