"""Globals: a constant is code; what runs themselves change is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.reuse.book import Book, documents, executed


@pytest.fixture
def book(tmp_path: Path) -> Book:
    """A notebook that was never run."""
    return Book(tmp_path)


LOGS = documents("LOG.append(ev.doc)\nreturn Done(doc=ev.doc, value=ev.doc + MARK)")


async def test_a_constant_runs_only_the_steps_that_use_it(book: Book) -> None:
    """An edited constant runs the step that uses it; going back costs nothing."""
    await book.run("LOG = []\nMARK = '1'\nOTHER = 1", LOGS, docs=["a", "b"])
    edited = await book.run("LOG = []\nMARK = '2'\nOTHER = 2", LOGS, docs=["a", "b"])
    assert (edited.result, executed(edited)) == (["a2", "b2"], {"work": 2, "join": 1})
    back = await book.run("LOG = []\nMARK = '1'\nOTHER = 3", LOGS, docs=["a", "b"])
    assert (back.result, executed(back)) == (["a1", "b1"], {})


async def test_a_list_that_steps_append_to_is_no_edit(book: Book) -> None:
    """A finished call is the same call in the same kernel, whose list has grown, and in a new one."""
    kernel = book.kernel("LOG = []\nMARK = '1'", LOGS)
    await book.again(kernel, docs=["a", "b"])
    assert kernel.LOG
    assert executed(await book.again(kernel, docs=["a", "b"])) == {}
    assert executed(await book.again(kernel, docs=["a", "b", "c"])) == {"split": 1, "work": 1, "join": 1}
    assert executed(await book.run("LOG = []\nMARK = '1'", LOGS, docs=["a", "b", "c"])) == {}
    assert executed(await book.run("LOG = []\nMARK = '1'", LOGS, docs=["b", "d"])) == {
        "split": 1,
        "work": 1,
        "join": 1,
    }


async def test_a_value_that_no_run_left_there_counts(book: Book) -> None:
    """A global that runs change counts as unchanged while it holds what a run found or left there. Anything
    else
    was put there by somebody, and the steps that read it run."""
    cell = documents("CONFIG['calls'] += 1\nreturn Done(doc=ev.doc, value=ev.doc + CONFIG['end'])")
    kernel = book.kernel("CONFIG = {'end': '1', 'calls': 0}", cell)
    first = await book.again(kernel, docs=["a"])
    assert first.result == ["a1"]
    assert executed(await book.again(kernel, docs=["a"])) == {}
    kernel.CONFIG["end"] = "2"
    edited = await book.again(kernel, docs=["a"])
    assert (edited.result, executed(edited)) == (["a2"], {"work": 1, "join": 1})
    fresh = await book.run("CONFIG = {'end': '1', 'calls': 0}", cell, docs=["a"])
    assert (fresh.result, executed(fresh)) == (["a1"], {})


async def test_a_counter_and_an_attribute_that_steps_change(book: Book) -> None:
    """A global number and an attribute of the instance that steps count up do not make finished executions
    run
    again, in the same kernel or in a new one."""
    cell = documents(
        "global COUNT\nCOUNT += 1\nself.count = getattr(self, 'count', 0) + 1\n"
        "return Done(doc=ev.doc, value=ev.doc)"
    )
    kernel = book.kernel("COUNT = 0", cell)
    flow = kernel.Flow(timeout=None)

    async def run(docs: list[str]) -> dict[str, int]:
        return dict(executed(await book.body(kernel, lambda: flow.run(docs=docs))))

    assert await run(["a", "b"]) == {"split": 1, "work": 2, "join": 1}
    assert await run(["a", "b"]) == {}
    assert (await run(["a", "b", "c"]))["work"] == 1
    assert executed(await book.run("COUNT = 0", cell, docs=["a", "b", "c", "d"]))["work"] == 1


@pytest.mark.parametrize(
    ("made", "other", "used"),
    [
        ("random.Random(1)", "random.Random(2)", "THING.random()"),
        ("np.random.default_rng(1)", "np.random.default_rng(2)", "THING.random()"),
        ("io.StringIO()", "io.StringIO('a')", "THING.write('line')"),
        ("itertools.count(1)", "itertools.count(2)", "next(THING)"),
        ("collections.defaultdict(list)", "collections.defaultdict(set)", "THING[ev.doc]"),
        ("[].append", "['a'].append", "THING(ev.doc)"),
    ],
)
async def test_what_a_run_advances_is_no_edit(book: Book, made: str, other: str, used: str) -> None:
    """A generator that a run draws from, or a stream that it writes, is what it was: in the same kernel
    and in a new one. Made of another seed or content it is an edit."""
    cell = documents(f"{used}\nreturn Done(doc=ev.doc, value=ev.doc)")
    head = "import collections, io, itertools, random\nimport numpy as np\nTHING = {}"
    kernel = book.kernel(head.format(made), cell)
    await book.again(kernel, docs=["a", "b"])
    assert executed(await book.again(kernel, docs=["a", "b"])) == {}
    assert executed(await book.again(kernel, docs=["a", "b", "c"])) == {"split": 1, "work": 1, "join": 1}
    assert executed(await book.run(head.format(made), cell, docs=["a", "b"])) == {}
    edited = await book.run(head.format(other), cell, docs=["a", "b"])
    assert executed(edited)["work"] == 2


async def test_a_function_that_counts_its_calls(book: Book) -> None:
    """An attribute that a helper keeps on itself is no edit when a run sets it."""
    helper = "def clean(doc):\n    clean.calls = getattr(clean, 'calls', {start}) + 1\n    return doc"
    cell = documents("return Done(doc=ev.doc, value=clean(ev.doc))")
    kernel = book.kernel(helper.format(start=0), cell)
    await book.again(kernel, docs=["a", "b"])
    assert executed(await book.again(kernel, docs=["a", "b"])) == {}
    assert executed(await book.run(helper.format(start=0), cell, docs=["a", "b"])) == {}
    assert executed(await book.run(helper.format(start=1), cell, docs=["a", "b"]))["work"] == 2


async def test_a_setting_that_the_cell_changes_between_runs(book: Book) -> None:
    """A global dict that the body changes from run to run is an input, and never taken for a run's own
    doing."""
    cell = documents("return Done(doc=ev.doc, value=ev.doc + CONFIG['end'])")
    kernel = book.kernel("CONFIG = {'end': ''}", cell)

    async def body() -> list[Any]:
        found = []
        for end in ("1", "2", "1", "2"):
            kernel.CONFIG["end"] = end
            found.append(await kernel.Flow(timeout=None).run(docs=["a"]))
        return found

    life = await book.body(kernel, body)
    assert life.result == [["a1"], ["a2"], ["a1"], ["a2"]], life.error
    again = await book.body(kernel, body)
    assert (again.result, executed(again)) == (life.result, {})
