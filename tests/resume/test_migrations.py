"""An unfinished run whose classes, steps or state have other shapes now goes on by what was registered."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_wfresume import migrate
from jupyter_wfresume.errors import RunEnded, UsageError
from jupyter_wfresume.session.runs import open_run
from tests.resume.lives import Life, live, ran

HEAD = """
from pydantic import BaseModel
from workflows import Context, Workflow, step
from workflows.events import Event, StartEvent, StopEvent
"""

CELLS = (
    HEAD
    + """
class Memo(BaseModel):
    seen: int = 0

class Item(Event):
    n: int

class Out(Event):
    n: int

class Inner(Workflow):
    @step
    async def paid(self, ev: StartEvent) -> Item:
        ran("paid")
        return Item(n=ev.n)

    @step
    async def last(self, ev: Item) -> StopEvent:
        if not ready and ev.n == 3:
            raise ValueError("not yet")
        return StopEvent(result=ev.n * 10)

class Batch(Workflow):
    @step
    async def split(self, ctx: Context[Memo], ev: StartEvent) -> list[Item]:
        ran("split")
        async with ctx.store.edit_state() as state:
            state.seen = 5
        return [Item(n=n) for n in range(5)]

    @step(num_workers=1)
    async def work(self, ctx: Context[Memo], ev: Item) -> Out:
        ran(f"work {ev.n}")
        return Out(n=await Inner().run(n=ev.n))

    @step
    async def join(self, ctx: Context[Memo], ev: list[Out]) -> StopEvent:
        ran("join")
        seen = await ctx.store.get("seen")
        return StopEvent(result=[seen, *sorted(out.n for out in ev)])
"""
)

WHOLE = [5, 0, 10, 20, 30, 40]


@pytest.fixture(autouse=True)
def _nothing_registered() -> Iterator[None]:
    yield
    migrate.forget()


def book(source: str, **names: Any) -> types.ModuleType:
    """The namespace of a notebook whose cells were run."""
    module = types.ModuleType("book")
    sys.modules["book"] = module
    vars(module).update(ran=ran, ready=True, **names)
    exec(compile(source, "book", "exec"), vars(module))
    return module


async def first_life(store: Path) -> Life:
    """`work[3]` fails in its inner run, after the paid step of it."""
    cells = book(CELLS)
    cells.ready = False
    life = await live(store, lambda: cells.Batch().run(), name="m")
    assert isinstance(life.error, ValueError)
    assert life.ran["paid"] == 4
    return life


async def next_life(store: Path, source: str, **options: Any) -> Life:
    """The cells as they are now, run again."""
    cells = book(source)
    return await live(store, lambda: cells.Batch().run(), name="m", **options)


def edited(*changes: tuple[str, str]) -> str:
    """The cells with texts exchanged."""
    source = CELLS
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    return source


FIELD = edited(
    ("class Item(Event):\n    n: int", "class Item(Event):\n    k: str"),
    ("Item(n=n) for", "Item(k=str(n)) for"),
    ("Item(n=ev.n)", "Item(k=str(ev.n))"),
    ("ev: Item) -> Out:\n", "ev: Item) -> Out:\n        ev = Out(n=int(ev.k))\n"),
    ("ev: Item) -> StopEvent:\n", "ev: Item) -> StopEvent:\n        ev = Out(n=int(ev.k))\n"),
)
CLASS = edited(("Item", "Doc"))
STEP = edited(("async def work", "async def enrich"))


async def test_a_renamed_field(tmp_path: Path) -> None:
    """Recorded events that do not fit get the fields that the function gives; finished work stays."""
    store = tmp_path / "store"
    await first_life(store)
    refused = await next_life(store, FIELD)
    assert isinstance(refused.error, RunEnded)
    assert "Item, the first made by split[0], do not fit" in refused.error.sentence
    assert "migrat" in refused.error.sentence
    asked = []

    @migrate("Item")
    def item(fields: dict[str, Any]) -> dict[str, Any]:
        asked.append(dict(fields))
        return {"k": str(fields["n"])}

    second = await next_life(store, FIELD)
    assert second.result == WHOLE
    assert dict(second.ran) == {"work 3": 1, "work 4": 1, "paid": 1, "join": 1}
    assert {"n": 3} in asked


async def test_a_renamed_class(tmp_path: Path) -> None:
    """Events of a class that is gone become events of the class that takes its place."""
    store = tmp_path / "store"
    await first_life(store)
    refused = await next_life(store, CLASS)
    assert isinstance(refused.error, RunEnded)
    assert "cannot find book.Item" in refused.error.sentence
    assert 'migrate("Item")' in refused.error.sentence
    cells = book(CLASS)

    @migrate("book.Item")
    def item(fields: dict[str, Any]) -> Any:
        return cells.Doc(**fields)

    second = await live(store, lambda: cells.Batch().run(), name="m")
    assert second.result == WHOLE
    assert dict(second.ran) == {"work 3": 1, "work 4": 1, "paid": 1, "join": 1}


async def test_what_fits_is_left_alone(tmp_path: Path) -> None:
    """A function is not asked for events that fit the class as it is."""
    store = tmp_path / "store"
    await first_life(store)

    @migrate("Item")
    def item(fields: dict[str, Any]) -> Any:
        raise AssertionError("asked for an event that fits")

    second = await next_life(store, CELLS)
    assert second.result == WHOLE
    assert dict(second.ran) == {"work 3": 1, "work 4": 1, "paid": 1, "join": 1}


async def test_a_renamed_step(tmp_path: Path) -> None:
    """A step's new name keeps its finished executions, and what a nested run of it had paid for."""
    store = tmp_path / "store"
    await first_life(store)
    refused = await next_life(store, STEP)
    assert isinstance(refused.error, RunEnded)
    assert "step 'work' is in the journal but no longer in the workflow" in refused.error.sentence
    migrate.step("work", to="enrich")
    # A dry run says so and writes nothing down.
    dry = await next_life(store, STEP, dry_run=True)
    assert "resumes run" in dry.told[0]
    cells = book(STEP)
    cells.ready = False
    second = await live(store, lambda: cells.Batch().run(), name="m")
    assert isinstance(second.error, ValueError)
    assert dict(second.ran) == {"work 3": 1}
    # The name is on record now: the registration is not needed again.
    migrate.forget()
    third = await next_life(store, STEP)
    assert third.result == WHOLE
    assert dict(third.ran) == {"work 3": 1, "work 4": 1, "paid": 1, "join": 1}
    run = open_run("m", store)
    assert [one.index for one in run.executions if one.step == "enrich"] == [0, 1, 2, 3, 4]
    assert {one.step for one in run.executions} == {"split", "enrich", "join"}


