"""Registered migrations that miss what is on record, and what is said where one is wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_wfresume import migrate
from jupyter_wfresume.errors import RunEnded
from tests.resume.lives import Life, live
from tests.resume.test_migrations import (
    CELLS,
    FIELD,
    STATE,
    STEP,
    WHOLE,
    _nothing_registered,
    book,
    edited,
    first_life,
    next_life,
)

__all__ = ["_nothing_registered"]


async def refused(store: Path, source: str) -> str:
    """The sentence with which the next life is refused; nothing ran in it."""
    life = await next_life(store, source)
    assert isinstance(life.error, RunEnded)
    assert dict(life.ran) == {}
    return life.error.sentence


@pytest.mark.parametrize(
    ("gives", "said"),
    [
        (lambda fields: None, "gave 'seen', which Memo does not have"),
        (lambda fields: {"cuont": fields["seen"]}, "gave 'cuont', which Memo does not have"),
        (lambda fields: {"count": 1, "more": 2}, "gave 'more', which Memo does not have"),
        (lambda fields: {}, "gave no 'count'"),
        (lambda fields: 5, "gave a int: it has to return the fields"),
    ],
    ids=["nothing", "typo", "more", "none", "number"],
)
async def test_a_typed_state_takes_all_its_fields_and_no_other(gives: Any, said: str, tmp_path: Path) -> None:
    """A field that the function forgets or misspells would get its default in silence: it is named."""
    store = tmp_path / "store"
    await first_life(store)
    migrate.state("Batch")(gives)
    assert f"the migration of the state of Batch {said}" in await refused(store, STATE)
    migrate.state("Batch")(lambda fields: {"count": fields["seen"]})
    assert (await next_life(store, STATE)).result == WHOLE


async def test_registrations_that_match_nothing_are_named(tmp_path: Path) -> None:
    """Where a run is refused for want of a migration, a misspelt registration stands in the sentence."""
    store = tmp_path / "store"
    await first_life(store)
    migrate.step("wrk", to="enrich")
    migrate("Itm")(lambda fields: fields)
    migrate.state("Btch")(lambda fields: fields)
    said = "registered, but nothing in the run is called so: step 'wrk', state of Btch, class Itm"
    for source in (STEP, FIELD, STATE, edited(("Item", "Doc"))):
        assert said in await refused(store, source)


async def test_what_matches_is_not_said_to_match_nothing(tmp_path: Path) -> None:
    """A registration that was asked, or whose step has its new name on record, is not named."""
    store = tmp_path / "store"
    await first_life(store)
    migrate.step("work", to="enrich")
    cells = book(STEP)
    cells.ready = False
    await live(store, lambda: cells.Batch().run(), name="m")
    sentence = await refused(store, STATE.replace("async def work", "async def enrich"))
    assert "the state Memo does not fit" in sentence
    assert "registered" not in sentence


async def test_an_event_that_no_step_takes(tmp_path: Path) -> None:
    """A migration that gives pending events a class that nobody takes is named, not waited for."""
    store = tmp_path / "store"
    cells = book(edited(("ev.n == 3", "ev.n == 0")))
    cells.ready = False
    await live(store, lambda: cells.Batch().run(), name="m")
    migrate("Item")(lambda fields: cells.Event(**fields))
    assert "the migration of Item gave a Event, which no step takes" in await refused(store, FIELD)


GONE = edited(
    ("list[Item]:", "list[Out]:"),
    ("[Item(n=n) for", "[Out(n=n) for"),
    ("    @step(num_workers=1)\n    async def work", "    async def work"),
)


async def test_a_step_that_is_gone_whose_forerunner_skips_it(tmp_path: Path) -> None:
    """A step with recorded work that is gone is named, also where its events would go elsewhere now."""
    store = tmp_path / "store"
    await first_life(store)
    sentence = await refused(store, GONE)
    assert "step 'work' is in the journal but no longer in the workflow (renamed?" in sentence


async def test_two_steps_with_each_others_names(tmp_path: Path) -> None:
    """Exchanged names are said in words of the workflow, not of the engine."""
    store = tmp_path / "store"
    await first_life(store)
    swapped = edited(("def work", "def other"), ("def join", "def work"), ("def other", "def join"))
    sentence = await refused(store, swapped)
    assert "the result of work[0] is in the journal" in sentence
    assert "now gives its input to step 'join'" in sentence
    assert "in_progress" not in sentence


LANGUAGE = """
class Item(Event):
    n: int
    lang: str
"""


def in_language(lang: str) -> str:
    """The cells with a new field, and this value for it."""
    return edited(
        ("class Item(Event):\n    n: int\n", LANGUAGE.lstrip("\n")),
        ("Item(n=n) for", f"Item(n=n, lang={lang!r}) for"),
        ("Item(n=ev.n)", f"Item(n=ev.n, lang={lang!r})"),
        ("return Out(n=await Inner().run(n=ev.n))", "return Out(n=100 * len(ev.lang) + ev.n)"),
    )


async def lives_in(store: Path, lang: str) -> Life:
    """A life whose migration and code say the same of the new field."""
    migrate("Item")(lambda fields: {"n": fields["n"], "lang": lang})
    return await next_life(store, in_language(lang))


async def test_evidence_is_the_input_as_it_arrived(tmp_path: Path) -> None:
    """What ran with a migrated input answers for that, whatever a later migration makes of the record."""
    store = tmp_path / "store"
    await first_life(store)
    second = await lives_in(store, "en")
    assert second.result == [5, 0, 10, 20, 203, 204]
    third = await lives_in(store, "long")
    assert third.result == [5, 400, 401, 402, 403, 404]
    # Under the first one again, both answers are there.
    again = await lives_in(store, "en")
    assert again.result == [5, 200, 201, 202, 203, 204]
    assert again.ran["work 3"] == again.ran["work 4"] == 0


NESTED = """
class Note(BaseModel):
    lang: str = "en"

class Item(Event):
    n: int
    notes: list[Note] = [Note(lang="fr")]
"""


async def test_the_outer_events_migration_is_asked_for_what_lies_in_it(tmp_path: Path) -> None:
    """A migration of the event can mend a model in it that no longer fits."""
    store = tmp_path / "store"
    before = edited(("class Item(Event):\n    n: int\n", NESTED.lstrip("\n")))
    cells = book(before)
    cells.ready = False
    await live(store, lambda: cells.Batch().run(), name="m")
    after = before.replace('lang: str = "en"', 'language: str = "xx"').replace('lang="fr"', 'language="fr"')
    sentence = await refused(store, after)
    assert "(Item.notes[0]: Note holds 'lang', which the class no longer has)" in sentence

    @migrate("Item")
    def item(fields: dict[str, Any]) -> dict[str, Any]:
        notes = [{"language": dict(note)["lang"]} for note in fields["notes"]]
        return {**fields, "notes": notes}

    after = after.replace("Out(n=await", "Out(n=len(ev.notes[0].language) + await")
    assert (await next_life(store, after)).result == [5, 0, 10, 20, 32, 42]


async def test_the_cells_are_as_they_were(tmp_path: Path) -> None:
    """Cells that did not change go on, whatever is registered."""
    store = tmp_path / "store"
    await first_life(store)
    migrate.step("wrk", to="enrich")
    assert (await next_life(store, CELLS)).result == WHOLE
