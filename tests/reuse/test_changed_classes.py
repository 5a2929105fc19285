"""What is pending has to fit the workflow as it is now; else the run is refused, whole, with the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_wfresume.errors import RunEnded
from tests.reuse.book import Book, documents, executed

DOCS = ["a", "b", "c"]
SPLIT = "return [Item({fields}) for doc in ev.docs]"


async def killed(tmp_path: Path) -> Book:
    """A notebook whose kernel was killed when one of three documents was done."""
    (tmp_path / "whole").mkdir()
    book = Book(tmp_path / "whole")
    whole = await book.run(documents(), docs=DOCS)
    at = [i for i, w in enumerate(whole.writes) if w.method == "append" and b'"s":"work"' in w.args[1]]
    return book.killed(whole.writes[: at[0] + 1], tmp_path / "killed")


@pytest.mark.parametrize(
    ("item", "fields", "work", "fault"),
    [
        ("    doc: str\n    size: int", "doc=doc, size=1", "str(ev.size)", "it has no 'size'"),
        ("    doc: int", "doc=1", "str(ev.doc + 1)", "'doc': Input should be a valid integer"),
        ("    name: str = 'x'", "name=doc", "ev.name", "it holds 'doc', which the class no longer has"),
    ],
)
async def test_pending_events_that_do_not_fit(
    item: str, fields: str, work: str, fault: str, tmp_path: Path
) -> None:
    """Pending events whose class has changed so that they do not fit it: the run is refused with what, where
    and how to go on, and is left as it was; ``--stale rerun`` goes on in a new run."""
    book = await killed(tmp_path)
    cells = (
        f"class Item(Event):\n{item}\n",
        documents(f"return Done(doc='', value={work})", split=SPLIT.format(fields=fields)),
    )
    before = book.records()
    refused = await book.run(*cells, docs=DOCS)
    assert isinstance(refused.error, RunEnded)
    sentence = refused.error.sentence
    assert "2 pending events Item, the first made by split[0]," in sentence
    assert fault in sentence
    assert "--stale rerun" in sentence
    assert "--fresh" in sentence
    assert dict(refused.ran) == {}
    assert book.records() == before
    anew = await book.run(*cells, docs=DOCS, options={"stale": "rerun"})
    assert anew.error is None, anew.error
    assert executed(anew) == {"split": 1, "work": 3, "join": 1}


async def test_collected_events_that_do_not_fit(tmp_path: Path) -> None:
    """What a fan-in holds already has to fit too."""
    book = await killed(tmp_path)
    done = "class Done(Event):\n    doc: str\n    value: str\n    size: int\n"
    refused = await book.run(done, documents("return Done(doc='', value='', size=1)"), docs=DOCS)
    assert isinstance(refused.error, RunEnded)
    assert "1 pending event Done, the first made by work[" in refused.error.sentence


async def test_a_new_field_with_a_default_fits(tmp_path: Path) -> None:
    """A field that was added with a default is taken by what is pending."""
    book = await killed(tmp_path)
    item = "class Item(Event):\n    doc: str\n    size: int = 7\n"
    life = await book.run(item, documents("return Done(doc='', value=f'{ev.doc}{ev.size}')"), docs=DOCS)
    assert life.error is None, life.error
    assert sorted(life.result)[0] == "A"
    assert {one[1:] for one in life.result} == {"", "7"}


async def test_a_step_that_is_gone(tmp_path: Path) -> None:
    """A step that was renamed while it had work under way: refused with its name and the way out."""
    book = await killed(tmp_path)
    renamed = documents().replace("def work", "def handle")
    refused = await book.run(renamed, docs=DOCS)
    assert isinstance(refused.error, RunEnded)
    assert "step 'work' is in the journal but no longer in the workflow" in refused.error.sentence
    assert "--fresh" in refused.error.sentence
    anew = await book.run(renamed, docs=DOCS, options={"stale": "rerun"})
    assert (anew.result, executed(anew)) == (["A", "B", "C"], {"work": 3, "join": 1})


META = """
from dataclasses import dataclass
from pydantic import BaseModel

{meta}

class Item(Event):
    doc: str
    {field}
