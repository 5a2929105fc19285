"""Random edits of documents, of a helper, a constant and the join: right results, and no execution too
many."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_wfresume.session import forecast
from tests.reuse.book import Book, check_plan, documents, executed


@dataclass(frozen=True)
class Version:
    """The notebook at one time.

    Args:
        docs: the documents.
        helper: version of the helper that works on one.
        constant: what the helper adds.
        join: version of the joining step.
        comment: changes nothing.
    """

    docs: tuple[str, ...] = ("a", "b", "a")
    helper: int = 0
    constant: int = 0
    join: int = 0
    comment: int = 0

    def cells(self) -> tuple[str, ...]:
        """The notebook's cells."""
        join = (
            "return StopEvent(result=sorted(one.value for one in ev))",
            "return StopEvent(result=[len(ev), *sorted(one.value for one in ev)])",
        )[self.join]
        return (
            f"# comment {self.comment}\nSUFFIX = {self.constant}\n",
            f"def helper(doc):\n    return f'{{doc}}-{self.helper}-{{SUFFIX}}'\n",
            documents("return Done(doc=ev.doc, value=helper(ev.doc))", join=join),
        )

    def value(self, doc: str) -> str:
        """What comes of a document."""
        return f"{doc}-{self.helper}-{self.constant}"

    def result(self) -> list[object]:
        """The run's result."""
        values: list[object] = [*sorted(map(self.value, self.docs))]
        return [len(values), *values] if self.join else values

    def needed(self) -> Counter[tuple[object, ...]]:
        """The executions of a run from scratch, by all that their outcome depends on."""
        work = Counter(("work", self.helper, self.constant, doc) for doc in self.docs)
        join = ("join", self.join, *sorted((doc, self.value(doc)) for doc in self.docs))
        return Counter({("split", *self.docs): 1, **work, join: 1})


DOCS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=6).map(tuple)
EDIT = st.one_of(
    st.builds(lambda docs: {"docs": docs}, DOCS),
    st.builds(lambda n: {"helper": n}, st.integers(0, 1)),
    st.builds(lambda n: {"constant": n}, st.integers(0, 1)),
    st.builds(lambda n: {"join": n}, st.integers(0, 1)),
    st.builds(lambda n: {"comment": n}, st.integers(0, 9)),
)


@settings(max_examples=25)
@given(edits=st.lists(EDIT, min_size=1, max_size=6), wide=st.booleans())
def test_what_runs_is_what_must(edits: list[dict[str, object]], wide: bool) -> None:
    """After any edits the result is the one of a run from scratch; each execution is paid once, as often as
    equal
    ones are wanted at one time; and the plan had said so."""

    async def check() -> None:
        with tempfile.TemporaryDirectory() as folder:
            book, version, paid = Book(Path(folder)), Version(), Counter[tuple[object, ...]]()
            for edit in [{}, *edits]:
                version = replace(version, **edit)
                life = await book.run(*version.cells(), docs=list(version.docs))
                missing = version.needed() - paid
                paid |= version.needed()
                counted = Counter[object]()
                for key, count in missing.items():
                    counted[key[0]] += count
                assert life.result == version.result(), (version, life.told)
                assert executed(life) == counted, (version, life.told)
                check_plan(life)

    with pytest.MonkeyPatch.context() as patch:
        if wide:
            patch.setattr(forecast, "WIDE", -1)
        asyncio.run(check())
