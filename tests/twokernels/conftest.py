"""Two kernels that work in one folder, with one store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.kernels import Kernel

FLOWS = "%load_ext jupyter_wfresume\nfrom tests.stop.flows import *"


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Kernel, Kernel]]:
    """Two kernels with the same workflows."""
    with ExitStack() as stack:
        first, second = (stack.enter_context(Kernel(tmp_path)) for _ in range(2))
        for each in (first, second):
            assert each.run(FLOWS).status == "ok"
        yield first, second
