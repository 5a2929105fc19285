"""Several executions are named at once, and two runs are compared execution by execution."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_wfresume.errors import UsageError
from jupyter_wfresume.replay import Pair, choose, compare_runs
from jupyter_wfresume.store import Store
from tests.replay.flows import TONE, Fan, Recorded, Unkept


@pytest.fixture(autouse=True)
def tone() -> Iterator[None]:
    """The code that tests edit is as it was after each."""
    before = dict(TONE)
    yield
    TONE.clear()
    TONE.update(before)


def rows(step: str, *statuses: str) -> list[dict[str, Any]]:
    """Records of executions that ended so."""
    ends = {"done": [["r", None]], "failed": [["x", {}, 0, None, None]], "waiting": [["w"]]}
    return [
        {"k": "R", "s": step, "i": i, "b": 0.0, "d": 0.0, "r": ends[status]}
        for i, status in enumerate(statuses)
    ]


RECORDS = [*rows("work", *["done", "failed", "waiting", "done", "failed", "done"]), *rows("join", "done")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("work[3]", [3]),
        ("work[5, 0]", [0, 5]),
        ("work[0,2:4]", [0, 2, 3]),
        ("work[4:]", [4, 5]),
        ("work[:2]", [0, 1]),
        ("work[4:90]", [4, 5]),
        ("work[failed]", [1, 4]),
        ("work[waiting,failed]", [1, 2, 4]),
        ("work", [0, 1, 2, 3, 4, 5]),
    ],
)
def test_what_is_typed_names_executions(text: str, expected: list[int]) -> None:
    """Numbers, ranges and statuses name executions of a step, each once and in order."""
    assert choose(RECORDS, text) == [("work", index) for index in expected]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("work[", "'work[' names no execution: write work[17], work[3,17,40:45] or work[failed]"),
        ("works[0]", "no step 'works' in this run; recorded steps: join, work"),
        ("work[9]", "work[9]: there is no 9; recorded are 0 to 5"),
        ("work[7:9]", "work[7:9]: nothing is in 7:9; recorded are 0 to 5"),
        ("join[failed]", "join[failed]: none of its executions is failed"),
    ],
)
def test_what_names_nothing_is_refused(text: str, sentence: str) -> None:
    """What names no execution is refused in one sentence that says what there is."""
    with pytest.raises(UsageError) as refused:
        choose(RECORDS, text)
    assert str(refused.value) == sentence


def test_what_cannot_be_read_is_named() -> None:
    """A part that is no number, range or status is named."""
    with pytest.raises(UsageError, match="'x' is no number, no range such as 40:45"):
        choose(RECORDS, "work[1,x]")


async def compared(old: Recorded, new: Recorded) -> list[Pair]:
    with Store.open(old.path, create=False) as first, Store.open(new.path, create=False) as second:
        return compare_runs(old.records(first), old.reader(first), new.records(second), new.reader(second))


async def test_two_runs_alike_do_not_differ(tmp_path: Path) -> None:
    """Two runs of the same differ in no execution, whatever the order their events arrived in."""
    one = await Recorded(tmp_path / "one", Fan(timeout=None)).run(lambda w: w.run(n=4))
    two = await Recorded(tmp_path / "two", Fan(timeout=None)).run(lambda w: w.run(n=4))
    assert await compared(one, two) == []
    empty = await Recorded(tmp_path / "empty", Fan(timeout=None)).run(lambda w: w.run(n=0))
    assert await compared(empty, empty) == []
    unkept = await Recorded(tmp_path / "unkept", Unkept(timeout=None)).run(lambda w: w.run())
    assert await compared(unkept, unkept) == []


async def test_runs_of_changed_code_and_input_differ_where_they_do(tmp_path: Path) -> None:
    """What differs is named: a new execution, a failure, and the executions behind them."""
    one = await Recorded(tmp_path / "one", Fan(timeout=None)).run(lambda w: w.run(n=2))
    TONE["fails"] = (1,)
    two = await Recorded(tmp_path / "two", Fan(timeout=None)).run(lambda w: w.run(n=3))
    found = {(pair.step, pair.old, pair.new): pair for pair in await compared(one, two)}
    assert set(found) == {("split", 0, 0), ("work", 1, 1), ("work", None, 2), ("join", 0, None)}
    (failed,) = found["work", 1, 1].differences
    assert found["work", 1, 1].same_input
    assert failed.text == "Done(i=1, v='text 1!') → raised ValueError: bad document 1"
    assert [one.kind for one in found["split", 0, 0].differences] == ["added"]
