"""Executions beside each other on the same part of the state: what one wrote is neither lost nor doubled."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reuse.book import Book, documents, executed

PREPARE = """\
await ctx.store.set('log', [])
await ctx.store.set('n', 0)
return [Item(doc=doc) for doc in ev.docs]"""
REPORT = "return StopEvent(result=[sorted(await ctx.store.get('log')), await ctx.store.get('n'), {first}])"
PAUSES = {
    "none": "",
    "before": "await asyncio.sleep(0.001 * len(ev.doc))\n",
    "between": "await asyncio.sleep(0)\n",
}
WORK = {
    "in place": "log = await ctx.store.get('log')\n{pause}log.append(ev.doc)",
    "in a block": "{pause}async with ctx.store.edit_state() as s:\n    s['log'] = [*s['log'], ev.doc]",
    "own key": "{pause}await ctx.store.set('own-' + ev.doc, 1)\n(await ctx.store.get('log')).append(ev.doc)",
    "count": "{pause}async with ctx.store.edit_state() as state:\n    state['n'] += 1",
}


@pytest.mark.parametrize("pause", PAUSES)
@pytest.mark.parametrize("work", WORK)
async def test_what_each_wrote_is_there_once(work: str, pause: str, tmp_path: Path) -> None:
    """Documents come and go, the join is edited: the state at the end is the one of a run from scratch."""
    book = Book(tmp_path)
    body = WORK[work].format(pause=PAUSES[pause]) + "\nreturn Done(doc=ev.doc, value='')"
    for first, docs in ((1, ["a", "bb", "ccc"]), (2, ["a", "bb", "ccc"]), (2, ["ccc", "a", "dd", "eeee"])):
        cells = "import asyncio", documents(body, split=PREPARE, join=REPORT.format(first=first))
        life = await book.run(*cells, docs=docs)
        logged = [] if work == "count" else sorted(docs)
        assert life.result == [logged, len(docs) if work == "count" else 0, first], (life.error, life.told)


async def test_readers_beside_a_writer(tmp_path: Path) -> None:
    """Executions that read what another one writes meanwhile are not answered with what they saw of it, once
    it writes something else."""
    book = Book(tmp_path)
    for number in (1, 2):
        body = (
            "if ev.doc == 'writer':\n"
            f"    (await ctx.store.get('log')).append({number})\n"
            "    return Done(doc='', value='')\n"
            "log = await ctx.store.get('log')\n"
            "await asyncio.sleep(0.03)\n"
            "return Done(doc='', value=repr(log))"
        )
        cells = "import asyncio", documents(body, split=PREPARE)
        life = await book.run(*cells, docs=["reader", "writer"])
        assert life.result == ["", f"[{number}]"], life.error


SAMPLES = """\
import random

class Inner(Workflow):
    @step
    async def draw(self, ev: StartEvent) -> StopEvent:
        ran("draw")
        return StopEvent(result=random.random())
"""


async def test_equal_workflows_of_a_step_are_each_wanted(tmp_path: Path) -> None:
    """A step that runs an equal workflow three times gets three results, and after an edit all of them
    again."""
    book = Book(tmp_path)
    results = []
    for sign in ("", "-"):
        draw = "drawn = [await Inner().run(doc=1) for _ in range(3)]\n"
        work = f"{draw}return Done(doc='', value=f'{sign}{{drawn}}')"
        life = await book.run(SAMPLES, documents(work), docs=["a", "a"])
        results.append(sorted(one.strip("-") for one in life.result))
    assert len({number for one in results[0] for number in eval(one)}) == 6
    assert {n for one in results[1] for n in eval(one)} == {n for one in results[0] for n in eval(one)}
    assert executed(life) == {"work": 2, "join": 1}
