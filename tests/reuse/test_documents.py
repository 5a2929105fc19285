"""Documents come, go and change: only what is new is paid for."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from jupyter_wfresume.session.runs import Run
from jupyter_wfresume.store import Store, this_process
from tests.reuse.book import Book, documents, executed, plan_of

DOCS = [f"document {i}" for i in range(100)]


@pytest.fixture
def book(tmp_path: Path) -> Book:
    """A notebook that was never run."""
    return Book(tmp_path)


async def test_documents_are_added_edited_and_removed(book: Book) -> None:
    """100 documents done, 20 added, 3 edited, 5 removed: the dispatching step, 23 executions and the join; the
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
    """The same documents in another order: the dispatching step alone, since a join's events have no order."""
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
    """What a run finished before it failed answers another call, which says what failed last time."""
    first = await book.run(documents(FAILS), docs=[*DOCS[:4], "bad"])
    assert isinstance(first.error, ValueError)
    done = sum(s.done for s in first.views[-1].steps if s.name == "work")
    again = await book.run(documents(FAILS), docs=DOCS[:4], options={})
    assert executed(again) == {"split": 1, "work": 4 - done, "join": 1}


async def test_a_stopped_run_counts(book: Book) -> None:
    """What an unfinished run has finished answers another call."""
    kernel = book.kernel(documents())

    async def stops() -> Any:
        handler = kernel.Flow(timeout=None).run(docs=DOCS[:5])
        async for _ in handler.stream_events(expose_internal=True):
            if sum(s.done for s in life.header_with_steps().steps if s.name == "work") == 5:
                break
        await handler.cancel_run()
        return await handler

    from jupyter_wfresume.session import session as sessions

    async def body() -> Any:
        nonlocal life
        session = sessions._SESSION.get()
        assert session is not None
        handler = kernel.Flow(timeout=None).run(docs=DOCS[:5])
        life = session._lives[0]
        async for _ in handler.stream_events(expose_internal=True):
            if life.view().steps[1].done >= 2:
                break
        await handler.cancel_run()
        return await handler

    life: Any = None
    first = await book.body(body)
    assert first.views[-1].status == "paused"
    done = first.views[-1].steps[1].done
    assert done >= 2
    again = await book.run(documents(), docs=DOCS[:6])
    assert again.ran["work"] == 6 - done
