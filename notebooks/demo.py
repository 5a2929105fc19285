"""Kill a notebook's kernel part-way, run the notebook again, and show that nothing is paid for twice.

The notebook beside this file is executed cell by cell in real kernels, in a temporary copy of its folder:

1. in a first kernel, which is killed when about sixty calls have been paid for;
2. in a second kernel, which resumes the run;
3. in a third kernel, which has nothing left to do.

What each life paid for stands in the file that the notebook's own paid call writes to. The exit code is 0 if
every check holds, and 1 if not.
"""

from __future__ import annotations

import queue
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

NOTEBOOK = Path(__file__).resolve().with_name("01_resume_a_fan_out.ipynb")
KILL_AT = 60
"""So many paid calls bring the first kernel's end."""
DOCUMENTS, MORE, WORKERS = 100, 20, 8
"""What the notebook says: documents of its first run and of its second, and workers."""
MEANT = "PermissionError"
"""What the notebook's one cell that is meant to fail raises."""
PATIENCE_S = 120.0
"""Seconds for one kernel to start, and for one cell; far more than either takes."""

RIGHT = """\
assert summaries == {name: summary_of(name) for name in documents}, "the first run's result is wrong"
assert more_summaries == {name: summary_of(name) for name in more}, "the second run's result is wrong"
"""


class Killed(Exception):
    """The kernel was killed, as planned."""


