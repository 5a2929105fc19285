"""The process that lives and is killed, for the tests of one module."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.effects.lives import Lives
from tests.kernels import ROOT


@pytest.fixture(scope="module")
def lives() -> Iterator[Lives]:
    """A process that has imported everything and forks a child for each life."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.effects.crashing"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Lives(process)
        assert process.stdin is not None
        process.stdin.close()
