"""Run a body in a session, and keep all that it shows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from jupyter_wfresume.errors import RunEnded
from jupyter_wfresume.records import Options, RunView
from jupyter_wfresume.session import Session, waiting
from tests.warned import flows


@dataclass
class Life:
    """What one life of a cell did.

    Args:
        result: of the body, or None.
        sentence: how it ended without a result, or empty.
        status: of the run that ended so.
        notes: warnings of the runs that the cell started, in order; each as often as it was said.
        told: the lines before work started.
        stood_still: it was said that only the cell can move the run.
    """

    result: Any = None
    sentence: str = ""
    status: str = ""
    notes: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    stood_still: asyncio.Event = field(default_factory=asyncio.Event)
    noted: asyncio.Event = field(default_factory=asyncio.Event)

    def see(self, source: Callable[[], RunView]) -> None:
        """A run changed."""
        view = source()
        if "goes on only if this cell sends it an event" in view.sentence:
            self.stood_still.set()
        if view.notes:
            self.noted.set()

    def saw_the_last(self, view: RunView) -> None:
        """A run ended."""
        self.notes += view.notes


Lives = Callable[..., Awaitable[Life]]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch, work_dir: Path) -> Iterator[None]:
    """A stuck run is given up soon, and what holds steps is as new."""
    monkeypatch.setattr(waiting, "STUCK_GRACE_S", 0.05)
    monkeypatch.setattr(waiting, "LOOK_AGAIN_S", 0.02)
    monkeypatch.setattr(flows, "GO", asyncio.Event())
    flows.HEARD.clear()
    yield
    flows.HEARD.set()


@pytest.fixture
def live() -> Lives:
    """Return what runs a body under the name ``it`` for one life; the body is given what is seen of it."""

    async def run(body: Callable[[Life], Awaitable[Any]], *, cell: str = "", **options: Any) -> Life:
        life = Life()
        try:
            life.result = await asyncio.wait_for(_run(life, body, cell, Options(**options)), flows.PATIENCE_S)
        except RunEnded as ended:
            life.sentence, life.status = ended.sentence, ended.status
        return life

    return run


async def _run(life: Life, body: Callable[[Life], Awaitable[Any]], cell: str, options: Options) -> Any:
    session = Session(
        "it",
        options,
        on_view=life.see,
        on_close_view=life.saw_the_last,
        tell=life.told.append,
        cell=cell,
    )
    with session:
        try:
            result = await body(life)
        except BaseException as error:
            session.body_failed(error)
            await session.settle()
            raise
        await session.settle()
        return result
