"""What cannot be kept is refused with its path, its type and the reason; never kept as something else."""

from __future__ import annotations

import io
import json
import socket
import threading

import pytest
from pydantic import BaseModel, SecretBytes, SecretStr

from jupyter_wfresume.codec import MemoryBlobs, encode
from jupyter_wfresume.errors import CannotKeepError, StoreError
from tests.codec import kinds


class Client(BaseModel):
    key: SecretStr
    raw: SecretBytes = SecretBytes(b"hunter3")


def ring() -> list[object]:
    """A list that contains itself, two steps down."""
    value: list[object] = [1]
    value.append({"a": value})
    return value


def deep() -> list[object]:
    """A list nested 100,000 times."""
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    return value


def generator():
    """A generator function."""
    yield 1


CASES = [
    (lambda: 1, "", "function", "code"),
    ([0, {"a": (lambda: 1,)}], "[1]['a'][0]", "function", "code"),
    ({"key": len}, "['key']", "builtin_function_or_method", "code"),
    (kinds.Point([kinds.Plain()]), ".x[0]", "tests.codec.kinds.Plain", "no way"),
    (kinds.Pair(1, threading.Lock()), ".second", "_thread.lock", "no way"),
    (kinds.Base.model_construct(name=kinds.MyStr("x")), ".name", "tests.codec.kinds.MyStr", "no plain str"),
    ({"a": kinds.MyList()}, "['a']", "tests.codec.kinds.MyList", "no plain list"),
    (ValueError(1, socket.socket), ".args[1]", "type", "of no kind"),
    ([generator()], "[0]", "generator", "under way"),
    ([io], "[0]", "module", "module"),
    ([io.StringIO()], "[0]", "_io.StringIO", "open file"),
    ([memoryview(b"")], "[0]", "memoryview", "no way"),
    (ring(), "[1]['a']", "list", "contains itself"),
    (
        kinds.Strict(a={1: {2: {kinds.Frozen(print)}}}),
        ".a[1][2]{<Frozen>}.a",
        "builtin_function_or_method",
        "code",
    ),
    (type("Dynamic", (BaseModel,), {})(), "", "abc.Dynamic", "found by its name"),
]


@pytest.mark.parametrize(("value", "path", "type_name", "reason"), CASES)
def test_what_cannot_be_kept_is_named_with_its_path(value, path, type_name, reason):
    """Path, type and reason of the first thing that cannot be kept are in the error."""
    with pytest.raises(CannotKeepError, match=reason) as caught:
        encode(value, MemoryBlobs())
    assert caught.value.path == path
    assert caught.value.type_name.startswith(type_name)


def test_too_deep_is_refused_not_crashed():
    """A stack that overflows is a refusal with a reason."""
    with pytest.raises(CannotKeepError, match="nested too deeply"):
        encode(deep(), MemoryBlobs())


def test_a_full_stack_is_a_refusal():
    """Where the caller's own stack is nearly full, the value is refused, not half written."""

    def fill(depth: int) -> None:
        try:
            fill(depth + 1)
        except RecursionError:
            encode([[[[[[[1]]]]]]], MemoryBlobs())

    with pytest.raises((CannotKeepError, RecursionError)):
        fill(0)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (Client(key=SecretStr("hunter2")), ".key"),
        ({"a": [SecretBytes(b"hunter2")]}, "['a'][0]"),
        (SecretStr("hunter2"), ""),
    ],
)
def test_a_secret_is_refused_and_in_no_byte_written(value, path):
    """Neither the error nor any blob holds the secret's text."""
    blobs = MemoryBlobs()
    with pytest.raises(CannotKeepError, match="a secret is never written down") as caught:
        encode(["x" * 5000, value], blobs)
    assert caught.value.path == "[1]" + path
    assert "hunter" not in str(caught.value)
    assert all(b"hunter" not in data for data in blobs.data.values())


def test_attributes_on_builtin_subclasses_are_not_dropped():
    """An OrderedDict with attributes of its own would come back without them, so it is refused."""
    from collections import OrderedDict

    value = OrderedDict(a=1)
    value.note = 1  # type: ignore[attr-defined]  # possible, and lost by most serializers
    with pytest.raises(CannotKeepError, match="attributes of its own"):
        encode(value, MemoryBlobs())


def test_a_refused_value_does_not_spoil_the_next():
    """A refusal leaves nothing behind that a later encoding could trip over."""
    blobs = MemoryBlobs()
    shared = [1]
    with pytest.raises(CannotKeepError):
        encode([shared, [shared, print]], blobs)
    assert json.dumps(encode([shared, shared], blobs)) == "[[1], [1]]"


def test_a_value_that_breaks_while_it_is_read_is_refused():
    """A class whose attributes raise, or a dict that another thread changes, is a refusal with the cause."""

    class Broken(kinds.Pair):
        @property
        def __dict__(self):
            raise RuntimeError("half closed")

    with pytest.raises(CannotKeepError, match="RuntimeError: half closed"):
        encode(Broken(1), MemoryBlobs())


def test_a_failing_store_is_not_a_refusal():
    """A full disk must stop the run, not mark a value as unkeepable."""

    class Full(MemoryBlobs):
        def put(self, data: bytes) -> str:
            raise StoreError("disk full")

    with pytest.raises(StoreError, match="disk full"):
        encode("x" * 5000, Full())
