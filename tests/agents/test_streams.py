"""A body that reads ``handler.stream_events()`` sees every event, in each life."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.counting import counts
from tests.kernels import ROOT, Kernel

SEEN = ["Seen-1", "Seen0", "Seen1", "Seen2"]


def live(folder: Path, how: str) -> list[Any] | None:
    """Read the stream in a process of its own; None where it died."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.agents.streaming", how],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode == -signal.SIGKILL:
        return None
    assert done.returncode == 0, done.stderr
    seen: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return seen


def test_every_event_and_all_of_them_again(tmp_path: Path) -> None:
    """The first life streams all in order; a finished call streams it again, and asks nothing."""
    assert live(tmp_path, "answer") == [
        *("Seen-1", "Seen0", "Seen1", "Seen2", "InputRequiredEvent", "StopEvent"),
        "yes",
    ]
    again = live(tmp_path, "answer")
    assert again is not None
    assert (sorted(again[:4]), again[4:]) == (SEEN, ["StopEvent", "yes"])
    assert counts(tmp_path / "log") == {"work 0": 1, "work 1": 1, "work 2": 1}


def test_a_resumed_run_streams_its_pending_question_again(tmp_path: Path) -> None:
    """Killed at the question, twice: the next life's body reads all again, and answers the question."""
    assert live(tmp_path, "die") is None
    assert live(tmp_path, "die") is None
    last = live(tmp_path, "answer")
    assert last is not None
    assert (sorted(last[:4]), last[4:]) == (SEEN, ["InputRequiredEvent", "StopEvent", "yes"])
    assert counts(tmp_path / "log") == {"work 0": 1, "work 1": 1, "work 2": 1}


def test_internal_events_are_streamed_where_they_are_asked_for(tmp_path: Path) -> None:
    """``expose_internal=True`` shows the engine's own events beside the workflow's."""
    seen = live(tmp_path, "internal")
    assert seen is not None
    assert seen.count("StepStateChanged") >= 10
    assert [each for each in seen if each.startswith("Seen")] == ["Seen-1", "Seen0", "Seen1", "Seen2"]


def test_a_body_under_nest_asyncio_works(tmp_path: Path) -> None:
    """``asyncio.run`` in the body, once the loop can be entered again: a run, and its recorded result."""
    with Kernel(tmp_path) as kernel:
        kernel.run("%load_ext jupyter_wfresume\nfrom tests.stop.flows import *\nopen('go', 'w').close()")
        body = "import nest_asyncio\nnest_asyncio.apply()\n"
        body += "async def main():\n    return await run(Batch, size=4)\n"
        for _ in range(2):
            shown = kernel.run(f"%%wfrun --board none\n{body}asyncio.run(main())")
            assert shown.result == {"text/plain": "6"}, shown.text
        assert counts(tmp_path / "log")["split"] == 1
        assert kernel.run("%%wfrun --board none\nawait run(Batch, size=3)").result == {"text/plain": "3"}
