"""The plan comes first, in numbers and reasons, and what is then done equals it."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from jupyter_wfresume.errors import DryRun, RunEnded
from tests.reuse.book import Book, by_type_of, check_plan, documents, executed, plan_of

HELPER = "def clean(doc):\n    return doc.strip() + {end!r}\n"
WORK = "return Done(doc=ev.doc, value=clean(ev.doc))"
DOCS = [f"document {i}" for i in range(12)]


@pytest.fixture
def book(tmp_path: Path) -> Book:
    """A notebook that was never run."""
    return Book(tmp_path)


def contents(folder: Path) -> dict[str, Any]:
    """What a store holds: the rows of its table, and digests of its other files."""
    found: dict[str, Any] = {}
    for path in folder.rglob("*"):
        if path.name == "cache.db":
            with contextlib.closing(sqlite3.connect(path)) as table:
                found["rows"] = sorted(map(repr, table.execute("SELECT * FROM Cache")))
        elif path.is_file() and not path.name.startswith("cache.db"):
            found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


async def test_the_reason_is_the_edit(book: Book) -> None:
    """An edited helper is named, with the counts of what is answered and what runs."""
    await book.run(HELPER.format(end=""), documents(WORK), docs=DOCS)
    edited = await book.run(HELPER.format(end="!"), documents(WORK), docs=DOCS)
    assert plan_of(edited) == {
        "split": "1 reused",
        "work": "12 to run (`work` changed: helper clean() differs)",
        "join": "depends on outputs not known yet, at most 1 reused",
    }
    check_plan(edited)
    assert executed(edited) == {"work": 12, "join": 1}


async def test_the_reason_is_the_last_edit(book: Book) -> None:
    """Of several versions on record, the newest is the one that today's code is compared with."""
    two = HELPER + "def shown(doc):\n    return doc + {more!r}\n"
    work = documents("return Done(doc=ev.doc, value=shown(clean(ev.doc)))")
    await book.run(two.format(end="", more=""), work, docs=DOCS)
    await book.run(two.format(end="!", more=""), work, docs=DOCS)
    edited = await book.run(two.format(end="!", more="?"), work, docs=DOCS)
    assert plan_of(edited)["work"] == "12 to run (`work` changed: helper shown() differs)"


async def test_inputs_that_are_new_or_had_failed(book: Book) -> None:
    """What had not run counts as new inputs, what had failed as failed; both are said with their numbers."""
    work = "assert ev.doc != 'document 4', 'bad'\nreturn Done(doc=ev.doc, value=ev.doc)"
    kernel = book.kernel(documents(work))
    first = await book.again(kernel, docs=DOCS)
    assert isinstance(first.error, AssertionError)
    done = first.ran["work"] - 1
    other = kernel.Flow(timeout=None)
    other.label = "another call, of which no step reads the difference"
    plan = plan_of(await book.body(kernel, lambda: other.run(docs=DOCS), dry_run=True))
    new = len(DOCS) - 1 - done
    assert plan["split"] == "1 reused"
    assert plan["work"] == f"{done} reused, {new + 1} to run ({new} new inputs, failed last time)"


async def test_what_depends_on_the_dispatching_step(book: Book) -> None:
    """Where the dispatching step runs, the plan says how many executions could be answered at most."""
    await book.run(documents(), docs=DOCS)
    more = await book.run(documents(), docs=[*DOCS, "new"])
    assert plan_of(more)["work"] == "depends on outputs not known yet, at most 12 reused"
    check_plan(more)


LATE = documents(
    "return Done(doc=ev.doc, value=ev.doc)",
    more="""\
@step
async def side(self, ctx: Context, ev: StartEvent) -> Item | None:
    ran("side")
    for doc in {docs}:
        ctx.send_event(Item(doc=doc))
""",
)


async def test_a_step_that_sends_leaves_others_open(book: Book) -> None:
    """A step that runs and is known to send events may send more: the steps that take them are "at least"."""
    two = LATE.replace("ev: list[Done]) -> StopEvent", "ev: Done) -> StopEvent | None").replace(
        "return StopEvent(result=sorted(one.value for one in ev))",
        "got = ctx.collect_events(ev, [Done] * 3)\n"
        "        return got and StopEvent(result=sorted(d.value for d in got))",
    )
    first = await book.run(two.format(docs=["x"]), docs=["a", "b"])
    assert first.result == ["a", "b", "x"]
    edited = await book.run(two.format(docs=["y"]), docs=["a", "b"])
    assert edited.result == ["a", "b", "y"]
    assert plan_of(edited)["work"].startswith("at least 2 reused")
    check_plan(edited)


