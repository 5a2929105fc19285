"""A shell in this process, and a session that runs nothing, for what needs neither kernel nor engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterator
from types import TracebackType
from typing import Any

import pytest
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from traitlets.config import Config

from jupyter_wfresume.errors import RunEnded
from jupyter_wfresume.magics import commands, load, unload


class Handler:
    """Stands for a run that was started: awaiting it gives its value, or raises it."""

    def __init__(self, value: object) -> None:
        self.value = value
        self.awaited = False

    def __await__(self) -> Generator[Any, None, object]:
        self.awaited = True
        yield from asyncio.sleep(0).__await__()
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value


class FakeSession:
    """What the magics use of a session, without an engine; ``opened`` lists all of a test."""

    opened: list[FakeSession]

    def __init__(self, name: str | None, options: Any, **callbacks: Any) -> None:
        self.name = name
        self.options = options
        self.callbacks = callbacks
        self.handlers: list[Handler] = []
        self.active = False
        self.settled = 0
        self.opened.append(self)

    def __enter__(self) -> FakeSession:
        self.active = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.active = False

    ran = True
    """The bodies of these tests stand for ones that run a workflow."""

    def start(self, value: object) -> Handler:
        """Do what ``Workflow.run()`` does in a cell."""
        self.handlers.append(Handler(value))
        return self.handlers[-1]

    def owns(self, value: object) -> bool:
        return any(value is handler for handler in self.handlers)

    def awaited(self, handler: Handler) -> bool:
        return handler.awaited

    async def take(self, handler: Handler) -> object:
        return await handler

    def body_failed(self, error: BaseException) -> None:
        """Nothing is stopped: a test's runs end by themselves."""

    async def settle(self, *, whole: bool = False) -> None:
        self.settled += 1
        for handler in self.handlers:
            if not handler.awaited:
                await handler

    def request_stop(self) -> None:
        raise AssertionError("no button was clicked")

    def sentence_for(self, error: BaseException) -> str | None:
        if isinstance(error, RunEnded):
            return error.sentence
        return "failed at 3 of 5: fix it and run this cell again" if isinstance(error, ValueError) else None


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    """Make an IPython shell with the magics loaded."""
    config = Config()
    config.HistoryManager.enabled = False
    made = InteractiveShell.instance(config=config)
    load(made)
    yield made
    unload(made)
    made.restore_sys_module_state()
    InteractiveShell.clear_instance()


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch, shell: InteractiveShell) -> list[FakeSession]:
    """Put `FakeSession` in the real one's place; cells reach the newest as ``session()``."""
    opened: list[FakeSession] = []
    monkeypatch.setattr(FakeSession, "opened", opened, raising=False)
    monkeypatch.setattr(commands, "Session", FakeSession)
    shell.user_ns.update(session=lambda: opened[-1], RunEnded=RunEnded)
    return opened


RunCell = Callable[[str], ExecutionResult]


@pytest.fixture
def run_cell(shell: InteractiveShell) -> RunCell:
    """Return what runs a cell as a kernel does: on a running loop, with history."""

    def run(source: str) -> ExecutionResult:
        cell = shell.transform_cell(source)
        return asyncio.run(shell.run_cell_async(source, store_history=True, transformed_cell=cell))

    return run
