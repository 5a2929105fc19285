"""The notebook on side effects: each order is charged once, and the run asks where nobody knows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.counting import counts
from tests.kernels import ROOT

from .test_changing import cells, executed, value
from .test_notebook import boards, printed, read

NAME = "06_side_effects_once.ipynb"
ORDER_4 = '%%wfrun shop\nreceipt = await Checkout(timeout=None).run(orders=["order 4"])'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Execute the notebook."""
    return executed(NAME, tmp_path_factory)


def test_the_notebook_is_shipped_without_outputs() -> None:
    """What is shipped is what a person types."""
    code = [cell for cell in read(ROOT / "notebooks" / NAME).cells if cell.cell_type == "code"]
    assert [(cell.outputs, cell.execution_count) for cell in code] == [([], None)] * len(code)


@pytest.mark.xdist_group("effects")
def test_each_order_is_charged_once(folder: Path) -> None:
    """Over a failing step, a fresh run, two lost answers and a person's word, no order is charged twice."""
    assert counts(folder / "ledger.txt") == {f"order {number}": 1 for number in range(1, 6)}
    said = [printed(cell) for cell in cells(read(folder / NAME), "show_ledger()")]
    assert said == [f"{count} charges for {count} orders\n" for count in (3, 3, 4, 5)]


@pytest.mark.xdist_group("effects")
def test_the_run_asks_and_goes_on(folder: Path) -> None:
    """First the user's own error, then the question with its command, then the result."""
    failed, asks, done = cells(read(folder / NAME), ORDER_4)
    assert [one.ename for one in failed if one.output_type == "error"] == ["TimeoutError"]
    (question,) = [one.evalue for one in asks if one.output_type == "error"]
    assert re.fullmatch(
        r"charge\[order 4\] may have happened at \d\d:\d\d:\d\d: say what is so with "
        r"`%wfresolve shop 'charge\[order 4\]' done RECEIPT \| retry`, then run this cell again",
        question,
    )
    (board,) = boards(asks)
    assert "? waiting" in board["text/plain"]
    assert value(done) == "{'order 4': 'receipt of order 4'}"


@pytest.mark.xdist_group("effects")
def test_executions_that_failed_together_are_counted_once(folder: Path) -> None:
    """Three orders fail at the printer, and the board says three."""
    failed, *_ = cells(read(folder / NAME), "%%wfrun shop\nreceipts")
    (board,) = boards(failed)
    assert re.search(r"pay +0 / 3 .* 3 failed", board["text/plain"])
