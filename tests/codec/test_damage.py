"""Nodes that were changed, by accident or on purpose, raise and execute nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_wfresume.codec import MemoryBlobs, decode, encode
from jupyter_wfresume.errors import DamagedError, MissingClassError
from tests.codec import kinds

KINDS = ("m", "dc", "nt", "e", "x", "c", "url", "PIL.image")
TARGETS = (
    "os:system",
    "subprocess:Popen",
    "builtins:eval",
    "builtins:exec",
    "importlib:import_module",
    "threading:Thread",
    "socket:socket",
    "os:environ",
    "tests.codec.kinds:Plain",
    "tests.codec.kinds:Plain.__init__",
    "builtins:object.__subclasses__",
)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_name_that_is_no_class_of_the_kind_is_refused(kind, target, monkeypatch):
    """No tag can make the codec call, construct or hand out what a planted name means."""
    calls: list[object] = []
    monkeypatch.setattr("os.system", lambda *args: calls.append(args))
    monkeypatch.setattr("subprocess.Popen.__init__", lambda *args, **options: calls.append(args))
    monkeypatch.setattr("threading.Thread.start", lambda *args: calls.append(args))
    node = {
        "~": kind,
        "c": target,
        "d": {"args": ["id"]},
        "v": ["id"],
        "a": ["id"],
        "n": "id",
        "s": [1, 1],
        "b": "",
        "i": {},
        "m": "L",
    }
    with pytest.raises((DamagedError, MissingClassError)):
        decode(node, MemoryBlobs())
    assert calls == []


def test_a_class_of_another_kind_is_refused():
    """A model's node cannot make a dataclass, nor an enum's node an exception."""
    for kind, target in (
        ("m", "Point"),
        ("dc", "Base"),
        ("e", "NeedsArguments"),
        ("x", "Colour"),
        ("nt", "Frozen"),
    ):
        node = {"~": kind, "c": f"tests.codec.kinds:{target}", "d": {}, "v": [], "a": [], "n": "x"}
        with pytest.raises(DamagedError, match="no class of the recorded kind"):
            decode(node, MemoryBlobs())


def test_a_generic_origin_must_be_a_model():
    """Only pydantic's own generic models are subscripted."""
    node = {"~": "m", "c": {"o": "builtins:list", "a": [{"~": "c", "c": "builtins:int"}]}, "d": {}}
    with pytest.raises(DamagedError):
        decode(node, MemoryBlobs())


@pytest.mark.parametrize(
    "node",
    [
        {"~": "nothing"},
        {"~": 5},
        {"~": None, "a": 1},
        {"~": "t"},
        {"~": "t", "v": 5},
        {"~": "i", "v": "xyz"},
        {"~": "b", "v": "***"},
        {"~": "S", "h": "0" * 40},
        {"~": "J", "h": 7},
        {"~": "dt", "v": "yesterday"},
        {"~": "dt", "v": "2020-01-01T00:00:00", "z": [1]},
        {"~": "zi", "v": "No/Where"},
        {"~": "zi", "v": "../../etc/passwd"},
        {"~": "s", "v": [[1]]},
        {"~": "m", "c": 5, "d": {}},
        {"~": "m", "c": "tests.codec.kinds:Base", "d": 5},
        {"~": "xr", "n": 4},
        {"~": "numpy.array", "d": "|O", "s": [1], "b": {"~": "b", "v": "AAAAAAAAAAA="}},
        {"~": "numpy.array", "d": "<i8", "s": [1000000000], "b": {"~": "b", "v": "AAAAAAAAAAA="}},
        {"~": "numpy.array", "d": "<i8", "s": [1], "v": [1]},
        {"~": "numpy.scalar", "d": "|O", "b": {"~": "b", "v": "AAAAAAAAAAA="}},
        {"~": "PIL.image", "c": "PIL.Image:Image", "m": "L", "s": [9999, 9999], "b": "", "i": {}},
        {"~": "pandas.frame", "c": 5},
        {"~": "pandas.nothing"},
        {"~": "dateutil.file", "n": "/etc/passwd"},
        {"~": "ga", "k": "eval", "a": ["1"]},
    ],
    ids=str,
)  # fmt: skip
def test_a_malformed_node_is_named_as_damage(node):
    """Whatever is wrong with a node, the error is the tree's own."""
    with pytest.raises((DamagedError, MissingClassError)):
        decode(node, MemoryBlobs())


def test_a_truncated_blob_is_damage():
    """A blob that is cut in the middle is an error, not a shorter value."""
    blobs = MemoryBlobs()
    node = encode([["word"] * 2000], blobs)
    fresh = MemoryBlobs()
    fresh.data = {digest: data[: len(data) // 2] for digest, data in blobs.data.items()}
    with pytest.raises(DamagedError):
        decode(node, fresh)


def test_a_node_nested_without_end_is_damage():
    """A planted depth does not crash the kernel."""
    node: list[object] = []
    for _ in range(50_000):
        node = [node]
    with pytest.raises(DamagedError):
        decode(node, MemoryBlobs())


def read(node: object) -> str:
    """The value's type, or the text of an error of this package; any other error gets through."""
    try:
        return type(decode(node, MemoryBlobs())).__name__
    except (DamagedError, MissingClassError) as error:
        return str(error)


SAMPLE = json.dumps(
    encode(
        [
            kinds.Sub(name="n", more=(1, {2}, b"x")),
            kinds.Point(1),
            kinds.Colour.RED,
            kinds.Pair(1),
            ValueError("x"),
            {1: 2.5, "k": None},
        ],
        MemoryBlobs(),
    )
)
TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("~cdvasnpxhkzom"), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(
    tree=TREES,
    tag=st.sampled_from(
        ["m", "dc", "nt", "e", "x", "d", "dt", "td", "r", "od", "dd", "sl", "path", "uuid", "dec", "re"]
    ),
)
def test_any_tree_with_any_tag_gives_a_value_or_a_named_error(tree, tag):
    """Reading garbage ends in a value or in an error of this package."""
    node = {**(tree if isinstance(tree, dict) else {"v": tree}), "~": tag}
    assert read(node)


@given(place=st.integers(0, len(SAMPLE) - 1), char=st.sampled_from('0123456789abcxyz"[]{}:,~'))
def test_one_changed_character_gives_a_value_or_a_named_error(place, char):
    """A flipped character that is still JSON ends in a value or in an error of this package."""
    text = SAMPLE[:place] + char + SAMPLE[place + 1 :]
    try:
        node = json.loads(text)
    except ValueError:
        return
    assert read(node)
