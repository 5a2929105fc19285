"""Inputs compare by value, as they were when they arrived."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.reuse.book import Book, executed, plan_of

CELL = """\
class Part(BaseModel):
    name: str
    tags: set[str]

class Many(Event):
    value: Any

class Flow(Workflow):
    @step
    async def split(self, ev: StartEvent) -> Many:
        ran("split")
        return Many(value=ev.value)

    @step
    async def work(self, ev: Many) -> StopEvent:
        ran("work")
        {body}
"""
HEAD = "from typing import Any\nfrom pydantic import BaseModel\n"


@pytest.fixture
def book(tmp_path: Path) -> Book:
    """A notebook that was never run."""
    return Book(tmp_path)


def cell(body: str = "return StopEvent(result=1)") -> str:
    """The workflow whose second step has this body."""
    return HEAD + CELL.format(body=body)


async def test_a_table_read_again_is_the_same_call(book: Book) -> None:
    """A DataFrame that is read again from the same file makes the same call; one value that differs
    another."""
    file = book.folder / "table.csv"
    pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", None], "c": [0.1, 0.2, float("nan")]}).to_csv(file)
    assert executed(await book.run(cell(), value=pd.read_csv(file))) == {"split": 1, "work": 1}
    assert executed(await book.run(cell(), value=pd.read_csv(file))) == {}
    changed = pd.read_csv(file)
    changed.loc[1, "c"] = 0.25
    assert executed(await book.run(cell(), value=changed)) == {"split": 1, "work": 1}


@pytest.mark.parametrize(
    ("first", "same", "other"),
    [
        ({"b", "a", "c"}, {"c", "a", "b"}, {"a", "b"}),
        ({"x": 1, "y": [2]}, {"x": 1, "y": [2]}, {"y": [2], "x": 1}),
        ([{"t": {1: "a", 2: "b"}}], [{"t": {1: "a", 2: "b"}}], [{"t": {2: "b", 1: "a"}}]),
        (Counter("ab"), Counter("ab"), Counter("ba")),
        (np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(3, 2)),
        (np.arange(3), np.array([0, 1, 2]), np.array([0.0, 1.0, 2.0])),
        (
            [1, (2, {"k": frozenset("ab")})],
            [1, (2, {"k": frozenset("ba")})],
            [1, [2, {"k": frozenset("ab")}]],
        ),
        (float("nan"), float("nan"), 0.0),
        ({1: "a", "1": "b"}, {1: "a", "1": "b"}, {1: "b", "1": "a"}),
    ],
)
async def test_equal_values_are_equal_inputs(first: Any, same: Any, other: Any, book: Book) -> None:
    """The order of a set is no difference; that of a dict, another type, shape or value is one."""
    await book.run(cell(), value=first)
    assert executed(await book.run(cell(), value=same)) == {}
    assert executed(await book.run(cell(), value=other)) == {"split": 1, "work": 1}


async def test_the_order_of_the_call_is_none_of_the_input(book: Book) -> None:
    """Fields of the start event may be given in any order, also where one cannot be kept."""
    kernel = book.kernel(cell())
    for other in (1, len):
        await book.body(kernel, lambda one=other: kernel.Flow(timeout=None).run(value=1, other=one))
        again = await book.body(kernel, lambda one=other: kernel.Flow(timeout=None).run(other=one, value=1))
        assert executed(again) == {}


async def test_models_compare_by_their_fields(book: Book) -> None:
    """A model of the user's in an event, made anew in a new kernel, is an equal input."""
    counted = []
    for name, tags in (("n", ["a", "b"]), ("n", ["b", "a"]), ("n", ["b"])):
        kernel = book.kernel(cell())
        value = {"parts": [kernel.Part(name=name, tags=tags)]}
        counted.append(dict(executed(await book.again(kernel, value=value))))
    assert counted == [{"split": 1, "work": 1}, {}, {"split": 1, "work": 1}]


