"""Objects of Python's own and of numpy's count by what they hold, and asking them changes nothing."""

from __future__ import annotations

import array
import collections
import functools
import io
import itertools
import operator
import random
import struct
import threading
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jupyter_wfresume.fingerprint import by_type_only, changes, is_mutable
from tests.fingerprint.cells import codes as codes_of
from tests.fingerprint.cells import flow, notebook, one

USE = flow("return StopEvent(result=VALUE)")
LAMBDAS = notebook("first = lambda x: x + 1\nother = lambda x: x + 2\n")

MADE: dict[str, tuple[Callable[[Any], Any], Any, Any]] = {
    "a factory": (lambda f: collections.defaultdict(f), LAMBDAS.first, LAMBDAS.other),
    "itemgetter": (operator.itemgetter, 0, 1),
    "attrgetter": (operator.attrgetter, "real", "imag"),
    "methodcaller": (lambda name: operator.methodcaller(name, 1, k=2), "upper", "lower"),
    "a text's method": (lambda text: text.format, "one {}", "two {}"),
    "a dict's method": (lambda held: {"a": held}.get, 1, 2),
    "a wrapped method": (lambda held: held.__len__, "a", "bc"),
    "vectorize": (np.vectorize, LAMBDAS.first, LAMBDAS.other),
    "array": (lambda n: array.array("i", [n]), 1, 2),
    "a proxy": (lambda n: types.MappingProxyType({"a": n}), 1, 2),
    "a proxy's order": (lambda keys: types.MappingProxyType(dict.fromkeys(keys)), "ab", "ba"),
    "text in memory": (io.StringIO, "a", "b"),
    "bytes in memory": (io.BytesIO, b"a", b"b"),
    "memoryview": (memoryview, b"a", b"b"),
    "an ordered dict": (collections.OrderedDict.fromkeys, "ab", "ba"),
    "a counter": (lambda text: collections.Counter(text), "ab", "ba"),
    "random": (random.Random, 1, 2),
    "numpy's random": (np.random.default_rng, 1, 2),
    "numpy's old random": (np.random.RandomState, 1, 2),
    "an iterator": (lambda n: iter([n]), 1, 2),
    "itertools": (itertools.count, 1, 2),
    "a view": (lambda n: {n: 1}.keys(), 1, 2),
    "struct": (struct.Struct, "i", "f"),
    "code": (lambda text: compile(text, "", "eval"), "1", "2"),
    "an array of functions": (lambda f: np.array([f], dtype=object), LAMBDAS.first, LAMBDAS.other),
    "a partial's order": (lambda names: functools.partial(dict, **dict.fromkeys(names)), "ab", "ba"),
}


@pytest.mark.parametrize(("make", "first", "other"), MADE.values(), ids=MADE)
def test_it_counts_by_what_it_holds(make: Callable[[Any], Any], first: Any, other: Any) -> None:
    """Made anew of the same it is the same, made of something else it is seen, and nothing is opaque."""
    before = one(USE, VALUE=make(first))
    assert before.opaque == ()
    assert before.parts == one(USE, VALUE=make(first)).parts
    assert before.digest != one(USE, VALUE=make(other)).digest


def test_asking_consumes_nothing() -> None:
    """An iterator gives all it had after it was looked at, and a generator is not started."""
    started: list[int] = []
    generator = (started.append(n) for n in (1, 2))
    values = {"list": iter([1, 2]), "zip": zip([1], [2], strict=False), "chain": itertools.chain([1, 2])}
    for value in (*values.values(), generator):
        one(USE, VALUE=value)
    assert [list(value) for value in values.values()] == [[1, 2], [(1, 2)], [1, 2]]
    assert started == []
    assert one(USE, VALUE=generator).opaque == ("VALUE (generator)",)


def test_a_third_partys_object_is_not_asked() -> None:
    """Only Python's and numpy's own types are asked how they would be copied: another may connect then."""
    asked: list[Any] = []
    client = type("Client", (), {"__reduce_ex__": lambda self, protocol: asked.append(protocol)})
    for module in ("pydantic.main", "json.tool", "builtins.x"):
        client.__module__ = module
        found = one(USE, VALUE=client())
        assert by_type_only(found.parts) == ["VALUE (Client)"]
    assert asked == []


