"""The notebook that shows a resume, executed by the tools that execute notebooks."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import papermill
import pytest
from nbconvert import HTMLExporter

from tests.counting import counts
from tests.kernels import ROOT

SOURCE = ROOT / "notebooks" / "01_resume_a_fan_out.ipynb"
PATIENCE_S = 120.0
GONE = re.compile("model not found|Error displaying widget|Loading widget", re.IGNORECASE)


def read(path: Path) -> Any:
    """Return a notebook."""
    reader: Any = nbformat  # its functions have no types
    return reader.read(path, as_version=4)


def outputs(book: Any, start: str) -> list[Any]:
    """Return the outputs of the first code cell that starts with ``start``."""
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    return next(list(cell.outputs) for cell in cells if cell.source.startswith(start))


def printed(outputs: list[Any]) -> str:
    """Return all that a cell printed."""
    return "".join(output.text for output in outputs if output.output_type == "stream")


def boards(outputs: list[Any]) -> list[dict[str, str]]:
    """Return the bundles that a cell displayed beside its result."""
    return [dict(output.data) for output in outputs if output.output_type == "display_data"]


def run(folder: Path, name: str = SOURCE.name) -> None:
    """Execute a notebook in a folder with the shell's command."""
    command = [sys.executable, "-m", "jupyter_wfresume.cli", "run", name]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Execute a copy of the notebook once; return its folder."""
    folder = tmp_path_factory.mktemp("notebook")
    shutil.copy(SOURCE, folder)
    run(folder)
    return folder


def test_the_shipped_notebook_has_no_outputs_and_no_absolute_paths() -> None:
    """What is shipped is what a person types, with nothing of the machine it was tried on."""
    book = read(SOURCE)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert [cell.outputs for cell in code] == [[]] * len(code)
    assert {cell.execution_count for cell in code} == {None}
    assert not re.search(r"(?<![\w.])/(?:home|usr|var)\b|[A-Z]:\\\\", SOURCE.read_text(encoding="utf-8"))


@pytest.mark.xdist_group("notebook")
def test_an_undisturbed_run_pays_once_for_each_document(executed: Path) -> None:
    """The first execution has no error but the one that is meant, and 120 documents are paid for once."""
    book = read(executed / SOURCE.name)
    assert printed(outputs(book, "with open(")) == "100 calls for 100 documents\n"
    errors = [o.evalue for c in book.cells for o in c.get("outputs", ()) if o.output_type == "error"]
    assert errors == ["document 107 is locked"]
    assert set(counts(executed / "paid_calls.txt").values()) == {1}
    assert len(counts(executed / "paid_calls.txt")) == 120
    (board,) = boards(outputs(book, "%%wfrun enrich"))
    assert "✓ done" in board["text/plain"]
    assert "<div" in board["text/html"]


@pytest.mark.xdist_group("notebook")
def test_the_failed_cell_shows_its_document_and_where_it_stands(executed: Path) -> None:
    """The board of a failed run names input and line, counts the failure, and shows nothing as running."""
    (board,) = boards(outputs(read(executed / SOURCE.name), "%%wfrun more"))
    text = board["text/plain"]
    assert "✕ failed" in text
    assert "Document(name='document 107')" in text
    assert re.search(r"in +summarize\[7\]: Cell In\[3\], line \d+: raise PermissionError", text)
    assert "1 failed" in text
    assert "running" not in text


@pytest.mark.xdist_group("notebook")
def test_a_second_execution_executes_nothing(executed: Path, tmp_path: Path) -> None:
    """Run again, both runs answer from the record, with the same results."""
    again = tmp_path / "again"
    shutil.copytree(executed, again)
    run(again)
    first, second = read(executed / SOURCE.name), read(again / SOURCE.name)
    assert counts(again / "paid_calls.txt") == counts(executed / "paid_calls.txt")
    for start in ("%%wfrun enrich", "%%wfrun more"):
        assert re.match(r"\w+: recorded result of run \w+, ", printed(outputs(second, start)))
    last = [outputs(book, "from jupyter_wfresume import open_run") for book in (first, second)]
    assert (
        printed(last[0])
        == printed(last[1])
        == "done with 100 summaries\nwhat document 037 says, in one line\n"
    )


@pytest.mark.xdist_group("notebook")
def test_converted_to_html_the_board_is_there(executed: Path) -> None:
    """nbconvert keeps each board as HTML, and nothing that asks for a kernel."""
    page, _ = HTMLExporter().from_filename(str(executed / SOURCE.name))
    shown = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    assert shown.count('class="wfr-head') == 3
    assert "summarize" in shown
    assert not GONE.search(shown)


@pytest.mark.xdist_group("notebook")
def test_papermill_leaves_a_board_as_text_and_html(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A headless run needs no widget: the saved output holds both forms, and no widget's state."""
    book = read(SOURCE)
    keep = [cell for cell in book.cells if cell.cell_type == "code"][:4]
    keep[1].source += "\ndocuments = documents[:8]"
    book.cells = keep
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    writer: Any = nbformat
    writer.write(book, tmp_path / "short.ipynb")
    target = tmp_path / "out.ipynb"
    execute: Any = papermill.execute_notebook
    execute(str(tmp_path / "short.ipynb"), str(target), cwd=str(tmp_path), progress_bar=False)
    (board,) = boards(outputs(read(target), "%%wfrun enrich"))
    assert {"text/html", "text/plain"} == set(board)
    assert "8 / 8" in board["text/plain"]
    assert "widgets" not in json.loads(target.read_text(encoding="utf-8"))["metadata"]
