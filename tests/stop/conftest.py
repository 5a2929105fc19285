"""One kernel for each file of this folder, in a new working folder for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.counting import counts
from tests.kernels import CellResult, Kernel, Pending


class Bench:
    """A kernel in a folder of its own.

    Args:
        kernel: the kernel.
        folder: where the steps' files and the store are.
    """

    def __init__(self, kernel: Kernel, folder: Path) -> None:
        self.kernel = kernel
        self.folder = folder
        code = "%load_ext jupyter_wfresume\nimport asyncio, os, time\nfrom tests.stop.flows import *\n"
        began = kernel.run(f"{code}os.chdir({str(folder)!r})")
        assert began.status == "ok", began.traceback

    def log(self) -> dict[str, int]:
        """How often each line was written."""
        return dict(counts(self.folder / "log"))

    def start(self, body: str, until: str) -> Pending:
        """Run a body below ``%%wfrun`` until a line is in the log."""
        pending = self.kernel.start(f"%%wfrun\n{body}")
        self.kernel.wait_for(lambda: until in self.log(), pending)
        return pending

    def interrupt(self, pending: Pending) -> None:
        """Interrupt once, and wait until the board shows that the run is stopping."""
        self.kernel.interrupt()
        self.kernel.wait_for_output(pending, lambda shown: "stopping" in shown.text)

    def let_go(self) -> None:
        """Let held steps go on."""
        (self.folder / "go").touch()

    def again(self, body: str) -> CellResult:
        """Let go and run the body once more."""
        self.let_go()
        return self.kernel.run(f"%%wfrun\n{body}")


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """A kernel that the tests of a file share."""
    with Kernel(tmp_path_factory.mktemp("kernel")) as started:
        yield started


@pytest.fixture
def bench(kernel: Kernel, tmp_path: Path) -> Bench:
    """The kernel, at work in this test's folder."""
    if not kernel.alive:
        kernel.restart()
    return Bench(kernel, tmp_path)
