"""Real kernels and a real terminal for tests: run a cell, watch it, interrupt it, kill it.

Everything happens in the caller's thread: messages are read only while a method here waits.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import zmq
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

ROOT = Path(__file__).resolve().parent.parent
START_S = 120.0
CELL_S = 60.0
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def plain(text: str) -> str:
    """Return ``text`` without terminal colours."""
    return _ANSI.sub("", text)


@dataclass
class Display:
    """One output area of a cell: its newest bundle, and how often it was updated."""

    data: dict[str, Any]
    display_id: str | None = None
    updates: int = 0


@dataclass
class CellResult:
    """What a cell has shown so far, and how it ended.

    Args:
        status: ``died`` when the kernel's process ended first; ``running`` until there is an end.
        displays: bundles by MIME type, updates applied.
        result: the bundle of ``Out[n]``, or None.
    """

    status: Literal["running", "ok", "error", "aborted", "died"] = "running"
    ename: str = ""
    evalue: str = ""
    traceback: str = ""
    stdout: str = ""
    stderr: str = ""
    displays: list[Display] = field(default_factory=list)
    result: dict[str, Any] | None = None
    clear_next: bool = False

    @property
    def text(self) -> str:
        """All that a person without a browser reads, colours taken out."""
        shown = [str(display.data.get("text/plain", "")) for display in self.displays]
        last = "" if self.result is None else str(self.result.get("text/plain", ""))
        return plain("\n".join([self.stdout, self.stderr, *shown, last, self.traceback]))

    def clear(self) -> None:
        """Empty the output, as a front end does on ``clear_output``."""
        self.stdout = self.stderr = ""
        self.displays.clear()
        self.clear_next = False


@dataclass(eq=False)
class Pending:
    """A cell that was sent; ``wait`` returns its result."""

    kernel: Kernel
    msg_id: str
    result: CellResult = field(default_factory=CellResult)
    replied: bool = False
    idle: bool = False

    @property
    def ended(self) -> bool:
        """Whether the cell has both its reply and its last output, or its kernel is gone."""
        return (self.replied and self.idle) or self.result.status == "died"

    def wait(self, timeout_s: float = CELL_S) -> CellResult:
        """Return the result at the cell's end.

        Raises:
            TimeoutError: the cell still runs after ``timeout_s`` seconds.
        """
        self.kernel._pump_until(lambda: self.ended, self, timeout_s)
        return self.result


class Kernel:
    """One IPython kernel of the current interpreter, in a process of its own.

    Args:
        cwd: the kernel's working folder.
        env: added to this process's environment; a value of None takes a name out.
    """

    def __init__(self, cwd: Path | str, env: Mapping[str, str | None] | None = None) -> None:
        self.cwd = str(cwd)
        self.env = _environment(env)
        self.widgets: dict[str, dict[str, Any]] = {}
        self._cells: dict[str, Pending] = {}
        self._start()

    def __enter__(self) -> Kernel:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The id of the kernel's process."""
        return int(self._manager.provisioner.pid)  # type: ignore[union-attr]  # there is one once it is started

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return bool(self._manager.is_alive())

    def start(self, code: str) -> Pending:
        """Send a cell and return at once."""
        msg_id = self._client.execute(code, allow_stdin=False, stop_on_error=False)
        pending = Pending(self, msg_id)
        self._cells[msg_id] = pending
        return pending

    def run(self, code: str, timeout_s: float = CELL_S) -> CellResult:
        """Run a cell to its end; see `Pending.wait`."""
        return self.start(code).wait(timeout_s)

    def wait_for_output(
        self, pending: Pending, predicate: Callable[[CellResult], bool], timeout_s: float = CELL_S
    ) -> CellResult:
        """Return as soon as ``predicate`` holds for what the cell has shown.

        Raises:
            TimeoutError: it does not hold after ``timeout_s`` seconds.
            AssertionError: the cell ended and it does not hold.
        """
        self._pump_until(lambda: predicate(pending.result) or pending.ended, pending, timeout_s)
        if not predicate(pending.result):
            raise AssertionError(f"the cell ended before it showed what was waited for: {pending.result}")
        return pending.result

    def wait_for(self, condition: Callable[[], bool], pending: Pending, timeout_s: float = CELL_S) -> None:
        """Read messages until a condition outside the kernel holds, such as a line in a file.

        Raises:
            TimeoutError: it does not hold after ``timeout_s`` seconds.
            AssertionError: the cell ended and it does not hold.
        """
        self._pump_until(lambda: condition() or pending.ended, pending, timeout_s)
        if not condition():
            raise AssertionError(f"the cell ended before the condition held: {pending.result}")

    def interrupt(self) -> None:
        """Do what a front end's interrupt button does."""
        self._manager.interrupt_kernel()

    def kill(self) -> None:
        """End the process with SIGKILL and return when it is gone."""
        os.kill(self.pid, signal.SIGKILL)
        deadline = time.monotonic() + START_S
        while self.alive:
            if time.monotonic() > deadline:
                raise TimeoutError(f"process {self.pid} is still there after SIGKILL")
            time.sleep(0.01)  # a process's end is no event that can be waited for through the manager

    def restart(self, graceful: bool = False) -> None:
        """Start a new process in the old one's place; what waited in the old one is ``died``.

        Args:
            graceful: ask the old process to end, as a front end does, instead of killing it.
        """
        self._end(graceful)
        self._start()

    def close(self) -> None:
        """End the process and close the sockets."""
        self._end(graceful=False)

    def send_widget(self, model_id: str, content: Mapping[str, Any]) -> None:
        """Send a custom message to a widget, as the front end's view of it does."""
        self._to_widget(model_id, {"method": "custom", "content": dict(content)})

    def set_widget(self, model_id: str, **state: Any) -> None:
        """Change a widget's state, as typing into it does."""
        self._to_widget(model_id, {"method": "update", "state": state, "buffer_paths": []})

    def _to_widget(self, model_id: str, data: Mapping[str, Any]) -> None:
        message = self._client.session.msg("comm_msg", {"comm_id": model_id, "data": dict(data)})
        self._client.shell_channel.send(message)

    def click(self, model_id: str) -> None:
        """Click a ``Button``."""
        self.send_widget(model_id, {"event": "click"})

    def _start(self) -> None:
        self.widgets.clear()
        self._manager = KernelManager(kernel_name="python3")
        self._manager.start_kernel(cwd=self.cwd, env=self.env)
        self._client = BlockingKernelClient(session=self._manager.session)
        self._client.load_connection_info(self._manager.get_connection_info())
        self._client.start_channels(hb=False)
        try:
            self._client.wait_for_ready(timeout=START_S)
        except BaseException:
            self.close()
            raise

    def _end(self, graceful: bool) -> None:
        self._client.stop_channels()
        if self._manager.has_kernel:
            self._manager.shutdown_kernel(now=not graceful)
        self._client.context.term()
        for cell in self._cells.values():
            if not cell.ended:
                cell.result.status = "died"

    def _pump_until(self, condition: Callable[[], bool], pending: Pending, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"after {timeout_s:g} s the cell has shown no more than {pending.result}")
            if not self._pump(0.05) and not self.alive and not self._pump(0.5):
                for cell in self._cells.values():
                    if not cell.ended:
                        cell.result.status = "died"

    def _pump(self, timeout_s: float) -> bool:
        """Handle what has arrived; wait up to ``timeout_s`` for the first message."""
        channels = (self._client.iopub_channel, self._client.shell_channel)
        poller = zmq.Poller()
        for channel in channels:
            poller.register(channel.socket, zmq.POLLIN)
        ready = dict(poller.poll(int(timeout_s * 1000)))
        for channel in channels:
            while channel.socket in ready and channel.socket.poll(0):
                self._handle(channel.get_msg(timeout=1))
        return bool(ready)

    def _handle(self, message: Mapping[str, Any]) -> None:
        kind, content = message["header"]["msg_type"], message["content"]
        if kind == "comm_open":
            self.widgets[content["comm_id"]] = dict(content["data"].get("state", {}))
        elif kind == "comm_msg" and content["data"].get("method") == "update":
            self.widgets.setdefault(content["comm_id"], {}).update(content["data"]["state"])
        elif kind == "update_display_data":
            self._update(content)
        pending = self._cells.get(message["parent_header"].get("msg_id", ""))
        if pending is not None:
            _apply(pending, kind, content)

    def _update(self, content: Mapping[str, Any]) -> None:
        """An update reaches every output with that display id, in whichever cell it stands."""
        for cell in self._cells.values():
            for display in cell.result.displays:
                if display.display_id == content["transient"]["display_id"]:
                    display.data = dict(content["data"])
                    display.updates += 1


