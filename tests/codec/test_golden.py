"""Nodes written by every format version are read today as the same values."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import json
import pathlib
import uuid
import zoneinfo

import numpy as np
import pandas as pd
import pytest

from jupyter_wfresume.codec import FORMAT, MemoryBlobs, decode, encode
from tests.codec import kinds
from tests.codec.same import same
from tests.codec.test_objects import holder

BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
GOLDEN = pathlib.Path(__file__).parent / "golden"

VALUES = {
    "numbers": [0, -5, 2**70, 1.5, float("inf"), -0.0, 1 + 2j, decimal.Decimal("1.10"), True, None],
    "text": ["plain", "\ud800", b"\xff", bytearray(b"x"), "long " * 1000, b"z" * 5000],
    "containers": [
        (1,),
        {2},
        frozenset({3}),
        collections.deque([1], 2),
        {1: "a", None: {"b": ()}},
        {"~": 1},
        range(1, 5),
        slice(1),
    ],
    "more containers": [
        collections.OrderedDict(a=1),
        collections.Counter("aa"),
        collections.defaultdict(list, {"k": [1]}),
    ],
    "large containers": {"doc": [{"page": n, "words": ["w"] * 5} for n in range(200)]},
    "times": [
        dt.datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN, fold=1),
        dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc),
        dt.date(2024, 1, 1),
        dt.time(1, 2, 3),
        dt.timedelta(1, 2, 3),
    ],
    "names": [uuid.UUID(int=7), pathlib.PurePosixPath("a/b"), int, kinds.Base, list[int]],
    "enums": [kinds.Colour.BLUE, kinds.Word.YES, kinds.Right.READ | kinds.Right.WRITE],
    "dataclasses": [kinds.Point(1, (2,)), kinds.Frozen(1), kinds.Slotted(1), kinds.Pair(1, 2)],
    "models": [holder(), kinds.Open(a=1, b=(2,)), kinds.Root({"a": 1}), kinds.Box[int](item=1), kinds.Base()],
    "exceptions": [ValueError("a", 1), kinds.NeedsArguments(1, detail="d"), OSError(2, "no", "file")],
    "numpy": [
        np.arange(4).reshape(2, 2),
        np.float64(1.5),
        np.array([1, (2,)], dtype=object),
        np.array([(1, 2.0)], "i4,f8"),
    ],
    # Nothing here depends on what a pandas version infers: no text, zones and units spelled out.
    "pandas": [
        # Three columns in no regular step, which some versions would turn into a RangeIndex.
        pd.DataFrame(
            {
                5: pd.Categorical([5, 6], ordered=True),
                7: pd.date_range("2020", periods=2, tz=BERLIN, unit="us"),
                8: [1, 2],
            }
        ),
        pd.Series(
            [1, None], dtype="Int64", index=pd.MultiIndex.from_tuples([(5, 1), (6, 2)], names=["k", None])
        ),
        pd.Timestamp("2020-01-01", tz=BERLIN).as_unit("us"),
        pd.RangeIndex(3),
    ],
}


def write() -> None:
    """Write this format version's file; run once for a new version, never for an old one."""
    blobs = MemoryBlobs()
    nodes = {name: encode(value, blobs) for name, value in VALUES.items()}
    held = {key: data.decode() for key, data in blobs.data.items()}
    text = json.dumps({"format": FORMAT, "nodes": nodes, "blobs": held}, indent=1)
    (GOLDEN / f"format_{FORMAT}.json").write_text(text + "\n")


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
@pytest.mark.parametrize("name", VALUES)
def test_a_golden_node_is_read_as_the_value_it_was(path, name):
    """No later version may change what an old record means."""
    golden = json.loads(path.read_text())
    blobs = MemoryBlobs()
    blobs.data = {key: text.encode() for key, text in golden["blobs"].items()}
    assert same(decode(golden["nodes"][name], blobs), VALUES[name])


def test_the_format_in_use_has_a_golden_file():
    """A new version comes with its file."""
    assert (GOLDEN / f"format_{FORMAT}.json").exists()


def test_today_writes_what_the_golden_file_of_its_format_holds():
    """Nodes that change without a new version would not be read by the version before."""
    golden = json.loads((GOLDEN / f"format_{FORMAT}.json").read_text())
    blobs = MemoryBlobs()
    assert {name: encode(value, blobs) for name, value in VALUES.items()} == golden["nodes"]
