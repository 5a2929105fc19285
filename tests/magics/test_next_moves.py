"""What a cell says where nothing, or not yet the right thing, was done."""

from __future__ import annotations

from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from jupyter_wfresume import open_run, runs
from jupyter_wfresume.errors import UsageError
from jupyter_wfresume.magics import resolve
from tests.kernels import plain

from .conftest import RunCell
from .test_kernel import DEFINE
from .test_replaying import RUN


@pytest.fixture
def defined(run_cell: RunCell, work_dir: Path) -> RunCell:
    """Return what runs a cell where the workflow is defined."""
    run_cell(DEFINE.partition("\n")[2]).raise_error()
    return run_cell


def test_a_cell_that_runs_no_workflow_says_so(defined: RunCell, capsys: pytest.CaptureFixture[str]) -> None:
    """One line tells it, also where a comment stands behind the magic; a cell that runs one says nothing."""
    said = "the cell ran no workflow: nothing was recorded\n"
    defined("%%wfrun batch # don't wait\nx = 1").raise_error()
    assert capsys.readouterr().out == said
    assert runs() == []
    defined(RUN).raise_error()
    assert said not in capsys.readouterr().out


def test_a_resume_without_the_definitions_names_the_cells_to_run(
    defined: RunCell, shell: InteractiveShell, capsys: pytest.CaptureFixture[str], work_dir: Path
) -> None:
    """A name that this kernel does not know is told with what to do; once it is there the run goes on."""
    (work_dir / "bad3").touch()
    assert not defined(RUN).success
    known = shell.user_ns.pop("Batch")
    capsys.readouterr()
    assert isinstance(defined("%wfresume batch --board none").error_in_exec, NameError)
    assert (
        "Batch is not defined in this kernel: run the cells that define it first, "
        "then %wfresume batch --board none" in plain(capsys.readouterr().out)
    )
    shell.user_ns["Batch"] = known
    (work_dir / "bad3").unlink()
    assert defined("%wfresume batch --board none").success
    assert open_run("batch").status == "done"


@pytest.mark.parametrize(
    ("cell", "hint"),
    [
        ("%%wfreplay batch join[0]\nev.n = 1", "join takes several events: use `events`"),
        ("%%wfreplay batch work[0]\nevents.pop()", "work takes one event: use `ev`"),
    ],
)
def test_the_other_name_of_the_input_is_told(
    defined: RunCell, capsys: pytest.CaptureFixture[str], cell: str, hint: str
) -> None:
    """A body that takes one event for several, or several for one, learns the right name."""
    defined(RUN).raise_error()
    capsys.readouterr()
    assert isinstance(defined(cell).error_in_exec, NameError)
    assert hint in plain(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("line", "example"),
    [
        ("shop charge[81] done", "%wfresolve shop charge[81] done ch_2040"),
        ("--store st shop charge[81] done", "%wfresolve shop charge[81] --store st done ch_2040"),
    ],
)
def test_the_example_of_a_receipt_can_be_typed(line: str, example: str) -> None:
    """It begins with the magic, names the store that was named, and is read as it stands."""
    with pytest.raises(UsageError) as refused:
        resolve.read(line)
    assert f"as in {example}; " in str(refused.value)
    assert resolve.read(example.removeprefix("%wfresolve ")).receipt == "ch_2040"
