"""A notebook executed without a front end, in place, saved while it runs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat.reader
from jupyter_client.kernelspec import NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError

from ..errors import UsageError
from ..session.runs import STORE_VARIABLE
from .progress import CellRuns

SAVE_S = 2.0
"""Seconds between two looks at whether there is something new to save."""

_GENTLE = 2
"""So many interrupts reach the kernel: the first lets executions finish, the second cancels them."""

_NBFORMAT: Any = nbformat  # its functions have no types
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def execute(notebook: Path, *, store: str | None, kernel: str | None) -> str | None:
    """Execute a notebook from top to bottom and save it.

    Args:
        notebook: the file; its folder is the kernel's working folder.
        store: the store's folder, absolute, or None for the kernel's default.
        kernel: the kernel's name, or None for the notebook's own.

    Returns:
        None, or the sentence of the cell that ended without a result; later cells were not executed.

    Raises:
        UsageError: there is no such notebook or kernel.
    """
    return asyncio.run(_Execution(notebook, store, kernel).run())


class _Execution:
    """One notebook in one new kernel."""

    def __init__(self, notebook: Path, store: str | None, kernel: str | None) -> None:
        self.path = notebook.resolve()
        self.book = _read(self.path)
        self.saved = ""
        self.place = "before the first cell"
        self.place_of_all = f"{self.path.name} {self.place}"
        self.failure = ""
        self.interrupts = 0
        self.store = store
        self.runs: CellRuns | None = None
        self.env = {**os.environ, "JPY_SESSION_NAME": str(self.path)}
        if store is not None:
            self.env[STORE_VARIABLE] = store
        named = self.book.metadata.get("kernelspec", {}).get("name")
        self.client = NotebookClient(
            self.book,
            timeout=None,
            kernel_name=kernel or named or "python3",
            resources={"metadata": {"path": str(self.path.parent)}},
            on_notebook_start=self._started,
            on_cell_execute=self._executing,
            on_cell_executed=self._executed,
            on_cell_error=self._failed,
        )

    async def run(self) -> str | None:
        """Execute all cells; see `execute`."""
        saving = asyncio.create_task(self._keep_saving())
        try:
            await self.client.async_execute(env=self.env)
        except CellExecutionError:
            return self.failure
        except DeadKernelError:
            return self._sentence("the kernel died; run the same line again to go on")
        except NoSuchKernel as error:
            raise UsageError(f"there is no kernel named {error.name!r}; choose one with --kernel") from None
        except _Stopped:
            return self._sentence("stopped; run the same line again to go on")
        finally:
            saving.cancel()
            self._leave_runs()
            self._save()
        return None

    def _started(self, **_: Any) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError, RuntimeError):  # Windows; not in the main thread
                loop.add_signal_handler(number, self._interrupt)

    def _interrupt(self) -> None:
        """Stop as the interrupt button does, so that what is in flight can be recorded."""
        self.interrupts += 1
        self.stopping = asyncio.ensure_future(self._stop())

    async def _stop(self) -> None:
        manager: Any = self.client.km
        if manager is not None and self.interrupts <= _GENTLE:
            await manager.interrupt_kernel()
        elif manager is not None:
            await manager.shutdown_kernel(now=True)

    def _executing(self, cell: Any, cell_index: int) -> None:
        if self.interrupts:
            raise _Stopped
        codes = [index for index, each in enumerate(self.book.cells) if each.cell_type == "code"]
        position = f"code cell {codes.index(cell_index) + 1} of {len(codes)}"
        self.place = f"In[{self.client.code_cells_executed + 1}]"
        self.place_of_all = f"{self.path.name} {self.place} · {position}"
        print(self.place_of_all, flush=True)
        self._leave_runs()
        self.runs = CellRuns(self.path, cell, self.store)

    def _executed(self, **_: Any) -> None:
        self._tell()
        self._save()

    def _leave_runs(self) -> None:
        if self.runs is not None:
            self.runs.close()
            self.runs = None

    def _tell(self) -> None:
        """Say what the cell has told of its runs, and how far they are."""
        for said in [] if self.runs is None else self.runs.lines():
            print(f"{self.place_of_all} · {said}", flush=True)

    def _failed(self, cell: Any, cell_index: int, execute_reply: Mapping[str, Any]) -> None:
        how = "" if self.runs is None else self.runs.how_to_answer()
        said = ending(execute_reply["content"])
        self.failure = self._sentence(f"{said}; {how}" if how else said)

    def _sentence(self, what: str) -> str:
        return f"{self.path.name} {self.place}: {what}"

    async def _keep_saving(self) -> None:
        while True:
            await asyncio.sleep(SAVE_S)
            self._tell()
            self._save()

    def _save(self) -> None:
        """Write the notebook if it changed; a kill leaves the old file or the new one, never half of it."""
        text: str = _NBFORMAT.writes(self.book)
        if text == self.saved:
            return
        handle, name = tempfile.mkstemp(prefix=f".{self.path.name}.", dir=self.path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text if text.endswith("\n") else f"{text}\n")
            shutil.copymode(self.path, name)
            os.replace(name, self.path)
        except BaseException:
            os.unlink(name)
            raise
        self.saved = text


class _Stopped(Exception):
    """The user stopped the execution between two cells."""


def ending(reply: Mapping[str, Any]) -> str:
    """Return in words how a cell ended.

    Args:
        reply: the content of an ``execute_reply`` with status ``error``.
    """
    name, value = str(reply.get("ename", "error")), str(reply.get("evalue", ""))
    shown = _ANSI.sub("", "\n".join(reply.get("traceback") or []))
    if name == "UsageError" or (value and shown.strip() == value.strip()):
        return value
    summary = f"{name}: {value}" if value else name
    last = next((row for row in reversed(shown.splitlines()) if row.strip()), "")
    known = not last or last in summary or summary.endswith(last) or last.startswith(name)
    return summary if known else f"{summary}\n{last}"


def _read(path: Path) -> Any:
    try:
        return _NBFORMAT.read(path, as_version=4)
    except FileNotFoundError:
        raise UsageError(f"there is no notebook at {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the notebook {path} cannot be read: {error}") from None
    except (nbformat.reader.NotJSONError, nbformat.ValidationError):
        raise UsageError(f"{path} is not a notebook") from None
