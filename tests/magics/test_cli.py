"""``jupyter wfresume`` from a shell."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from jupyter_wfresume import durable
from jupyter_wfresume.cli import main
from jupyter_wfresume.cli.headless import ending
from tests.kernels import ROOT

from .flows import Batch
from .test_kernel import DEFINE, RUN, executed

CLEAN_UP_S = 60.0


@pytest.fixture
def recorded(store_dir: Path, tmp_path: Path) -> str:
    """Record one finished run named ``sum``; return the store's folder."""

    async def run() -> None:
        await Batch(tmp_path).run(size=3)

    with durable("sum", store=store_dir, board="none"):
        asyncio.run(run())
    return str(store_dir)


def write(path: Path, *cells: str) -> None:
    """Write a notebook of these code cells, with a line of text on top."""
    made: Any = nbformat.v4
    book = made.new_notebook(cells=[made.new_markdown_cell("words"), *map(made.new_code_cell, cells)])
    reader: Any = nbformat
    reader.write(book, path)


def outputs(path: Path) -> list[str]:
    """Return the text of each code cell's outputs."""
    reader: Any = nbformat
    book = reader.read(path, as_version=4)
    return [str(cell.outputs) for cell in book.cells if cell.cell_type == "code"]


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Return what starts the command in a process of its own; what still runs at the end is ended."""
    started: list[subprocess.Popen[str]] = []

    def run(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyter_wfresume.cli", *arguments],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Return the exit code and what the command said to its user."""
    _, said = process.communicate(timeout=CLEAN_UP_S)
    return process.returncode, "\n".join(line for line in said.splitlines() if "IPKernelApp" not in line)


def test_list_prints_the_runs(recorded: str, capsys: pytest.CaptureFixture[str]) -> None:
    """list shows the same table as %wfruns, for all names or one."""
    assert main(["list", "--store", recorded]) == 0
    table = capsys.readouterr().out
    assert "sum" in table
    assert "✓ done" in table
    assert main(["list", "other", "--store", recorded]) == 0
    assert capsys.readouterr().out.startswith("no runs of other in ")