def test_what_is_at_work_counts_by_its_type() -> None:
    """A lock is no value: one that is held is no edit."""
    free, held = threading.Lock(), threading.Lock()
    with held:
        assert one(USE, VALUE=free).parts == one(USE, VALUE=held).parts


def test_a_function_of_a_hidden_generator_is_a_function() -> None:
    """``random.choice`` and ``numpy.random.rand`` are methods of generators that are seeded anew in each
    kernel: that is no edit."""
    for value in (random.choice, random.random, np.random.rand):
        before = one(USE, VALUE=value)
        value([1]) if value is random.choice else value()
        assert before.parts == one(USE, VALUE=value).parts
        assert before.opaque == ()
    own = "class Box:\n    def get(self): return {n}\nbox = Box()\nget = box.get\n"
    use = flow("return StopEvent(result=get())")
    assert one(own.format(n=1), use).digest != one(own.format(n=2), use).digest


def test_what_can_move_is_named_so() -> None:
    """A run may advance a generator or fill a stream: the part's name tells that it could."""
    values = (random.Random(1), np.random.default_rng(1), io.StringIO(), iter([1]), [].append)
    for value in values:
        assert any(is_mutable(part) for part in one(USE, VALUE=value).parts)


MEMBERS = """
import functools
class Point:
    __match_args__ = ("x", "y")
    def scaled(self, by, plus=0): return by
    twice = functools.partialmethod(scaled, 2, plus=1)
def helper(): return 1
helper.weight = 1
class Flow(Workflow):
    def sized(self, by): return by
    half = functools.partialmethod(sized, 5)
    @step
    async def work(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=(Point(), helper(), helper.weight, self.half()))
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('("x", "y")', '("y", "x")', "class Point differs"),
        ("(scaled, 2, plus=1)", "(scaled, 3, plus=1)", "class attribute Point.twice (tuple) differs"),
        ("(scaled, 2, plus=1)", "(scaled, 2, plus=2)", "class attribute Point.twice (tuple) differs"),
        ("helper.weight = 1", "helper.weight = 2", "attribute helper.weight differs"),
        ("(sized, 5)", "(sized, 6)", "class attribute half (tuple) differs"),
    ],
)
def test_what_hangs_on_classes_and_functions(old: str, new: str, said: str) -> None:
    """What ``match`` goes by, what a partial method is given, and attributes of functions count."""
    before = one(MEMBERS)
    assert before.parts == one(MEMBERS).parts
    assert changes(before.parts, one(MEMBERS.replace(old, new)).parts) == [said]


def test_a_functions_attribute_may_be_set_by_a_run() -> None:
    """A count of calls that a helper keeps on itself is no edit when a run counts: its name says so."""
    parts = one(MEMBERS).parts
    assert is_mutable("attribute helper.weight")
    assert "attribute helper.weight" in parts
    assert not any("_step_config" in part for part in parts)


def test_generated_match_args_add_nothing() -> None:
    """Those of a dataclass and of a named tuple follow from the fields."""
    cell = "import dataclasses\n{deco}\nclass Point:\n    {more}\n    x: int = 1\n"
    use = flow("return StopEvent(result=Point())")
    made = one(cell.format(deco="@dataclasses.dataclass", more=""), use)
    said = one(cell.format(deco="@dataclasses.dataclass", more='__match_args__ = ("x",)'), use)
    other = one(cell.format(deco="@dataclasses.dataclass", more="__match_args__ = ()"), use)
    assert made.parts == said.parts != other.parts


def test_an_attribute_that_is_a_generator() -> None:
    """A seeded generator on the instance counts by its seed."""
    space = notebook(
        "from workflows import Workflow, step\nfrom workflows.events import StartEvent, StopEvent\n",
        flow("return StopEvent(result=self.rng.random())"),
    )
    found = []
    for seed in (1, 1, 2):
        made = space.Flow()
        made.rng = np.random.default_rng(seed)
        found.append(codes_of(space, made)["work"].digest)
    assert found[0] == found[1] != found[2]
