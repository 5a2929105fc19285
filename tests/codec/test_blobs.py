"""Large values are stored once, whatever holds them."""

from __future__ import annotations

import json

from jupyter_wfresume.codec import MemoryBlobs, content_digest, decode, digest, encode, forget, references
from tests.codec import kinds
from tests.codec.same import same


class CountingBlobs(MemoryBlobs):
    """Blobs that count their calls."""

    def __init__(self) -> None:
        super().__init__()
        self.puts = 0
        self.gets = 0

    def put(self, data: bytes) -> str:
        self.puts += 1
        return super().put(data)

    def get(self, digest: str) -> bytes:
        self.gets += 1
        return super().get(digest)


def test_a_document_shared_by_a_thousand_events_is_stored_and_hashed_once():
    """One megabyte in a thousand events takes one megabyte, and one call of the store."""
    blobs = CountingBlobs()
    text = "x" * 1_000_000
    nodes = [encode(kinds.Sub(name=f"n{n}", more=text), blobs) for n in range(1000)]
    assert len(blobs.data) == 1
    assert blobs.puts == 1
    assert len(json.dumps(nodes)) < 200_000
    back = [decode(node, blobs) for node in nodes]
    assert back[999].more is back[0].more
    assert blobs.gets <= 1


def test_a_large_container_below_the_root_becomes_a_blob():
    """A document made of many small parts is shared too; the root stays in its record."""
    blobs = MemoryBlobs()
    parts = [{"page": n, "text": "word " * 5} for n in range(200)]
    first, second = encode({"id": 1, "doc": parts}, blobs), encode({"id": 2, "doc": list(parts)}, blobs)
    assert len(blobs.data) == 1
    assert len(json.dumps([first, second])) < 300
    assert decode(first, blobs) == {"id": 1, "doc": parts}
    assert encode(parts, MemoryBlobs()) == parts


def test_containers_are_not_shared_between_two_readings():
    """What one step changes in place must not change what another reads."""
    blobs = MemoryBlobs()
    node = encode([list(range(3000))], blobs)
    first, second = decode(node, blobs), decode(node, blobs)
    first[0].append(-1)
    assert len(second[0]) == 3000


def test_small_values_stay_in_the_record():
    """Nothing below 4096 bytes costs a file of its own."""
    blobs = MemoryBlobs()
    encode([kinds.Sub(more="x" * 4000), b"y" * 2000, list(range(100))], blobs)
    assert blobs.data == {}


def test_a_large_value_that_was_freed_is_not_mistaken_for_another():
    """An identity that is used again by another string does not give the first one's content."""
    blobs = MemoryBlobs()
    for n in range(2000):
        text = f"{n:05}" * 2000
        assert decode(encode(text, blobs), blobs) == text


def test_equal_strings_at_two_places_are_stored_once():
    """The content decides, not the object."""
    blobs = MemoryBlobs()
    encode(["".join(["x"] * 5000), "".join(["x"] * 5000)], blobs)
    assert len(blobs.data) == 1


def test_references_name_every_blob_that_a_value_needs():
    """With these alone, the value can be read: what is not named may be deleted."""
    blobs = MemoryBlobs()
    value = [kinds.Sub(more=["y" * 5000, b"z" * 5000, [1] * 5000]), ("q" * 5000,), {1: "w" * 6000}]
    node = encode(value, blobs)
    encode("unrelated" * 1000, blobs)
    needed = set(references(node, blobs))
    assert needed < set(blobs.data)
    fresh = MemoryBlobs()
    fresh.data = {key: blobs.data[key] for key in needed}
    assert same(decode(node, fresh), value)


def test_after_forget_a_deleted_value_is_written_again():
    """What a store has deleted must not be believed to be there."""
    blobs = MemoryBlobs()
    text = "x" * 5000
    encode(text, blobs)
    blobs.data.clear()
    forget(blobs)
    node = encode(text, blobs)
    assert blobs.data == {content_digest(text.encode()): text.encode()}
    assert decode(node, blobs) == text


def test_blobs_that_cannot_be_remembered_work():
    """A store needs nothing but put and get."""

    class Unhashable(MemoryBlobs):
        __hash__ = None  # type: ignore[assignment]  # as a dataclass with eq has it

    blobs = Unhashable()
    assert decode(encode("x" * 5000, blobs), blobs) == "x" * 5000


def test_digesting_a_large_text_again_is_cheap_in_memory():
    """Digests keep nothing of what they hash but a bounded memo."""
    text = "x" * 1_000_000
    assert digest([text]) == digest(["".join(list(text))])