def test_show_prints_where_a_run_stands(recorded: str, capsys: pytest.CaptureFixture[str]) -> None:
    """show prints the board's text for a run found by name."""
    assert main(["show", "sum", "--store", recorded]) == 0
    shown = capsys.readouterr().out
    assert "sum · Batch · ✓ done" in shown
    assert "work" in shown


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["show", "nobody"], "there is no run 'nobody'"),
        (["run", "missing.ipynb"], "there is no notebook at"),
        (["run", "text.ipynb"], "is not a notebook"),
        (["run", "."], "cannot be read"),
        (["run", "good.ipynb", "--kernel", "nowhere"], "there is no kernel named 'nowhere'"),
    ],
)
def test_misuse_is_one_sentence_and_exit_code_2(
    arguments: list[str], sentence: str, work_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What does not exist is named without a traceback."""
    (work_dir / "text.ipynb").write_text("words")
    write(work_dir / "good.ipynb", "1")
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith("jupyter wfresume: ")
    assert sentence in said
    assert said.count("\n") == 1


def test_without_nbclient_run_says_what_to_install(
    work_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only run needs nbclient, and it says so."""
    monkeypatch.delitem(sys.modules, "jupyter_wfresume.cli.headless", raising=False)
    monkeypatch.setitem(sys.modules, "nbclient", None)
    assert main(["run", "a.ipynb"]) == 2
    assert "pip install nbclient" in capsys.readouterr().err


def test_a_notebook_is_executed_in_place(tmp_path: Path, start: Start) -> None:
    """All cells run in the notebook's folder with the store of the command, and the outputs are saved."""
    folder = tmp_path / "books"
    folder.mkdir()
    write(folder / "a.ipynb", DEFINE, RUN, "import os; print(os.getcwd())")
    (folder / "a.ipynb").chmod(0o640)
    assert finish(start("run", "books/a.ipynb", "--store", "kept", cwd=tmp_path)) == (0, "")
    _, batch, last = outputs(folder / "a.ipynb")
    assert "'15'" in batch
    assert str(folder) in last
    assert (tmp_path / "kept").is_dir()
    assert (folder / "a.ipynb").stat().st_mode & 0o777 == 0o640
    assert sorted(each.name for each in folder.iterdir()) == ["a.ipynb", "executed"]


def test_a_cell_without_a_result_stops_the_notebook_with_its_sentence(tmp_path: Path, start: Start) -> None:
    """The exit code is 1, the error and how to go on are said, and later cells do not run."""
    write(tmp_path / "a.ipynb", DEFINE, RUN, "print('later')")
    (tmp_path / "bad3").touch()
    code, said = finish(start("run", "a.ipynb", cwd=tmp_path))
    first, second = said.splitlines()
    assert (code, first) == (1, "a.ipynb In[2]: ValueError: document 3 is bad")
    assert "run this cell again" in second
    assert outputs(tmp_path / "a.ipynb")[2] == "[]"
    (tmp_path / "bad3").unlink()
    assert finish(start("run", "a.ipynb", cwd=tmp_path))[0] == 0
    assert executed(tmp_path).count(0) == 1


def test_after_a_kill_the_same_line_goes_on(tmp_path: Path, start: Start) -> None:
    """A killed command leaves its outputs, and its second life executes only the rest."""
    write(tmp_path / "a.ipynb", DEFINE, "print('before')", RUN)
    (tmp_path / "hold2").touch()
    process = start("run", "a.ipynb", cwd=tmp_path)
    wait_until(process, lambda: (tmp_path / "executed").exists() and 5 in executed(tmp_path))
    process.kill()
    finish(process)
    assert "before" in outputs(tmp_path / "a.ipynb")[1]
    (tmp_path / "hold2").unlink()
    code, said = finish(start("run", "a.ipynb", cwd=tmp_path))
    assert (code, said) == (0, "")
    assert executed(tmp_path) == [0, 1, 2, 2, 3, 4, 5]


def test_an_interrupt_pauses_the_run_and_is_said(tmp_path: Path, start: Start) -> None:
    """Ctrl-C reaches the kernel, so that the run ends paused, with its sentence in the notebook."""
    write(tmp_path / "a.ipynb", DEFINE, RUN)
    (tmp_path / "hold2").touch()
    process = start("run", "a.ipynb", cwd=tmp_path)
    wait_until(process, lambda: (tmp_path / "executed").exists() and 5 in executed(tmp_path))
    process.send_signal(signal.SIGINT)
    # Without a second interrupt it ends by itself, later.
    wait_until(process, lambda: "stopping" in outputs(tmp_path / "a.ipynb")[1] or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    code, said = finish(process)
    assert code == 1
    assert said.startswith("a.ipynb In[2]: ")
    assert "run this cell again" in said
    assert "RunEnded" in outputs(tmp_path / "a.ipynb")[1]


def wait_until(process: subprocess.Popen[str], condition: Callable[[], bool]) -> None:
    """Return when a condition in the notebook's folder holds; the command must not end before."""
    deadline = time.monotonic() + CLEAN_UP_S
    while not condition():
        assert time.monotonic() < deadline, "the condition does not hold in time"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.05)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ({"ename": "RunEnded", "evalue": "paused at 3", "traceback": ["paused at 3"]}, "paused at 3"),
        ({"ename": "UsageError", "evalue": "no option", "traceback": ["of an older cell"]}, "no option"),
        ({"ename": "E", "evalue": "bad", "traceback": ["Traceback", "\x1b[31mE\x1b[0m: bad"]}, "E: bad"),
        ({"ename": "E", "evalue": "bad", "traceback": ["E: bad", "", "go on so"]}, "E: bad\ngo on so"),
        ({"ename": "E", "evalue": "", "traceback": ["E"]}, "E"),
        ({}, "error"),
    ],
)
def test_an_ending_is_told_in_the_words_that_the_cell_shows(reply: dict[str, Any], words: str) -> None:
    """Our sentences stand alone; a user's error comes with the sentence below its traceback."""
    assert ending(reply) == words
