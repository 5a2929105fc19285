"""Notebooks that change something and run again, replay and fork: what they execute and say."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.counting import counts
from tests.kernels import ROOT

from .test_notebook import boards, outputs, printed, read, run

CHANGE, REPLAY = "02_change_and_rerun.ipynb", "03_replay_and_fork.ipynb"


def executed(name: str, factory: pytest.TempPathFactory) -> Path:
    """Execute a copy of a notebook; return its folder."""
    folder = factory.mktemp("notebook")
    shutil.copy(ROOT / "notebooks" / name, folder)
    run(folder, name)
    return folder


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Execute the notebook that changes its documents and its steps."""
    return executed(CHANGE, tmp_path_factory)


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Execute the notebook that replays and forks."""
    return executed(REPLAY, tmp_path_factory)


def cells(book: Any, start: str) -> list[list[Any]]:
    """Return the outputs of each code cell that starts with ``start``."""
    return [list(c.outputs) for c in book.cells if c.cell_type == "code" and c.source.startswith(start)]


def value(outputs: list[Any]) -> str:
    """Return the text of a cell's result."""
    (found,) = [str(o.data["text/plain"]) for o in outputs if o.output_type == "execute_result"]
    return found


@pytest.mark.parametrize("name", [CHANGE, REPLAY])
def test_a_shipped_notebook_has_no_outputs_and_no_absolute_paths(name: str) -> None:
    """What is shipped is what a person types."""
    path = ROOT / "notebooks" / name
    code = [cell for cell in read(path).cells if cell.cell_type == "code"]
    assert [cell.outputs for cell in code] == [[]] * len(code)
    assert {cell.execution_count for cell in code} == {None}
    assert not re.search(r"(?<![\w.])/(?:home|usr|var)\b|[A-Z]:\\\\", path.read_text(encoding="utf-8"))


@pytest.mark.xdist_group("changing")
def test_only_what_changed_is_paid_for(changed: Path) -> None:
    """A hundred letters, then 3 corrected and 20 new; another last step and kept outputs cost nothing."""
    paid = counts(changed / "paid_calls_02.txt")
    again = {f"letter {number:03}" for number in (10, 11, 12)}
    assert paid == {f"letter {n:03}": 2 if f"letter {n:03}" in again else 1 for n in range(120)}
    results = [value(cell) for cell in cells(read(changed / CHANGE), "%%wfrun digest\n")]
    assert results[0] == "(100, 100)"
    assert results[1] == "(115, 123)"
    assert results[2] == "('letter 010: Letter 10 asks for nothing any more (10 words)', 123)"


@pytest.mark.xdist_group("changing")
def test_the_plan_comes_first_and_is_what_is_executed(changed: Path) -> None:
    """Where outputs are not known yet the plan says "at most"; elsewhere it says exactly what is done."""
    book = read(changed / CHANGE)
    dry = [printed(cell) for cell in cells(book, "%%wfrun digest --dry-run")]
    said = [printed(cell) for cell in cells(book, "%%wfrun digest\n")]
    assert re.search(r"summarize +depends on outputs not known yet, at most 100 reused", said[1])
    assert boards(outputs(book, "%%wfrun digest --dry-run")) == []
    assert re.search(r"summarize +115 reused", said[2])
    assert re.search(r"collect +.*1 to run \(`collect` changed", said[2])
    assert re.search(r"summarize +115 to run \(`summarize` changed: .*paid_call", dry[0])
    kept = cells(book, "%%wfrun digest --stale keep")
    assert value(kept[0]).endswith(", 123)")


@pytest.mark.xdist_group("changing")
def test_the_history_shows_what_was_answered(changed: Path) -> None:
    """%wfruns lists the runs, %wfshow marks answered executions, and a comparison shows both texts."""
    book = read(changed / CHANGE)
    assert value(outputs(book, "%wfruns digest")).count("✓ done") == 3
    assert "↺ reused" in value(outputs(book, "%wfshow digest"))
    difference = value(outputs(book, "%wfshow {first.id}"))
    for number in (10, 11, 12):
        assert f"~ line: 'Letter {number} asks for an answer' → " in difference


@pytest.mark.xdist_group("changing")
def test_a_replay_and_a_fork_execute_one_document_each_time(replayed: Path) -> None:
    """Forty documents once, and of the replays and the fork only what was asked for."""
    paid = counts(replayed / "paid_calls_03.txt")
    again = {17: 5, 3: 2, 30: 2, 31: 2, 32: 2}
    assert paid == {f"note {n:02}": again.get(n, 1) for n in range(40)}


@pytest.mark.xdist_group("changing")
def test_a_replay_shows_what_differs(replayed: Path) -> None:
    """Unchanged it says so; an edited input and mended code show both outputs; several are a table."""
    book = read(replayed / REPLAY)
    assert "no difference" in value(outputs(book, "%wfreplay cities find[17]"))
    assert "~ city: 'the rain' → 'Oslo'" in value(outputs(book, "%%wfreplay cities find[17]\n"))
    table = value(outputs(book, "%wfreplay cities find[3,17,30:33]"))
    assert table.splitlines()[-1] == "5 replayed alone, nothing was written: 4 as recorded, 1 otherwise"


@pytest.mark.xdist_group("changing")
def test_the_fork_has_its_own_result_and_the_run_its_old_one(replayed: Path) -> None:
    """The new run's result is the cell's, the old run keeps its own, and the comparison names both steps."""
    book = read(replayed / REPLAY)
    fork = outputs(book, "%%wfreplay cities find[17] --continue")
    assert value(fork) == "{'Lisbon': 20, 'Oslo': 19, 'Bergen': 1}"
    assert re.search(r"find +39 reused, 1 to run", printed(fork))
    assert printed(outputs(book, "from jupyter_wfresume import open_run")).splitlines() == [
        "the fork: {'Lisbon': 20, 'Oslo': 19, 'Bergen': 1}",
        "the run:  {'Lisbon': 20, 'Oslo': 19, 'the rain': 1}",
    ]
    difference = value(outputs(book, "%wfshow cities --diff"))
    assert "find[17]" in difference
    assert "count[0]" in difference