async def test_a_step_renamed_back(tmp_path: Path) -> None:
    """Names may change more than once, and back."""
    store = tmp_path / "store"
    await first_life(store)
    migrate.step("work", to="enrich")
    cells = book(STEP)
    cells.ready = False
    await live(store, lambda: cells.Batch().run(), name="m")
    migrate.step("enrich", to="work")
    third = await next_life(store, CELLS)
    assert third.result == WHOLE
    assert dict(third.ran) == {"work 3": 1, "work 4": 1, "paid": 1, "join": 1}


async def test_a_skip_of_a_renamed_step(tmp_path: Path) -> None:
    """An execution that a person left out stays left out under the step's new name."""
    store = tmp_path / "store"
    await first_life(store)
    open_run("m", store).skip("work", 3)
    migrate.step("work", to="enrich")
    second = await next_life(store, STEP)
    assert second.result == [5, 0, 10, 20, 40]
    assert dict(second.ran) == {"work 4": 1, "paid": 1, "join": 1}


STATE = edited(
    ("    seen: int = 0", "    count: int = 0"), ("state.seen", "state.count"), ('"seen"', '"count"')
)


async def test_a_renamed_field_of_the_state(tmp_path: Path) -> None:
    """A typed state that does not fit is refused, or made to fit; once, and on record."""
    store = tmp_path / "store"
    await first_life(store)
    refused = await next_life(store, STATE)
    assert isinstance(refused.error, RunEnded)
    assert "the state Memo does not fit the class as it is now" in refused.error.sentence

    @migrate.state("Batch")
    def state(fields: dict[str, Any]) -> dict[str, Any]:
        return {"count": fields["seen"] + 100}

    cells = book(STATE)
    cells.ready = False
    second = await live(store, lambda: cells.Batch().run(), name="m")
    assert isinstance(second.error, ValueError)
    migrate.forget()
    third = await next_life(store, STATE)
    assert third.result == [105, *WHOLE[1:]]
    assert dict(third.ran) == {"work 3": 1, "work 4": 1, "paid": 1, "join": 1}


DYNAMIC = edited(("Context[Memo]", "Context"), ("state.seen = 5", 'state["seen"] = 5'))


async def test_an_untyped_state(tmp_path: Path) -> None:
    """A state without a class takes what the function makes of it; one that returns nothing changed it."""
    store = tmp_path / "store"
    cells = book(DYNAMIC)
    cells.ready = False
    await live(store, lambda: cells.Batch().run(), name="m")

    @migrate.state("Batch")
    def state(fields: dict[str, Any]) -> None:
        if "seen" in fields:
            fields["count"] = fields.pop("seen")

    second = await next_life(store, DYNAMIC.replace('get("seen")', 'get("count")'))
    assert second.result == WHOLE


