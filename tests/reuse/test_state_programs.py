"""Steps that read and write the state in any way: what is answered from the record is what would be
computed."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reuse.book import Book

KEYS = st.sampled_from(["a", "b", "c.x", "c.y", "c", "l", "l.0"])
NUMBERS = st.integers(0, 2)


def _op(kind: str, key: str, number: int) -> str:
    plain = key.split(".")[0]
    return {
        "get": f"seen.append(repr(await ctx.store.get({key!r}, 'none')))",
        "tried": f"try: seen.append(repr(await ctx.store.get({key!r})))\n"
        "except ValueError: seen.append('no')",
        "set": f"await ctx.store.set({plain!r}, {_value(plain, number)})",
        "below": f"await ctx.store.set('c.x', {number})",
        "from": f"await ctx.store.set({plain!r}, {_value(plain, 'ev.n')})",
        "append": f"(await ctx.store.get('l', [])).append({number})",
        "put": f"(await ctx.store.get('c', {{}}))['y'] = {number}",
        "edit": f"async with ctx.store.edit_state() as s:\n    s[{plain!r}] = {_value(plain, number)}",
        "count": "async with ctx.store.edit_state() as s:\n    s['a'] = s.get('a', 0) + 1",
        "drop": f"async with ctx.store.edit_state() as s:\n    s._data.pop({plain!r}, None)",
        "whole": "seen.append(repr(dict((await ctx.store.get_state()).items())))",
        "over": f"s = await ctx.store.get_state()\ns['b'] = {number}\nawait ctx.store.set_state(s)",
        "clear": "await ctx.store.clear()",
    }[kind]


def _value(key: str, number: object) -> str:
    return {"c": f"{{'x': {number}, 'y': 7}}", "l": f"[{number}]"}.get(key, str(number))


KINDS = (
    "get", "tried", "set", "below", "from", "append", "put", "edit", "count", "drop", "whole", "over",
    "clear",
)  # fmt: skip
OPS = st.builds(_op, st.sampled_from(KINDS), KEYS, NUMBERS)
STEPS = st.lists(st.lists(OPS, max_size=3), min_size=3, max_size=3)


def cell(steps: list[list[str]]) -> str:
    """Three steps, one after the other, that say what they saw."""
    bodies = ["\n".join("        " + line for op in ops for line in op.splitlines()) for ops in steps]
    return f"""\
class One(Event):
    n: int
    seen: list

class Two(Event):
    n: int
    seen: list

class Flow(Workflow):
    @step
    async def first(self, ctx: Context, ev: StartEvent) -> One:
        ran("first")
        seen = []
{bodies[0]}
        return One(n=ev.m, seen=seen)

    @step
    async def second(self, ctx: Context, ev: One) -> Two:
        ran("second")
        seen = []
{bodies[1]}
        return Two(n=0, seen=[*ev.seen, seen])

    @step
    async def third(self, ctx: Context, ev: Two) -> StopEvent:
        ran("third")
        seen = []
{bodies[2]}
        whole = dict((await ctx.store.get_state()).items())
        return StopEvent(result=[*ev.seen, seen, {{key: whole[key] for key in sorted(whole)}}])
"""


@settings(max_examples=25)
@given(first=STEPS, edits=st.lists(st.tuples(st.integers(0, 2), st.lists(OPS, max_size=3)), max_size=2))
def test_no_stale_state(first: list[list[str]], edits: list[tuple[int, list[str]]]) -> None:
    """Whatever steps do with the state, and however they and the input are edited, a run that is answered
    from
    earlier ones ends with the result and the state of a run from scratch."""

    async def check() -> None:
        with tempfile.TemporaryDirectory() as folder:
            book = Book(Path(folder))
            versions = [first]
            for at, ops in edits:
                versions.append([ops if i == at else old for i, old in enumerate(versions[-1])])
            for steps in versions:
                for n, m in ((0, 0), (1, 0), (0, 1)):
                    life = await book.run(cell(steps), n=n, m=m)
                    whole = await book.scratch(cell(steps), n=n, m=m)
                    said = (steps, n, m, life.told, dict(life.ran))
                    assert (life.result, type(life.error)) == (whole.result, type(whole.error)), said

    asyncio.run(check())
