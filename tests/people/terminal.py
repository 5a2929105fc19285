"""A program in a pseudo-terminal: read what it shows, type into it."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from tests.kernels import ROOT, plain

PATIENCE_S = 60.0

# Ctrl-C is a signal only to those whose controlling terminal this is.
_OWN_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""


class Terminal:
    """One program.

    Args:
        command: what to start.
        folder: its working folder.
    """

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self._fd, theirs = pty.openpty()
        env = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "dumb", "COLUMNS": "200"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _OWN_TERMINAL, *command],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=folder,
            env=env,
            start_new_session=True,
        )
        os.close(theirs)
        self.shown = ""
        self._seen = 0

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._fd)

    def until(self, text: str) -> None:
        """Read on until a text is shown behind what was waited for before.

        Raises:
            AssertionError: it is not.
        """
        deadline = time.monotonic() + PATIENCE_S
        while text not in self.shown[self._seen :]:
            assert time.monotonic() < deadline, f"{text!r} is not in {self.shown[self._seen :]!r}"
            if not self._read(deadline):
                assert text in self.shown[self._seen :], f"it ended without {text!r}: {self.shown!r}"
        self._seen = self.shown.index(text, self._seen) + len(text)

    def type(self, text: str) -> None:
        """Type a text; ``\\x03`` is Ctrl-C, ``\\x04`` Ctrl-D."""
        os.write(self._fd, text.encode())

    def end(self) -> int:
        """Read on until the program has ended; return its exit code."""
        deadline = time.monotonic() + PATIENCE_S
        while self._read(deadline):
            assert time.monotonic() < deadline, f"it does not end: {self.shown!r}"
        return self._process.wait(PATIENCE_S)

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._fd], [], [], max(0.0, deadline - time.monotonic()))
        try:
            data = os.read(self._fd, 65536) if ready else b""
        except OSError:  # how Linux says that the other side is closed
            data = b""
        self.shown += plain(data.decode("utf-8", "replace"))
        return bool(data)