class Life:
    """One kernel that executes the notebook's cells.

    Args:
        folder: its working folder.
        on_output: given each line that a cell prints.
    """

    def __init__(self, folder: Path, on_output: Callable[[str], None]) -> None:
        self._on_output = on_output
        self._manager = KernelManager(kernel_name="python3")
        self._manager.start_kernel(cwd=str(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._client = BlockingKernelClient(session=self._manager.session)
        self._client.load_connection_info(self._manager.get_connection_info())
        self._client.start_channels()
        self._client.wait_for_ready(timeout=PATIENCE_S)

    def run(self, source: str, watch: Callable[[], bool] = lambda: False) -> dict[str, Any] | None:
        """Execute one cell.

        Args:
            source: the cell.
            watch: asked many times a second; the kernel is killed as soon as it holds.

        Returns:
            The error that the cell ended with, as the kernel tells it, or None.

        Raises:
            Killed: ``watch`` held.
            TimeoutError: the cell did not end in time.
        """
        cell = self._client.execute(source, allow_stdin=False)
        error = None
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if watch():
                self.kill()
                raise Killed
            try:
                message = self._client.get_iopub_msg(timeout=0.05)
            except queue.Empty:
                continue
            if message["parent_header"].get("msg_id") != cell:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                for line in content["text"].splitlines():
                    self._on_output(line)
            elif kind == "error":
                error = content
            elif kind == "status" and content["execution_state"] == "idle":
                return error
        raise TimeoutError(f"a cell did not end within {PATIENCE_S:.0f} s: {source.splitlines()[0]}")

    def kill(self) -> None:
        """End the process without a word to it, as a lack of memory does: SIGKILL, where signals exist."""
        self._client.stop_channels()
        if self._manager.has_kernel:
            self._manager.shutdown_kernel(now=True)


class Demo:
    """The notebook's copy, and what was paid for in each of its lives.

    Args:
        folder: an empty folder to work in.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.paid = folder / "paid_calls.txt"
        self.lives: list[Counter[str]] = []
        self.wrong = 0
        shutil.copy(NOTEBOOK, folder)
        reader: Any = nbformat  # its functions have no types
        self.cells = [c for c in reader.read(NOTEBOOK, as_version=4).cells if c.cell_type == "code"]

    def calls(self) -> list[str]:
        """The paid calls of all lives so far, in order."""
        return self.paid.read_text(encoding="utf-8").splitlines() if self.paid.exists() else []

    def live(self, kill_at: int | None = None) -> None:
        """Run the whole notebook in a new kernel.

        Args:
            kill_at: so many paid calls end the kernel; None lets it live.
        """
        before = len(self.calls())
        life = Life(self.folder, lambda line: say(f"  {line}") if line.strip() else None)
        progress = Progress(lambda: len(self.calls()) - before)
        try:
            for cell in self.cells:
                error = life.run(cell.source, lambda: progress.reached(kill_at))
                if error is not None:
                    self._failed(error, "raises-exception" in cell.metadata.get("tags", []))
                if self.wrong:
                    return
            error = life.run(RIGHT)
            self.check(error is None, "both results are right", (error or {}).get("evalue", ""))
        except Killed:
            say(f"  SIGKILL after {len(self.calls()) - before} paid calls: the kernel is gone")
        finally:
            life.kill()
        self.lives.append(Counter(self.calls()[before:]))

    def _failed(self, error: dict[str, Any], meant: bool) -> None:
        meant = meant and error["ename"] == MEANT
        say(f"  {error['ename']}: {error['evalue']}{' (the notebook means it to)' * meant}")
        if not meant:
            self.check(False, "a cell fails only where the notebook means it to")

    def check(self, holds: bool, claim: str, but: str = "") -> None:
        """Say whether a claim holds, and remember if it does not."""
        self.wrong += not holds
        say(f"  {'ok   ' if holds else 'WRONG'} {claim}{f': {but}' if but and not holds else ''}")

    def report(self) -> None:
        """Print what was paid for in each life, and check it."""
        first, second, third = self.lives
        paid = first + second + third
        twice = sorted(name for name, times in paid.items() if times > 1)
        say("What was executed")
        for number, life in enumerate(self.lives, 1):
            ended = "killed" if number == 1 else "to the end"
            say(f"  life {number}  {life.total():4} paid calls   {ended}")
        say(f"  in all  {paid.total():4} paid calls for {len(paid)} documents; executed twice: {len(twice)}")
        if twice:
            say(f"  twice: {', '.join(twice)}")
        say("")
        say("What must be true")
        self.check(KILL_AT <= first.total() < DOCUMENTS, "the kill came part-way")
        self.check(len(paid) == DOCUMENTS + MORE, "every document was executed")
        self.check(
            len(twice) <= WORKERS,
            "at most one document for each worker was executed twice",
        )
        self.check(max(paid.values(), default=0) <= 2, "nothing was executed a third time")
        self.check(
            second.total() == DOCUMENTS + MORE - first.total() + len(twice),
            "the second life did the rest only",
        )
        self.check(third.total() == 0, "the third life had nothing left to pay for")


class Progress:
    """Prints a line at every twenty paid calls.

    Args:
        count: the paid calls of this life so far.
    """

    def __init__(self, count: Callable[[], int]) -> None:
        self._count = count
        self._said = 0

    def reached(self, limit: int | None) -> bool:
        """Whether the count has reached ``limit``; None is never reached."""
        now = self._count()
        if now >= self._said + 20:
            self._said = now - now % 20
            say(f"  {self._said} calls paid")
        return limit is not None and now >= limit


def say(line: str) -> None:
    """Print a line at once, also where output is no terminal or cannot show every sign."""
    encoding = sys.stdout.encoding or "utf-8"
    print(line.encode(encoding, "replace").decode(encoding), flush=True)


def main() -> int:
    """Run the demo; return the exit code."""
    with tempfile.TemporaryDirectory(prefix="wfresume-demo-", ignore_cleanup_errors=True) as name:
        demo = Demo(Path(name))
        say(f"Life 1: a kernel runs {NOTEBOOK.name} and is killed at {KILL_AT} paid calls")
        demo.live(kill_at=KILL_AT)
        for title in ("Life 2: a new kernel runs the same notebook again", "Life 3: and once more"):
            if not demo.wrong:
                say(f"\n{title}")
                demo.live()
        if not demo.wrong:
            say("")
            demo.report()
    say("")
    if demo.wrong:
        say(f"{demo.wrong} of these claims {'does' if demo.wrong == 1 else 'do'} not hold.")
        return 1
    say("See it yourself, with the board and a Stop button:")
    say("  .venv/bin/jupyter lab notebooks/01_resume_a_fan_out.ipynb")
    return 0


if __name__ == "__main__":
    sys.exit(main())
