"""A working folder of its own for each test, and what runs a workflow in it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from workflows import Workflow

from jupyter_wfresume import durable, open_run
from jupyter_wfresume.errors import RunEnded, UsageError
from jupyter_wfresume.session import Run

PATIENCE_S = 60.0


@pytest.fixture(autouse=True)
def _here(work_dir: Path) -> None:
    """Put stores and logs into the test's own folder."""


Live = Callable[..., Awaitable[Any]]


@pytest.fixture
def live() -> Live:
    """Return what runs a workflow under the name ``it`` for one life: its result, or how it ended."""

    async def run(workflow: Workflow, *, wait: float = 0, **given: Any) -> Any:
        try:
            async with durable("it", wait=wait, board="none"):
                return await workflow.run(**given)
        except RunEnded as ended:
            return ended

    return run


async def until(found: Callable[[Run], bool]) -> Run:
    """Return the run once its record is as wanted.

    Raises:
        AssertionError: it never is.
    """
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        with contextlib.suppress(UsageError):  # there is no store, or no run in it yet
            run = open_run("it")
            if found(run):
                return run
        await asyncio.sleep(0.02)  # the store is no event that could be awaited
    raise AssertionError(f"it is {open_run('it')!r} and asks {open_run('it').questions}")


async def asked(count: int = 1) -> Run:
    """Return the run once it waits with so many questions."""
    return await until(lambda run: run.status == "waiting" and len(run.questions) == count)
