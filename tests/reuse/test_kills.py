"""A run that is being answered from others dies, and goes on exactly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jupyter_wfresume.session.runs import Run
from jupyter_wfresume.store import Store
from tests.reuse.book import Book, documents, executed
from tests.reuse.test_effects import SENDS

DOCS = ["a", "b", "c", "d"]
NOW = ["b", "c", "x", "d", "d"]


@pytest.fixture
def book(tmp_path: Path) -> Book:
    """A notebook that was never run."""
    return Book(tmp_path / "whole")


async def test_a_kill_anywhere(book: Book, tmp_path: Path) -> None:
    """Killed after any write, it ends with the same result, executes only what is left, and what was answered
    is not executed in any life."""
    book.folder.mkdir()
    first = await book.run(documents(), docs=DOCS)
    second = await book.run(documents(), docs=NOW)
    assert executed(second) == {"split": 1, "work": 2, "join": 1}
    for cut in range(len(second.writes) + 1):
        kept = second.writes[:cut]
        killed = book.killed([*first.writes, *kept], tmp_path / f"cut {cut}")
        life = await killed.run(documents(), docs=NOW)
        assert life.result == second.result, (cut, life.error)
        done = [json.loads(w.args[1]) for w in kept if w.method == "append"]
        before = {(r["s"], r["i"]) for r in done if r["k"] == "R" and "u" not in r}
        for step, count in {"split": 1, "work": 2, "join": 1}.items():
            assert life.ran[step] == count - sum(s == step for s, _ in before), (cut, life.told)
        steps = {s.name: s for s in killed.headers()[0].steps}
        assert steps["work"].restored + steps["work"].done == len(NOW), cut
        records = killed.records()
        answered = [tuple(r["u"]) for r in records if "u" in r]
        assert len(answered) == len(set(answered)) == 3, cut


async def test_sends_of_an_answer_are_sent_once(book: Book, tmp_path: Path) -> None:
    """A kill while a step's recorded sends are sent again: each arrives once."""
    book.folder.mkdir()
    first = await book.run(SENDS.format(count=4, end=""), docs=["a", "b", "c"])
    edited = SENDS.format(count=4, end=" + [1]")
    second = await book.run(edited, docs=["a", "b", "c"])
    for cut in range(len(second.writes) + 1):
        killed = book.killed([*first.writes, *second.writes[:cut]], tmp_path / f"cut {cut}")
        life = await killed.run(edited, docs=["a", "b", "c"])
        assert life.result == ["a", "b", "c", "extra", 1], (cut, life.error)
        assert life.ran["split"] == life.ran["work"] == 0, (cut, life.told)


async def test_where_it_came_from(book: Book) -> None:
    """Each execution of a run says whether it was answered, and by which record of which run."""
    book.folder.mkdir()
    await book.run(documents(), docs=DOCS)
    await book.run(documents(), docs=["b", "x"])
    newer, older = book.headers()
    with Store.open(book.store) as store:
        run, source = Run(store, newer), Run(store, older)
        assert [(e.step, e.index, e.reused) for e in run.executions] == [
            ("split", 0, False),
            *sorted((e.step, e.index, e.reused) for e in run.executions if e.step == "work"),
            ("join", 0, False),
        ]
        assert [e.reused for e in run.executions if e.step == "work"].count(True) == 1
        answered = next(e for e in run.executions if e.reused)
        assert answered.source is not None
        run_id, number = answered.source
        assert run_id == older.run_id
        assert source.records[number]["s"] == "work"
        assert source.records[number]["r"] == book.records()[_at(book, answered.index)]["r"]
    assert newer.saved_executions == 1


def _at(book: Book, index: int) -> int:
    records = book.records()
    return next(n for n, r in enumerate(records) if r.get("s") == "work" and r.get("i") == index)
