"""Whatever is generated comes back the same, through JSON and through blobs."""

from __future__ import annotations

import collections
import datetime as dt

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as stn

from jupyter_wfresume.codec import digest
from tests.codec import kinds
from tests.codec.same import same
from tests.codec.trip import trip

ZONES = st.none() | st.timezones() | st.just(dt.timezone.utc)
TEXT = st.text(st.characters(codec="utf-8") | st.characters(categories=["Cs"]), max_size=12)
HASHABLE_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | TEXT
    | st.binary(max_size=12)
    | st.decimals(allow_nan=False)
    | st.fractions()
    | st.uuids()
    | st.dates()
    | st.times()
    | st.timedeltas()
    | st.datetimes(timezones=ZONES)
    | st.sampled_from([*kinds.Colour, *kinds.Word, *kinds.Level, kinds.Bits.A | kinds.Bits.B])
)
SCALARS = (
    HASHABLE_SCALARS
    | st.floats()
    | st.complex_numbers()
    | st.binary(max_size=12).map(bytearray)
    | st.text(min_size=1, max_size=3).map(lambda part: part * 5000)
    | stn.arrays(stn.scalar_dtypes(), stn.array_shapes(max_side=3))
    | st.sampled_from([int, kinds.Base, kinds.Box[int], range(3), slice(1)])
)
KEYS = st.recursive(
    HASHABLE_SCALARS,
    lambda inner: (
        st.tuples(inner, inner) | st.frozensets(inner, max_size=3) | st.builds(kinds.Pair, inner, inner)
    ),
    max_leaves=3,
)


def containers(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """Every kind of container around the inner values."""
    return (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.sets(KEYS, max_size=4)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.dictionaries(TEXT, inner, max_size=4)
        | st.lists(inner, max_size=3).map(lambda items: collections.deque(items, 5))
        | st.dictionaries(KEYS, inner, max_size=3).map(collections.OrderedDict)
        | st.builds(kinds.Point, inner, inner)
        | st.builds(kinds.Pair, inner, inner)
        | st.builds(lambda more: kinds.Sub(more=more), inner)
        | st.builds(lambda more: kinds.Open.model_construct(**more), st.dictionaries(st.just("zz"), inner))
        | st.lists(inner, max_size=3).map(lambda items: ValueError(*items))
    )


VALUES = st.recursive(SCALARS, containers, max_leaves=12)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(value=VALUES)
def test_any_value_comes_back_the_same(value):
    """Decode after encode is the identity, in type and value, and so is the digest."""
    back = trip(value)
    assert same(back, value)
    assert digest(back) == digest(value)