READS = """\
class Flow(Workflow):
    @step
    async def prepare(self, ctx: Context, ev: StartEvent) -> Item:
        ran("prepare")
        await ctx.store.set("factor", {factor})
        return Item(doc="a")

    @step
    async def work(self, ctx: Context, ev: Item) -> Done:
        ran("work")
        factor = await ctx.store.get("factor")
        return Done(doc="", value=str(factor))

    @step
    async def end(self, ctx: Context, ev: Done) -> StopEvent:
        ran("end")
        return StopEvent(result=ev.value)
"""


async def test_state_that_is_written_meanwhile(book: Book) -> None:
    """Where a step that runs writes state, what others read is not known: the plan claims nothing of them
    that
    does not hold."""
    for factor in ("1", "2", "1 + 1", "1"):
        life = await book.run(READS.format(factor=factor))
        assert life.result == str(eval(factor))
        check_plan(life)
    assert executed(life) == {}


async def test_a_dry_run_leaves_no_trace(book: Book) -> None:
    """A dry run prints the plan, executes nothing and writes nothing; the run after it does what it said."""
    await book.run(HELPER.format(end=""), documents(WORK), docs=DOCS)
    for cells, docs in (
        ((HELPER.format(end="!"), documents(WORK)), DOCS),
        ((HELPER.format(end=""), documents(WORK)), [*DOCS, "new"]),
        ((HELPER.format(end=""), documents(WORK)), DOCS),
    ):
        before = contents(book.store)
        dry = await book.run(*cells, docs=docs, options={"dry_run": True})
        assert isinstance(dry.error, DryRun)
        assert (dict(dry.ran), dry.writes) == ({}, [])
        assert contents(book.store) == before
        life = await book.run(*cells, docs=docs)
        assert plan_of(life) == plan_of(dry)
        check_plan(life)


async def test_a_dry_run_of_an_unfinished_run(book: Book, tmp_path: Path) -> None:
    """A dry run of a run that was killed says what is kept and what would run."""
    whole = await book.run(documents(), docs=["a", "b", "c"])
    at = [i for i, w in enumerate(whole.writes) if w.method == "append" and b'"s":"work"' in w.args[1]]
    killed = book.killed(whole.writes[: at[1] + 1], tmp_path / "killed")
    before = contents(killed.store)
    dry = await killed.run(documents(), docs=["a", "b", "c"], options={"dry_run": True})
    assert isinstance(dry.error, DryRun)
    assert contents(killed.store) == before
    assert plan_of(dry)["split"] == "1 kept, 0 to run"
    assert plan_of(dry)["join"] == "0 kept, depends on outputs not known yet"
    assert plan_of(dry)["work"].startswith("2 kept, 1 to run")


@pytest.mark.parametrize(
    ("stale", "ran"),
    [("auto", {"work": 2, "join": 1}), ("rerun", {"work": 2, "join": 1}), ("keep", {})],
)
async def test_stale_on_a_finished_run(stale: Any, ran: dict[str, int], book: Book) -> None:
    """After the run had finished an edit takes effect, unless ``--stale keep`` takes what was paid for."""
    await book.run(HELPER.format(end=""), documents(WORK), docs=["a", "b"])
    life = await book.run(HELPER.format(end="!"), documents(WORK), docs=["a", "b"], options={"stale": stale})
    assert executed(life) == ran
    assert life.result == (["a", "b"] if stale == "keep" else ["a!", "b!"])
    if stale == "keep":
        assert "2 executions of work" in life.told[0]