def _apply(pending: Pending, kind: str, content: Mapping[str, Any]) -> None:
    result = pending.result
    if kind in ("stream", "display_data", "execute_result", "error") and result.clear_next:
        result.clear()
    if kind == "stream":
        setattr(result, content["name"], getattr(result, content["name"]) + content["text"])
    elif kind == "display_data":
        display_id = content.get("transient", {}).get("display_id")
        result.displays.append(Display(dict(content["data"]), display_id))
    elif kind == "execute_result":
        result.result = dict(content["data"])
    elif kind == "clear_output":
        if content["wait"]:
            result.clear_next = True
        else:
            result.clear()
    elif kind == "error":
        result.traceback = "\n".join(content["traceback"])
    elif kind == "status":
        pending.idle = content["execution_state"] == "idle"
    elif kind == "execute_reply":
        pending.replied = True
        result.status = content["status"]
        result.ename, result.evalue = content.get("ename", ""), content.get("evalue", "")
        if result.status == "aborted":
            pending.idle = True  # an aborted cell is not sure to get a status message


def _environment(extra: Mapping[str, str | None] | None) -> dict[str, str]:
    """This process's environment with the project importable, and ``extra`` applied."""
    env = dict(os.environ)
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), env.get("PYTHONPATH", "")]))
    for name, value in (extra or {}).items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    return env


@dataclass(frozen=True)
class TerminalResult:
    """What IPython in a terminal printed, colours taken out."""

    stdout: str
    stderr: str
    returncode: int


def run_terminal(
    cells: Sequence[str],
    cwd: Path | str,
    env: Mapping[str, str | None] | None = None,
    timeout_s: float = CELL_S,
) -> TerminalResult:
    """Type cells into IPython in a terminal, one after the other, then leave.

    Args:
        cells: sources; a blank line inside one would end it early, as when typed.
        cwd: working folder.
        env: as for `Kernel`.
        timeout_s: seconds for all cells.

    Raises:
        ValueError: a cell has a blank line.
        subprocess.TimeoutExpired: the cells did not end in time; the process is ended.
    """
    for cell in cells:
        if any(not line.strip() for line in cell.strip("\n").split("\n")):
            raise ValueError(f"a cell typed into a terminal has no blank line: {cell!r}")
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner", "--no-confirm-exit"],
        # IPython takes a cell magic's body as ended at the second blank line; others at the first.
        input="".join(cell.strip("\n") + "\n\n\n" for cell in cells),
        cwd=cwd,
        env=_environment(env),
        timeout=timeout_s,
        capture_output=True,
        text=True,
        check=False,
    )
    return TerminalResult(plain(done.stdout), plain(done.stderr), done.returncode)
