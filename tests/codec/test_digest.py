"""Digests tell values apart, and nothing else."""

from __future__ import annotations

import datetime as dt
import threading
from collections import Counter, OrderedDict, defaultdict
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_wfresume.codec import digest
from jupyter_wfresume.engine import DictState, StartEvent
from jupyter_wfresume.errors import CannotKeepError
from tests.codec import kinds
from tests.codec.test_objects import holder

WORDS = st.dictionaries(
    st.text(max_size=5) | st.integers() | st.none(), st.integers() | st.text(), max_size=6
)


@given(value=WORDS, data=st.data())
def test_the_order_of_a_dict_counts_and_that_of_a_set_does_not(value, data):
    """Permuted dicts have other digests at any depth, unless asked otherwise; permuted sets have one."""
    items = data.draw(st.permutations(list(value.items())))
    again = dict(items)
    same = list(value) == list(again)
    assert digest(set(value)) == digest(set(again))
    pairs = ((value, again), ([{"k": (value,)}], [{"k": (again,)}]), (kinds.Point(value), kinds.Point(again)))
    for one, other in (*pairs, (kinds.Sub(more=value), kinds.Sub(more=again))):
        assert (digest(one) == digest(other)) == same
        assert digest(one, dict_order=False) == digest(other, dict_order=False)


@pytest.mark.parametrize(
    "kind", [OrderedDict, Counter, lambda d: defaultdict(int, d), lambda d: pd.Series([d])]
)
def test_the_order_of_other_dicts_counts(kind):
    """Whatever kind of dict it is, and in a cell of a table."""
    assert digest(kind({"a": 1, "b": 2})) != digest(kind({"b": 2, "a": 1}))


def test_the_order_of_attributes_does_not_count():
    """A model, a dataclass, a namespace, an event and a state may get their attributes in any order."""
    first, second = kinds.Point(1), kinds.Point(1)
    first.__dict__ = dict(reversed(second.__dict__.items()))
    assert digest(first) == digest(second)
    for kind in (kinds.Open, SimpleNamespace, StartEvent, DictState):
        assert digest(kind(p=1, q={"b": 1, "a": 2})) == digest(kind(q={"b": 1, "a": 2}, p=1))
        assert digest(kind(p=1, q={"b": 1, "a": 2})) != digest(kind(p=1, q={"a": 2, "b": 1}))


def test_digests_without_dicts_or_with_sorted_ones_are_as_they_were():
    """Records of earlier versions keep their digests where no order is at stake."""
    assert digest({"a": [1, 2.5, None, "x"], "b": {3, "y"}}) == "59c22280dbb600d874e971f6acb3c4aefd1314e0"
    assert digest({"b": [1, 2.5, None, "x"], "a": {3, "y"}}, dict_order=False) == (
        "bb44d76da0303d8f3cb6a7d006e9f944d35beb98"
    )


DIFFERENT = [
    1, True, 1.0, "1", b"1", [1], (1,), {1}, frozenset({1}), {1: None}, {"1": None}, None, np.int64(1),
    np.float64(1), [[1]],
    -0.0, 0.0, 0, "", b"", [], (), set(), {}, kinds.Level.LOW, kinds.Point(1), kinds.Frozen(1),
    kinds.Pair(1), (1, None),
    kinds.Base(), kinds.Sub(), kinds.Base(name="x"), kinds.Open(b=1), kinds.Open(c=1), dt.date(2020, 1, 1),
    dt.datetime(2020, 1, 1),
    pd.Timestamp("2020"), np.array([1]), np.array([1], "i4"), np.array([[1]]), pd.Series([1]),
    pd.DataFrame({0: [1]}), ValueError(1),
    KeyError(1), int, kinds.Base, [1, 2], [2, 1], ["a" * 5000], ["b" * 5000],
]  # fmt: skip


def test_values_of_different_type_or_content_have_different_digests():
    """No two of these are one call."""
    assert len({digest(value) for value in DIFFERENT}) == len(DIFFERENT)


def test_equal_models_have_equal_digests_whatever_was_set_or_cached():
    """Which fields were given and what a cached property left behind is no part of a model's value."""
    given_, default = kinds.Base(name="base"), kinds.Base()
    assert given_ == default
    assert digest(given_) == digest(default)
    cached, fresh = holder(), holder()
    del fresh.__dict__["costly"]
    assert digest(cached) == digest(fresh)


def test_private_attributes_count():
    """An event's dynamic fields live there."""
    first, second = kinds.Holder(base=kinds.Base()), kinds.Holder(base=kinds.Base())
    second._secret = 1
    assert digest(first) != digest(second)


def test_memory_layout_does_not_count():
    """Equal arrays have equal digests in either memory order."""
    assert digest(np.ones((2, 3))) == digest(np.asfortranarray(np.ones((2, 3))))
    assert digest(np.arange(10)[::2]) == digest(np.array([0, 2, 4, 6, 8]))
    padded = np.zeros(2, np.dtype("i1,f8", align=True))
    padded.view("u1")[1] = 7
    assert digest(padded) == digest(np.zeros(2, np.dtype("i1,f8", align=True)))


def test_a_long_structured_array_counts_to_its_last_item():
    """No printed form with dots in the middle stands for the whole."""
    first, second = (np.zeros(5000, [("a", "f8", (3,))]) for _ in range(2))
    second["a"][2500, 1] = 1
    assert digest(first) != digest(second)


def test_what_cannot_be_kept_raises_or_counts_by_its_type():
    """With ``opaque`` a client counts as a client; without, it is named."""
    value = {"lock": threading.Lock(), "a": [1, {"f": print}]}
    with pytest.raises(CannotKeepError) as caught:
        digest(value)
    assert caught.value.path == "['lock']"
    assert digest(value, opaque=True) == digest({**value, "lock": threading.Lock()}, opaque=True)
    assert digest(value, opaque=True) != digest({**value, "lock": print}, opaque=True)
    assert digest(value, opaque=True) != digest({**value, "a": [2, {"f": print}]}, opaque=True)


def test_opaque_digests_survive_rings_depth_and_odd_names():
    """Nothing raises with ``opaque``."""
    ring: list[object] = [1]
    ring.append(ring)
    deep: list[object] = []
    for _ in range(500):
        deep = [deep]
    assert digest(ring, opaque=True) != digest([1, []], opaque=True)
    assert digest(deep, opaque=True)
    assert digest(kinds.Plain(), opaque=True) == digest(kinds.Plain(), opaque=True)


def test_digests_are_the_same_in_every_process():
    """A digest is written down, so its value is fixed for this format."""
    assert digest({"b": [1, 2.5, None, "x"], "a": {3, "y"}}) == "569808b919b2a6660f9a21cc17c968f472bcd162"
