"""Documents come, go and change: only what is new is paid for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_wfresume.session.again import fork_of
from jupyter_wfresume.session.runs import Run
from jupyter_wfresume.store import Store
from tests.counting import counts
from tests.resume.lives import _LEDGER
from tests.reuse.book import Book, documents, executed

DOCS = [f"document {i}" for i in range(100)]


@pytest.fixture
def book(tmp_path: Path) -> Book:
    """A notebook that was never run."""
    return Book(tmp_path)


async def test_documents_are_added_edited_and_removed(book: Book) -> None:
    """100 documents done, 20 added, 3 edited, 5 removed: the dispatching step, 23 executions and the join;
    the
    result is the one of a run from scratch."""
    await book.run(documents(), docs=DOCS)
    now = [*DOCS[5:50], "new 50", "new 51", "new 52", *DOCS[53:], *(f"more {i}" for i in range(20))]
    second = await book.run(documents(), docs=now)
    assert executed(second) == {"split": 1, "work": 23, "join": 1}
    assert second.result == (await book.scratch(documents(), docs=now)).result
    header = second.views[-1]
    assert header.saved_executions == 92
    assert {s.name: (s.restored, s.done) for s in header.steps} == {
        "split": (0, 1),
        "work": (92, 23),
        "join": (0, 1),
    }


async def test_the_order_of_documents_is_no_change(book: Book) -> None:
    """The same documents in another order: the dispatching step alone, since a join's events have no
    order."""
    first = await book.run(documents(), docs=DOCS[:10])
    second = await book.run(documents(), docs=DOCS[9::-1])
    assert executed(second) == {"split": 1}
    assert second.result == first.result


async def test_duplicates_are_counted(book: Book) -> None:
    """Two finished executions of an equal input answer two of three; what they answered they answer again."""
    await book.run(documents(), docs=["a", "a", "b"])
    assert executed(await book.run(documents(), docs=["a", "a", "a", "b", "b"])) == {
        "split": 1,
        "work": 2,
        "join": 1,
    }
    assert executed(await book.run(documents(), docs=["b", "a", "a", "a"])) == {"split": 1, "join": 1}


async def test_inputs_switch_back_and_forth(book: Book) -> None:
    """Each of two inputs is paid once, however often they take turns, also after an edit of the join."""
    edited = documents(join="return StopEvent(result=[one.value for one in ev if one.value])")
    counts = []
    for cell in (documents(), edited):
        for docs in (DOCS[:6], DOCS[3:9], DOCS[:6], DOCS[3:9]):
            counts.append(dict(executed(await book.run(cell, docs=docs))))
    assert counts == [
        {"split": 1, "work": 6, "join": 1},
        {"split": 1, "work": 3, "join": 1},
        {},
        {},
        {"join": 1},
        {"join": 1},
        {},
        {},
    ]


FAILS = "if ev.doc == 'bad': raise ValueError('bad')\nreturn Done(doc=ev.doc, value=ev.doc.upper())"


async def test_a_failed_run_counts(book: Book) -> None:
    """What a run finished before it failed answers another call."""
    first = await book.run(documents(FAILS), docs=[*DOCS[:4], "bad"])
    assert isinstance(first.error, ValueError)
    done = sum(s.done for s in first.views[-1].steps if s.name == "work")
    again = await book.run(documents(FAILS), docs=DOCS[:4])
    assert (again.result, again.ran["work"]) == ([doc.upper() for doc in DOCS[:4]], 4 - done)


async def test_a_killed_run_counts(book: Book, tmp_path: Path) -> None:
    """What a run had finished when its kernel was killed answers another call."""
    whole = await book.run(documents(), docs=DOCS[:5])
    at = [i for i, w in enumerate(whole.writes) if w.method == "append" and b'"s":"work"' in w.args[1]]
    killed = book.killed(whole.writes[: at[2] + 1], tmp_path / "killed")
    again = await killed.run(documents(), docs=DOCS[:6])
    assert again.ran["work"] == 3
    assert again.result == [doc.upper() for doc in DOCS[:6]]


async def test_a_fork_counts(book: Book, tmp_path: Path) -> None:
    """What a fork executed answers a later call with the edited document; the edit answers no other."""
    kernel = book.kernel(documents())
    await book.again(kernel, docs=["a", "b"])

    def edit(ev: Any) -> None:
        ev.doc = "c"

    token = _LEDGER.set(tmp_path / "fork.ran")
    try:
        with Store.open(book.store) as store:
            run = Run(store, book.headers()[0])
            forked = await fork_of(
                run,
                "work",
                1,
                edit,
                kernel.Flow(timeout=None),
                on_view=lambda view: None,
                on_close_view=lambda view: None,
                tell=lambda line: None,
            )
    finally:
        _LEDGER.reset(token)
    assert forked == ["A", "C"]
    assert counts(tmp_path / "fork.ran") == {"work": 1, "join": 1}
    again = await book.run(documents(), docs=["a", "c"])
    assert (again.result, executed(again)) == (["A", "C"], {"split": 1})
    third = await book.run(documents(), docs=["b", "c"])
    assert (third.result, executed(third)) == (["B", "C"], {"split": 1, "join": 1})


NESTED = """class Inner(Workflow):
    @step
    async def fetch(self, ev: StartEvent) -> Item:
        ran("fetch")
        return Item(doc=ev.doc)

    @step
    async def cost(self, ev: Item) -> StopEvent:
        ran("cost")
        return StopEvent(result=len(ev.doc) * {factor})

