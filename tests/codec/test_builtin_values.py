"""Values of Python and its standard library come back the same."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import fractions
import pathlib
import re
import sys
import types
import typing
import uuid
import zoneinfo

import pytest

from jupyter_wfresume.codec import MemoryBlobs, decode
from jupyter_wfresume.errors import DamagedError
from tests.codec.same import same
from tests.codec.trip import dump, trip

BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")

VALUES = [
    None, True, False, 0, -1, 2**63 - 1, 2**63, -(2**63), 1 << 20000,
    0.0, -0.0, 1.5, 1e308, 5e-324, float("nan"), -float("nan"), float("inf"), float("-inf"),
    "", "text", "ünï🎉", "\ud800", "a\ud83d\ude00b", "\x00", "x" * 5000, "ü" * 3000, "\ud800" * 5000,
    b"", b"\xff\x00", b"y" * 5000, bytearray(b"\xff"), bytearray(b"z" * 5000),
    [], [1, [2, [3]]], (), (1,), ((), [()]), {1, "a", (2, 3)}, set(), frozenset({1, frozenset()}),
    {}, {"a": 1, "b": {"c": []}}, {"~": 1}, {"~": {"~": "m"}},
    {1: "a", "1": "b", None: 2, (1, 2): 3, 1.5: 4, b"k": 5},
    {True: 1}, {float("inf"): 1}, {"\ud800": 1}, {frozenset({1}): 1}, {"z": 1, "a": 2},
    collections.deque([1, 2]), collections.deque([1], maxlen=3),
    collections.OrderedDict(b=1, a=2), collections.Counter("abba"), collections.Counter(a=-1),
    collections.defaultdict(list, {1: [2]}), collections.defaultdict(None, a=1),
    types.SimpleNamespace(a=(1,)),
    1 + 2j, complex("nan"), complex(-0.0, -0.0), range(3), range(10, 0, -2), range(2**70),
    slice(1, None, (2,)),
    ..., NotImplemented,
    dt.datetime(2024, 2, 29, 1, 2, 3, 4), dt.datetime.min, dt.datetime.max,
    dt.datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN, fold=1), dt.datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN),
    dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc),
    dt.datetime(2024, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=-3), "BRT")),
    dt.date(1, 1, 1), dt.time(1, 2, 3, 4, tzinfo=dt.timezone.utc), dt.time(1, fold=1), dt.time.max,
    dt.timedelta(days=-1, microseconds=1), dt.timedelta.max, dt.timezone.utc,
    dt.timezone(dt.timedelta(seconds=1)), BERLIN,
    decimal.Decimal("1.10"), decimal.Decimal("NaN123"), decimal.Decimal("-sNaN"), decimal.Decimal("-0E+5"),
    decimal.Decimal("1." + "3" * 60), fractions.Fraction(1, 3),
    uuid.UUID(int=5), uuid.UUID(int=5, is_safe=uuid.SafeUUID.safe),
    pathlib.Path("a/b"), pathlib.PurePosixPath("/x"), pathlib.PureWindowsPath("C:\\x"),
    pathlib.Path("bad\udcff"),
    re.compile("a+", re.IGNORECASE), re.compile(b"x"),
    int, str, type(None), list, dt.datetime, Exception, object, list[int], dict[str, list[int]],
    tuple[int, ...],
    typing.Optional[int], typing.Union[int, str],  # noqa: UP007, UP045  # the old forms are values of their own
    list[int], typing.Literal["a", 1], typing.Any, int | None,
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_comes_back_with_its_exact_type_and_content(value):
    """Every kind of plain value is equal, in type and content, after a trip through JSON."""
    assert same(trip(value), value)
    assert same(trip([value])[0], value)


def test_the_order_of_a_dict_is_kept_among_mixed_keys():
    """A dict's order is part of the value, whatever kinds its keys are."""
    value = {"b": 1, 3: 2, "a": 3, None: 4}
    assert list(trip(value)) == ["b", 3, "a", None]


def test_utc_stays_the_one_utc_object():
    """``timezone.utc`` is compared by identity in the wild, so it comes back as itself."""
    assert trip(dt.timezone.utc) is dt.timezone.utc


def test_one_zone_is_one_object():
    """Arithmetic between times of one zone depends on the identity of the zone."""
    first, second = trip([dt.datetime(2024, 1, 1, tzinfo=BERLIN)] * 2)
    assert first.tzinfo is second.tzinfo is BERLIN


def test_json_of_a_node_has_no_bare_nan():
    """Strict JSON readers must be able to read a node."""
    assert "NaN" not in dump([float("nan"), float("inf")])


def test_set_nodes_do_not_depend_on_the_order_of_iteration():
    """Equal sets give equal text, so that equal values are stored once."""
    words = [f"w{n}" for n in range(50)]
    assert dump(set(words)) == dump({*reversed(words)})


def test_a_path_that_this_system_cannot_have_is_named():
    """A WindowsPath read on another system is refused with its kind, not turned into text."""
    other = "WindowsPath" if sys.platform != "win32" else "PosixPath"
    with pytest.raises(DamagedError, match=other):
        decode({"~": "path", "k": other, "v": "x"}, MemoryBlobs())
