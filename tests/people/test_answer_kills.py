"""Killed before and after each write from the first answer on: every answer is taken once."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_wfresume import open_run
from tests.kernels import ROOT


@pytest.fixture(scope="module")
def lives() -> Iterator[subprocess.Popen[str]]:
    """A process that has imported everything and forks a child for each life."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.people.dying"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def live(lives: subprocess.Popen[str], folder: Path, flow: str, number: int) -> int:
    """Live once; return how it ended: 0, or minus the signal's number."""
    assert lives.stdin is not None
    assert lives.stdout is not None
    lives.stdin.write(json.dumps({"folder": str(folder), "flow": flow, "number": number}) + "\n")
    lives.stdin.flush()
    return int(json.loads(lives.stdout.readline()))


@pytest.mark.parametrize(("flow", "result"), [("loop", 1), ("unlinked", ["0", "1", "2"])])
def test_killed_around_answers_each_is_delivered_once(
    flow: str, result: Any, lives: subprocess.Popen[str], tmp_path: Path
) -> None:
    """What is on disk is taken by the next life and by no other, and nobody is asked what was answered."""
    number, killed = 0, True
    while killed:
        number += 1
        where = f"killed at boundary {number}"
        folder = tmp_path / str(number)
        folder.mkdir()
        code = live(lives, folder, flow, number)
        assert code in (0, -signal.SIGKILL), where
        killed = code != 0
        if killed:
            assert live(lives, folder, flow, 0) == 0, where
        assert json.loads((folder / "result").read_text()) == result, where
        run = open_run("it", folder / ".wfresume")
        slots = [record["an"] for record in run.records if record.get("an")]
        assert len(slots) == len(set(slots)) == (2 if flow == "loop" else 3), where
        run.store.close()
    assert number > 12, "there are fewer boundaries than writes of answers and results"