async def not_awaited(fields: dict[str, Any]) -> dict[str, Any]:
    return {"k": str(fields["n"])}


def another_model(fields: dict[str, Any]) -> Any:
    return sys.modules["book"].Memo()


def another_event(fields: dict[str, Any]) -> Any:
    return sys.modules["book"].Out(**fields)


def nobodys_event(fields: dict[str, Any]) -> Any:
    return sys.modules["book"].Event()


@pytest.mark.parametrize(
    ("gives", "said"),
    [
        (lambda fields: fields["missing"], "the migration of Item raised KeyError: 'missing' in line"),
        (lambda fields: {"k": []}, "gave fields that do not fit Item ('k': "),
        (lambda fields: 7, "the migration of Item gave a int: it has to return the new fields, or an"),
        (lambda fields: {"k": "1", "kk": "2"}, "the migration of Item gave 'kk', which Item does not have"),
        (not_awaited, "the migration of Item is async: make it a plain function"),
        (another_model, "the migration of Item gave a Memo where an event belongs"),
        (another_event, "the migration of Item gave a Out, and step 'work', which had got the recorded one"),
        (nobodys_event, "the migration of Item gave a Event, and step 'work', which had got the recorded"),
    ],
)
async def test_a_migration_that_fails(gives: Any, said: str, tmp_path: Path) -> None:
    """A migration that raises or gives what does not fit is named in one sentence; nothing is lost."""
    store = tmp_path / "store"
    await first_life(store)
    migrate("Item")(gives)
    refused = await next_life(store, FIELD)
    assert isinstance(refused.error, RunEnded)
    assert said in refused.error.sentence
    assert dict(refused.ran) == {}
    migrate("Item")(lambda fields: {"k": str(fields["n"])})
    assert (await next_life(store, FIELD)).result == WHOLE


async def test_a_state_migration_that_fails(tmp_path: Path) -> None:
    """A state that the function makes must fit its class."""
    store = tmp_path / "store"
    await first_life(store)
    migrate.state("Batch")(lambda fields: {"count": "many"})
    refused = await next_life(store, STATE)
    assert isinstance(refused.error, RunEnded)
    assert (
        "the migration of the state of Batch gave fields that do not fit Memo ('count'"
        in refused.error.sentence
    )


async def test_a_name_that_is_no_step(tmp_path: Path) -> None:
    """A new name that the workflow does not have is said, with those it has."""
    store = tmp_path / "store"
    await first_life(store)
    migrate.step("work", to="enrch")
    refused = await next_life(store, STEP)
    assert isinstance(refused.error, RunEnded)
    assert "the workflow has no step 'enrch'; it has enrich, join, split" in refused.error.sentence


@pytest.mark.parametrize("what", [None, 7, lambda fields: fields, ""])
def test_registering_something_else(what: Any) -> None:
    """What is neither a class nor a name is refused where it is registered."""
    with pytest.raises(UsageError, match="register a migration with"):
        migrate(what)


def test_two_equal_names_of_a_step() -> None:
    """A step's new name differs from its old one."""
    with pytest.raises(UsageError, match="two names"):
        migrate.step("work", to="work")


async def test_another_default_of_the_state(tmp_path: Path) -> None:
    """A finished run whose state would begin otherwise today is not answered from the record."""
    store = tmp_path / "store"
    source = CELLS.replace("state.seen = 5", "state.seen += 5")
    assert (await next_life(store, source)).result == WHOLE
    second = await next_life(store, source.replace("seen: int = 0", "seen: int = 2"))
    assert second.result == [7, *WHOLE[1:]]


async def test_a_finished_run_whose_step_has_another_name(tmp_path: Path) -> None:
    """A new run reuses what a step has finished under its old name."""
    store = tmp_path / "store"
    one_more = ("range(5)", "range(6)")
    assert (await next_life(store, CELLS)).result == WHOLE
    migrate.step("work", to="enrich")
    second = await next_life(store, edited(("async def work", "async def enrich"), one_more))
    assert second.result == [*WHOLE, 50]
    assert dict(second.ran) == {"split": 1, "work 5": 1, "paid": 1, "join": 1}


async def test_a_replay_under_the_new_name(tmp_path: Path) -> None:
    """An execution on record is replayed by its step's new name, with the class's new fields."""
    store = tmp_path / "store"
    await first_life(store)
    migrate.step("work", to="enrich")
    migrate("Item")(lambda fields: {"k": str(fields["n"])})
    cells = book(FIELD.replace("async def work", "async def enrich"))
    cells.ran = lambda label: None
    replayed = open_run("m", store).execution("work", 1).replay(workflow=cells.Batch())
    assert replayed.new_output == [cells.Out(n=10)]