"""
CALLS = "value = await Inner().run(doc=ev.doc)\nreturn Done(doc=ev.doc, value=str(value))"


async def test_workflows_run_by_steps(book: Book) -> None:
    """An execution that ran a workflow is answered without it; where its workflow has changed, what the
    change
    does not touch of the inner runs is answered too."""
    outer = documents(CALLS)
    await book.run(NESTED.format(factor=1), outer, docs=["a", "bb", "bb"])
    more = await book.run(NESTED.format(factor=1), outer, docs=["a", "bb", "bb", "ccc"])
    assert executed(more) == {"split": 1, "work": 1, "fetch": 1, "cost": 1, "join": 1}
    edited = await book.run(NESTED.format(factor=10), outer, docs=["a", "bb", "bb"])
    assert edited.result == ["10", "20", "20"]
    assert executed(edited) == {"work": 3, "cost": 3, "join": 1}
    back = await book.run(NESTED.format(factor=1), outer, docs=["a", "bb", "bb"])
    assert (back.result, executed(back)) == (["1", "2", "2"], {})


async def test_fresh_is_fresh_all_through(book: Book) -> None:
    """``--fresh`` executes everything, workflows run by steps included; it does so after a kill too."""
    cells = NESTED.format(factor=1), documents(CALLS)
    everything = {"split": 1, "work": 2, "fetch": 2, "cost": 2, "join": 1}
    assert executed(await book.run(*cells, docs=["a", "bb"])) == everything
    fresh = await book.run(*cells, docs=["a", "bb"], options={"fresh": 1})
    assert executed(fresh) == everything


async def test_a_fresh_run_that_was_killed_stays_fresh(book: Book, tmp_path: Path) -> None:
    """A run begun with ``--fresh`` is not answered from others when it is resumed."""
    first = await book.run(documents(), docs=["a", "b"])
    fresh = await book.run(documents(), docs=["a", "b"], options={"fresh": 1})
    at = [i for i, w in enumerate(fresh.writes) if w.method == "append" and b'"s":"work"' in w.args[1]]
    killed = book.killed([*first.writes, *fresh.writes[: at[0] + 1]], tmp_path / "killed")
    assert executed(await killed.run(documents(), docs=["a", "b"])) == {"work": 1, "join": 1}


RANDOM = "import random\nreturn Done(doc=ev.doc, value=str(random.random()))"


async def test_equal_calls_of_a_cell_are_each_wanted(book: Book) -> None:
    """Three equal calls of one cell are executed three times, and each is answered from its own
    forerunner."""
    join = "return StopEvent(result=[one.value for one in ev])"
    for edit in ("", "\n1 + 1"):
        kernel = book.kernel(documents(RANDOM, join=f"{join}{edit}"))

        async def body(kernel: Any = kernel) -> list[Any]:
            return [await kernel.Flow(timeout=None).run(docs=["a"]) for _ in range(3)]

        life = await book.body(kernel, body)
        if not edit:
            first = life
    assert executed(first) == {"split": 3, "work": 3, "join": 3}
    assert len({tuple(one) for one in first.result}) == 3
    assert life.result == first.result


async def test_one_more_equal_call_is_executed(book: Book) -> None:
    """A fourth equal call is none of the three that are on record."""
    kernel = book.kernel(documents(RANDOM))

    def calls(count: int) -> Any:
        async def body() -> list[Any]:
            return [await kernel.Flow(timeout=None).run(docs=["a"]) for _ in range(count)]

        return body

    three = await book.body(kernel, calls(3))
    four = await book.body(kernel, calls(4))
    assert four.result[:3] == three.result
    assert executed(four) == {"split": 1, "work": 1, "join": 1}


async def test_other_calls_of_a_cell_share(book: Book) -> None:
    """What one call of a cell has finished answers another call of that cell."""
    kernel = book.kernel(documents())

    async def body() -> list[Any]:
        return [await kernel.Flow(timeout=None).run(docs=docs) for docs in (["a", "b"], ["b", "c"])]

    assert executed(await book.body(kernel, body)) == {"split": 2, "work": 3, "join": 2}


async def test_what_a_deleted_run_answered_is_still_known(book: Book) -> None:
    """When the run that paid is deleted, what it answered in another run answers again, once for each."""
    await book.run(documents(), docs=["a", "a", "b"])
    await book.run(documents(), docs=["a", "a", "b", "c"])
    oldest = book.headers()[-1]
    with Store.open(book.store) as store:
        store.delete_run(oldest.run_id)
    last = await book.run(documents(), docs=["a", "a", "a", "b", "d"])
    assert executed(last) == {"split": 1, "work": 2, "join": 1}
