"""The notebook on keeping going: what fails is set aside, mended, left out, and nothing is paid for twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.counting import counts
from tests.kernels import ROOT

from .test_changing import cells, executed, value
from .test_notebook import outputs, printed, read

NAME = "04_keep_going_and_fix.ipynb"
RUN = "%%wfrun invoices -k"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Execute the notebook."""
    return executed(NAME, tmp_path_factory)


def test_the_notebook_is_shipped_without_outputs() -> None:
    """What is shipped is what a person types."""
    code = [cell for cell in read(ROOT / "notebooks" / NAME).cells if cell.cell_type == "code"]
    assert [(cell.outputs, cell.execution_count) for cell in code] == [([], None)] * len(code)


@pytest.mark.xdist_group("keeping_going")
def test_only_what_failed_is_paid_for_again(folder: Path) -> None:
    """A good invoice costs one call; a bad one its replays and one call more; leaving one out costs none."""
    paid = counts(folder / "paid_calls_04.txt")
    again = {7: 3, 17: 4, 41: 3, 68: 3, 83: 3}
    assert paid == {f"invoice {number:03}": again.get(number, 1) for number in range(100)}
    assert value(outputs(read(folder / NAME), "paid_so_far() - before")) == "5"


@pytest.mark.xdist_group("keeping_going")
def test_the_run_ends_with_what_was_not_left_out(folder: Path) -> None:
    """It fails twice, with the list, and then adds up 99 invoices."""
    book = read(folder / NAME)
    first, second, last = cells(book, RUN)
    for failed, said in ((first, "95 done, 5 failed"), (second, "99 done, 1 failed")):
        assert [one.ename for one in failed if one.output_type == "error"] == ["ValueError"]
        assert said in str(failed)
    assert value(last) == f"(99, {sum(n + 0.5 for n in range(100) if n != 83)})"
    assert "resumes run" in printed(last)
    assert "leaves out read[83]" in printed(last)


@pytest.mark.xdist_group("keeping_going")
def test_what_was_done_can_be_seen(folder: Path) -> None:
    """The five are listed, a replay cures one, the decision is told, and the account is there."""
    book = read(folder / NAME)
    table = value(outputs(book, "%wfshow invoices read[failed]"))
    assert [line.split()[0] for line in table.splitlines()[1:6]] == [
        f"read[{number}]" for number in (7, 17, 41, 68, 83)
    ]
    assert "1750" in value(outputs(book, "%%wfreplay invoices read[17]"))
    decided = printed(outputs(book, "%wfskip invoices read[failed]"))
    assert decided.startswith("read[83] is left out: run its cell again to go on, or %wfresume ")
    assert decided.endswith("; `add` then gets 99 of 100\n")
    listed = value(outputs(book, "%wfruns invoices"))
    assert listed.splitlines()[0].split() == [
        *("id", "name", "status", "progress", "step", "time", "attempts", "lives", "saved", "age", "size")
    ]
    assert "read[83] is left out: a person decided so" in listed
    assert value(cells(book, "from jupyter_wfresume import open_run")[0]) == "(107, 3, 100, 'skipped')"
