"""The notebook that asks a person, executed where nobody is there, and answered from outside."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_wfresume import open_run
from tests.counting import counts
from tests.kernels import ROOT

from .test_notebook import PATIENCE_S, boards, outputs, printed, read

SOURCE = ROOT / "notebooks" / "05_ask_a_person.ipynb"
CELL = "%%wfrun letters"


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    """Execute the notebook in a folder with the shell's command."""
    command = [sys.executable, "-m", "jupyter_wfresume.cli", "run", SOURCE.name]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


def test_the_notebook_is_shipped_without_outputs() -> None:
    """What is shipped is what a person types."""
    code = [cell for cell in read(SOURCE).cells if cell.cell_type == "code"]
    assert [(cell.outputs, cell.execution_count) for cell in code] == [([], None)] * len(code)


@pytest.mark.xdist_group("asking")
def test_it_waits_where_nobody_is_there_and_goes_on_with_the_answers(tmp_path: Path) -> None:
    """The same line, given again after each answer, goes on from there; each letter is paid for once."""
    shutil.copy(SOURCE, tmp_path)
    asks = run(tmp_path)
    assert asks.returncode != 0
    assert "letters waits for an answer" in asks.stderr
    (board,) = boards(outputs(read(tmp_path / SOURCE.name), CELL))
    assert "? waiting" in board["text/plain"]
    assert "? Send this? Dear Ada, the parcel is late. (review)" in board["text/plain"]
    assert "answer with: %wfanswer letters[1] VALUE" in board["text/plain"]
    assert "Send this? Dear Grace" in board["text/html"]
    asked = open_run("letters", tmp_path / ".wfresume")
    ada = next(one for one in asked.questions if "Ada" in str(one))
    asked.answer({"approved": True, "tone": "kinder"}, question=ada)
    assert run(tmp_path).returncode != 0
    asked = open_run("letters", tmp_path / ".wfresume")
    (grace,) = asked.questions
    assert "Grace" in str(grace)
    asked.answer({"approved": "no", "tone": "as it is"})
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    book = read(tmp_path / SOURCE.name)
    (result,) = [one for one in outputs(book, CELL) if one.output_type == "execute_result"]
    assert result.data["text/plain"] == "{'Ada': 'send it, kinder', 'Grace': 'do not send it'}"
    assert printed(outputs(book, "with open(")) == "2 calls for 2 letters\n"
    assert counts(tmp_path / "paid_calls_05.txt") == {"Ada": 1, "Grace": 1}
