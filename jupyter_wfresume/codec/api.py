"""The codec's entry points."""

from __future__ import annotations

from collections.abc import Iterator
from json import JSONDecodeError, loads
from typing import Any

from ..errors import CannotKeepError, DamagedError, StoreError
from .blobs import Blobs, Memos, NoBlobs, content_digest
from .classes import FindClass, class_ref
from .core import TAG, Decoder, Encoder, Node, Refused, dumps, type_name
from .dispatch import Dispatch

FORMAT = 1
"""Version of the nodes; a reader refuses a newer one."""

BLOB_TAGS = frozenset({"S", "B", "J"})

_DISPATCH = Dispatch()
_MEMOS = Memos()
_NO_BLOBS = NoBlobs()

MALFORMED = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, ArithmeticError)
"""What Python raises where a node is not what its tag says."""


class OpaqueEncoder(Encoder):
    """An encoder that names the type of what it cannot keep, and goes on."""

    __slots__ = ()

    def node(self, value: Any) -> Node:
        """Encode one value, or name its type."""
        nested = id(value) in self.active
        depth = len(self.chain)
        try:
            return super().node(value)
        except Exception:  # noqa: BLE001  # with ``opaque`` whatever hinders is answered by the type's name
            if not nested:
                self.active.discard(id(value))
            del self.chain[depth:]
            return {TAG: "opaque", "c": class_ref(type(value))}


def _run(encoder: Encoder, value: Any) -> Node:
    try:
        return encoder.node(value)
    except Refused as refused:
        raise refused.error() from None
    except RecursionError:
        raise CannotKeepError("", type_name(type(value)), "it is nested too deeply") from None
    except StoreError:
        raise
    except Exception as error:
        # Another thread changed a dict meanwhile, or a library's object is half closed.
        reason = f"it cannot be read ({type(error).__name__}: {error})"
        raise CannotKeepError("", type_name(type(value)), reason) from error


def encode(value: Any, blobs: Blobs, find_class: FindClass | None = None) -> Node:
    """Write a value as a tree that ``json.dumps`` takes, exact in value and type.

    Keep the order of the tree's keys: it is the order of the dicts in the value.

    Args:
        value: of any kind.
        blobs: takes what is larger than 4096 bytes.
        find_class: what ``decode`` will be given; with it, a class that is local to a
            function and that it does not know is refused now, not missed later.

    Raises:
        CannotKeepError: with the path of the first thing that cannot be kept.
    """
    return _run(Encoder(_DISPATCH, blobs, _MEMOS.of(blobs), find_class), value)


def decode(node: Node, blobs: Blobs, find_class: FindClass | None = None) -> Any:
    """Read a value back. Nothing that the data names is called; only classes of data are looked up.

    Args:
        node: what ``encode`` returned, or the same after a trip through JSON.
        blobs: the store that ``encode`` filled.
        find_class: asked first for a class, with its module and qualified name.

    Raises:
        MissingClassError: a class is not defined here.
        DamagedError: the tree or a blob is not what was written.
    """
    try:
        return Decoder(_DISPATCH, blobs, _MEMOS.of(blobs), find_class).value(node)
    except JSONDecodeError as error:
        raise DamagedError(f"a recorded value is truncated or changed: {error}") from error
    except MALFORMED as error:
        raise DamagedError(f"a recorded value is malformed ({type(error).__name__}: {error})") from error
    except RecursionError as error:
        raise DamagedError("a recorded value is nested too deeply to be read here") from error


def digest(value: Any, opaque: bool = False, dict_order: bool = True) -> str:
    """Hexadecimal digest of a value: equal values of equal types have equal digests.

    The order of a set's items does not count, and neither does the order in which attributes were
    set: a model's, a dataclass's, the dynamic fields of an event or of a state. The order of a
    dict's keys counts: code that goes over the dict sees it.

    Args:
        value: of any kind.
        opaque: put the type's name in place of what cannot be kept, instead of raising.
        dict_order: False where two orders of a dict's keys are to be one, as in the key of a side effect.

    Raises:
        CannotKeepError: with the path of the first thing that cannot be kept.
    """
    kind = OpaqueEncoder if opaque else Encoder
    encoder = kind(_DISPATCH, _NO_BLOBS, _MEMOS.of(_NO_BLOBS), canonical=True, dict_order=dict_order)
    node = _run(encoder, value)
    return content_digest(dumps(node, sort_keys=True).encode())


def references(node: Node, blobs: Blobs) -> Iterator[str]:
    """Digests of all blobs that a node needs, through blobs that hold nodes; for deleting the others."""
    if type(node) is list:
        for item in node:
            yield from references(item, blobs)
    elif type(node) is dict:
        if node.get(TAG) in BLOB_TAGS:
            yield node["h"]
            if node[TAG] == "J":
                yield from references(loads(blobs.get(node["h"])), blobs)
            return
        for item in node.values():
            yield from references(item, blobs)


def forget(blobs: Blobs) -> None:
    """Drop what is remembered about these blobs; call it after values were deleted from them."""
    _MEMOS.forget(blobs)