"""
MODEL = "class Meta(BaseModel):\n    {name}"
RECORD = "@dataclass\nclass Meta:\n    {name}"


@pytest.mark.parametrize(
    ("kind", "name", "fault"),
    [
        (MODEL, "language: str", "Meta has no 'language'"),
        (MODEL, "language: str = 'x'", "Meta holds 'lang', which the class no longer has"),
        (MODEL, "lang: int", "Meta 'lang': Input should be a valid integer"),
        (RECORD, "language: str", "Meta has no 'language'"),
        (RECORD, "language: str = 'x'", "Meta holds 'lang', which the class no longer has"),
    ],
)
@pytest.mark.parametrize(
    ("field", "value", "path"),
    [
        ("meta: Meta", "{}", "Item.meta"),
        ("metas: list[Meta]", "[{}]", "Item.metas[0]"),
        ("metas: dict[str, Meta]", "{{'a': {}}}", "Item.metas['a']"),
    ],
)
async def test_what_lies_in_pending_events_has_to_fit(
    kind: str, name: str, fault: str, field: str, value: str, path: str, tmp_path: Path
) -> None:
    """A model or a dataclass in an event, its list or its dict is looked at where its class was edited."""
    member = field.partition(":")[0]
    made = {member: value}
    (tmp_path / "whole").mkdir()
    book = Book(tmp_path / "whole")

    def cells(name: str, work: str) -> tuple[str, str]:
        lang = name.partition(":")[0]
        item = f"Item(doc=doc, {member}={made[member].format(f'Meta({lang}=doc)')})"
        split = f"return [{item} for doc in ev.docs]"
        return META.format(meta=kind.format(name=name), field=field), documents(work, split=split)

    work = "return Done(doc='', value=ev.doc)"
    whole = await book.run(*cells("lang: str", work), docs=DOCS)
    at = [i for i, w in enumerate(whole.writes) if w.method == "append" and b'"s":"work"' in w.args[1]]
    book = book.killed(whole.writes[: at[0] + 1], tmp_path / "killed")
    refused = await book.run(*cells(name, work), docs=DOCS)
    assert isinstance(refused.error, RunEnded)
    sentence = refused.error.sentence
    assert "2 pending events Item, the first made by split[0], do not fit the class as it is now" in sentence
    assert f"({path}: {fault}" in sentence
    assert dict(refused.ran) == {}
    same = await book.run(*cells("lang: str", work), docs=DOCS)
    assert same.error is None, same.error
    assert executed(same) == {"work": 2, "join": 1}


async def test_a_nested_class_whose_methods_changed_fits(tmp_path: Path) -> None:
    """An edit that leaves the fields of a nested class as they are refuses nothing."""
    (tmp_path / "whole").mkdir()
    book = Book(tmp_path / "whole")
    split = "return [Item(doc=doc, meta=Meta(lang=doc)) for doc in ev.docs]"
    meta = MODEL.format(name="lang: str")
    cells = (META.format(meta=meta, field="meta: Meta"), documents(split=split))
    whole = await book.run(*cells, docs=DOCS)
    at = [i for i, w in enumerate(whole.writes) if w.method == "append" and b'"s":"work"' in w.args[1]]
    book = book.killed(whole.writes[: at[0] + 1], tmp_path / "killed")
    meta += "\n    def loud(self):\n        return self.lang.upper()"
    life = await book.run(META.format(meta=meta, field="meta: Meta"), cells[1], docs=DOCS)
    assert life.error is None, life.error
    assert life.result == ["A", "B", "C"]


@pytest.mark.parametrize(
    ("context", "path"), [("Context", "DictState.metas[0]"), ("Context[Kept]", "Kept.metas[0]")]
)
async def test_what_lies_in_the_state_has_to_fit(context: str, path: str, tmp_path: Path) -> None:
    """A model that a state holds, with a class or without, is looked at where its class was edited."""
    (tmp_path / "whole").mkdir()
    book = Book(tmp_path / "whole")
    kept = "from pydantic import BaseModel\n\n{meta}\n\nclass Kept(BaseModel):\n    metas: list[Meta] = []\n"
    split = "await ctx.store.set('metas', [Meta(lang='fr')])\n" + SPLIT.format(fields="doc=doc")
    flow = documents(split=split).replace("ctx: Context,", f"ctx: {context},")
    cells = (kept.format(meta=MODEL.format(name="lang: str")), flow)
    whole = await book.run(*cells, docs=DOCS)
    assert whole.error is None, whole.error
    at = [i for i, w in enumerate(whole.writes) if w.method == "append" and b'"s":"work"' in w.args[1]]
    book = book.killed(whole.writes[: at[0] + 1], tmp_path / "killed")
    meta = MODEL.format(name="language: str = 'x'")
    refused = await book.run(kept.format(meta=meta), flow, docs=DOCS)
    assert isinstance(refused.error, RunEnded)
    assert f"does not fit the class as it is now ({path}: Meta holds 'lang'," in refused.error.sentence
    assert executed(await book.run(*cells, docs=DOCS)) == {"work": 2, "join": 1}