async def test_what_cannot_be_compared_runs(book: Book) -> None:
    """What takes or makes an event that cannot be kept is executed again, and the plan says why."""
    split = cell().replace("value=ev.value)", "value=len)")
    edited = split.replace("result=1", "result=2")
    assert executed(await book.run(split, value=1)) == {"split": 1, "work": 1}
    again = await book.run(edited, value=1)
    assert executed(again) == {"split": 1, "work": 1}
    assert "made what could not be kept" in plan_of(again)["split"]


CHANGES = """\
class Flow(Workflow):
    @step
    async def split(self, ev: StartEvent) -> list[Many]:
        ran("split")
        return [Many(value=[n]) for n in ev.ns]

    @step
    async def work(self, ev: Many) -> Done:
        ran("work")
        ev.value.append({more})
        return Done(doc="", value=repr(ev.value))

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        ran("join")
        return StopEvent(result=sorted(one.value for one in ev))
"""
MANY = "from typing import Any\nclass Many(Event):\n    value: Any\n"


async def test_an_input_that_its_step_changes(book: Book) -> None:
    """A step that changes its input in place is compared by what arrived, and gives what a run from scratch
    gives."""
    for more, ns in (("1", [1, 2]), ("1", [1, 2, 3]), ("2", [1, 2, 3]), ("1", [3, 1])):
        life = await book.run(MANY, CHANGES.format(more=more), ns=ns)
        assert life.result == (await book.scratch(MANY, CHANGES.format(more=more), ns=ns)).result
        assert executed(life)["work"] <= len(ns)


SHARED = """\
import asyncio
class Flow(Workflow):
    @step
    async def split(self, ev: StartEvent) -> Many:
        ran("split")
        return Many(value=[0])

    @step
    async def a_marks(self, ev: Many) -> None:
        ran("a_marks")
        {mark}

    @step
    async def b_reads(self, ev: Many) -> Done:
        ran("b_reads")
        {wait}
        return Done(doc="", value=repr(ev.value))

    @step
    async def join(self, ev: Done) -> StopEvent:
        ran("join")
        return StopEvent(result=ev.value)
"""


@pytest.mark.parametrize("wait", ["pass", "await asyncio.sleep(0.05)"])
@pytest.mark.parametrize("mark", ["ev.value.append(1)", "await asyncio.sleep(0.02); ev.value.append(1)"])
async def test_an_event_that_another_step_changes(mark: str, wait: str, book: Book) -> None:
    """What a step made of an event that another step had changed in place is no answer once the other step
    leaves it alone."""
    await book.run(MANY, SHARED.format(mark=mark, wait=wait))
    again = await book.run(MANY, SHARED.format(mark="pass", wait=wait))
    assert again.result == "[0]"


async def test_one_list_in_many_events(book: Book) -> None:
    """Events that share a list which one execution changes: the others are not answered from what they made
    of
    the change once it is gone."""
    shared = CHANGES.replace("Many(value=[n])", "Many(value=one)").replace(
        "return [Many", "one = [0]\n        return [Many"
    )
    await book.run(MANY, shared.format(more="1"), ns=[1, 2, 3])
    quiet = shared.replace("ev.value.append({more})", "pass")
    again = await book.run(MANY, quiet, ns=[1, 2, 3])
    assert again.result == (await book.scratch(MANY, quiet, ns=[1, 2, 3])).result == ["[0]"] * 3


async def test_an_event_that_another_step_changed_before_a_restart(book: Book) -> None:
    """The same, where the step that reads it ran in a later life than the one that had changed it."""
    flow = SHARED.format(mark="ev.value.append(1)", wait="await asyncio.sleep(0.05); {fails}")
    first = await book.run(MANY, flow.format(fails="raise ValueError('not yet')"))
    assert isinstance(first.error, ValueError)
    assert (await book.run(MANY, flow.format(fails="pass"))).result == "[0, 1]"
    again = await book.run(MANY, SHARED.format(mark="pass", wait="await asyncio.sleep(0.05); pass"))
    assert again.result == "[0]"
