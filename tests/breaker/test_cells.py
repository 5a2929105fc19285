"""What becomes of code when its cell is cut in two."""

from __future__ import annotations

from pathlib import Path

from tests.kernels import Kernel

SETUP = """\
%load_ext jupyter_wfresume
import random
from workflows import Workflow, step
from workflows.events import StartEvent, StopEvent
"""
FLOW = """\
class Draws(Workflow):
    @step
    async def draw(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=random.random())
"""
RUN = "%%wfrun draws --board none\nprint('drew', await Draws(timeout=None).run())"


def test_a_class_moved_away_from_its_imports_is_unchanged(tmp_path: Path) -> None:
    """A step that calls what its own cell imports is the same step in a cell without that import."""
    with Kernel(tmp_path) as kernel:
        assert kernel.run(SETUP + FLOW).status == "ok"
        first = kernel.run(RUN)
        assert kernel.run(FLOW).status == "ok"
        again = kernel.run(RUN)
    assert "recorded result" in again.stdout
    assert first.stdout.split("drew")[1] == again.stdout.split("drew")[1]