@pytest.mark.parametrize(
    ("stale", "result", "runs"),
    [("auto", ["a", "b!", "c!"], 2), ("keep", ["a", "b!", "c!"], 2), ("rerun", ["a!", "b!", "c!"], 3)],
)
async def test_stale_on_an_unfinished_run(
    stale: Any, result: list[str], runs: int, book: Book, tmp_path: Path
) -> None:
    """A run that was killed keeps what it had finished with the older code, unless ``--stale rerun``; what
    had
    not run uses today's, and the run says for good which is which."""
    whole = await book.run(HELPER.format(end=""), documents(WORK), docs=["a", "b", "c"])
    at = [i for i, w in enumerate(whole.writes) if w.method == "append" and b'"s":"work"' in w.args[1]]
    killed = book.killed(whole.writes[: at[0] + 1], tmp_path / "killed")
    edited = HELPER.format(end="!"), documents(WORK)
    life = await killed.run(*edited, docs=["a", "b", "c"], options={"stale": stale})
    assert (sorted(life.result), life.ran["work"]) == (sorted(result), runs)
    header = killed.headers()[0]
    noted = [note for note in header.notes if "earlier version of `work`" in note]
    assert len(noted) == (stale != "rerun"), header.notes
    versions = sorted(header.extra["versions"]["work"].values())
    assert versions == ([3] if stale == "rerun" else [1, 2])
    if stale == "auto":
        assert "--stale rerun" in life.told[0]
        # It has finished now, so the edit takes effect, for the one that is of older code.
        after = await killed.run(*edited, docs=["a", "b", "c"])
        assert (after.result, executed(after)) == (["a!", "b!", "c!"], {"work": 1, "join": 1})


async def test_keeping_prefers_todays_code(book: Book) -> None:
    """``--stale keep`` in a new run takes an output of today's code where there is one."""
    await book.run(HELPER.format(end="!"), documents(WORK), docs=["a"])
    await book.run(HELPER.format(end="?"), documents(WORK), docs=["a", "b"])
    life = await book.run(HELPER.format(end="!"), documents(WORK), docs=["b", "a"], options={"stale": "keep"})
    assert life.result == ["a!", "b?"]
    assert executed(life) == {"split": 1, "join": 1}


async def test_keep_does_not_take_what_does_not_fit(book: Book) -> None:
    """``--stale keep`` executes what was recorded with an event class that has another required field now."""
    await book.run(documents(), docs=["a"])
    more = (
        "class Done(Event):\n    doc: str\n    value: str\n    size: int\n",
        documents(
            "return Done(doc=ev.doc, value=ev.doc, size=1)", join="return StopEvent(result=ev[0].size)"
        ),
    )
    life = await book.run(*more, docs=["a", "b"], options={"stale": "keep"})
    assert life.error is None, life.error
    assert life.result == 1
    assert executed(life) == {"split": 1, "work": 2, "join": 1}


async def test_what_counts_by_its_type_is_said(book: Book) -> None:
    """The plan of a run that reuses something names what an edit would not be seen of; a first one has
    nothing to answer with, and says nothing."""
    head = "import threading\nGUARD = threading.Lock()"
    cell = documents("with GUARD:\n    return Done(doc=ev.doc, value=ev.doc)")
    first = await book.run(head, cell, docs=["a"])
    more = await book.run(head, cell, docs=["a", "b"])
    dry = await book.run(head, cell, docs=["a", "c"], options={"dry_run": True})
    assert isinstance(dry.error, DryRun)
    assert [by_type_of(life) for life in (first, more, dry)] == [[], ["GUARD (lock)"], ["GUARD (lock)"]]


async def test_of_many_that_count_by_their_type_some_are_said(book: Book) -> None:
    """The line is kept short, and says how many more there are."""
    head = "import threading\n" + "\n".join(f"LOCK_{n} = threading.Lock()" for n in range(9))
    cell = documents(f"{', '.join(f'LOCK_{n}' for n in range(9))}\nreturn Done(doc=ev.doc, value=ev.doc)")
    await book.run(head, cell, docs=["a"])
    line = (await book.run(head, cell, docs=["a", "b"])).told[0].splitlines()[-1]
    assert line.startswith("  compared by type only: ")
    assert line.count("(lock)") + line.count("(ContextVar)") == 6
    assert line.endswith(" and 6 more")


async def test_a_stuck_run_is_mended(book: Book) -> None:
    """An edit of what a stuck run had finished takes effect: nothing else is left to do in it."""
    stuck = await book.run(documents(join="return None"), docs=["a", "b"])
    assert isinstance(stuck.error, RunEnded)
    assert stuck.error.status == "stuck"
    mended = await book.run(documents(), docs=["a", "b"])
    assert "it was stuck, and 1 execution of join changed" in mended.told[0]
    assert executed(mended) == {"join": 1}
    assert mended.result == (await book.scratch(documents(), docs=["a", "b"])).result
