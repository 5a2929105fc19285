"""Where a warning is seen: on the board of a real kernel, in a script's output, in the list of runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_wfresume.board import make_board
from jupyter_wfresume.records import RunView
from tests.kernels import ROOT, Kernel

ACCEPT = "`split` makes a `Special`, which no step accepts: `work` takes its parent class `Item` only"

CELL = """\
from workflows import Workflow, step
from workflows.events import Event, StartEvent, StopEvent

class Item(Event):
    n: int

class Special(Item):
    pass

class Flow(Workflow):
    @step
    async def split(self, ev: StartEvent) -> Item:
        return Special(n=1)

    @step
    async def work(self, ev: Item) -> StopEvent:
        return StopEvent(result=ev.n)

class Slow(Workflow):
    @step
    async def only(self, ev: StartEvent) -> StopEvent:
        time.sleep(2.5)
        return StopEvent(result="slow")
"""


@pytest.mark.parametrize("board", ["widget", "text"])
def test_a_kernel_shows_it_on_the_board_and_in_the_list(tmp_path: Path, board: str) -> None:
    """Each warning once: of the code of a cell's workflow, of a stuck run, of a cell's line that blocks."""
    with Kernel(tmp_path) as kernel:
        assert kernel.run(f"%load_ext jupyter_wfresume\nimport time\n{CELL}").status == "ok"
        shown = kernel.run(f"%%wfrun flow --board {board}\nawait Flow(timeout=None).run()")
        assert (shown.status, shown.ename) == ("error", "RunEnded")
        assert (
            "flow is stuck at 1 of 1: no step accepts `Special`, only its parent class `Item`" in shown.evalue
        )
        assert shown.text.count(ACCEPT) == 1
        assert ACCEPT in kernel.run("%wfruns").text
        slow = kernel.run(f"%%wfrun slow --board {board}\nawait Slow(timeout=None).run()")
        assert slow.status == "ok"
        assert slow.text.count("`only` keeps the event loop busy") == 1
        assert "over 1 s in Cell In[1], line 24: time.sleep(2.5); call that with await" in slow.text
        assert "Warning" not in slow.text + shown.text


def test_a_script_without_a_screen_says_it_once(tmp_path: Path) -> None:
    """The text board writes a note when it comes up, and not again in the summary."""
    script = tmp_path / "script.py"
    main = (
        "async def main():\n    async with durable('flow', wait=0):\n        await Flow(timeout=None).run()\n"
    )
    script.write_text(
        f"import asyncio, time\nfrom jupyter_wfresume import durable\n{CELL}\n{main}\nasyncio.run(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.count(f"note: {ACCEPT}") == 1
    assert done.stderr.index("note: ") < done.stderr.index("stuck")


def test_a_note_comes_before_the_end_and_is_not_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    """On a stream, what is noted while a run goes on is not in its summary again; what comes last is."""
    board = make_board("text", display=None, has_front_end=False, on_stop=None, stream=sys.stdout)
    board.update(RunView("1", "it", "It", "running", notes=("first",)))
    board.close(RunView("1", "it", "It", "done", notes=("first", "last")))
    assert capsys.readouterr().out.count("note: ") == 2
