"""Builtin containers, each with its exact type and order."""

from __future__ import annotations

import json
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .core import TAG, DecodeFn, EncodeFn, Node, Refused, dumps

if TYPE_CHECKING:
    from .core import Decoder, Encoder


def encode_items(enc: Encoder, value: Iterable[Any]) -> list[Node]:
    """Nodes of the items; a refused one is named by its index."""
    nodes: list[Node] = []
    node, add = enc.node, nodes.append
    try:
        for item in value:
            add(node(item))
    except Refused as refused:
        refused.at(f"[{len(nodes)}]")
        raise
    return nodes


def encode_list(enc: Encoder, value: list[Any]) -> Node:
    """A list."""
    before = enc.enter(value)
    return enc.leave(value, before, encode_items(enc, value))


def encode_tuple(enc: Encoder, value: tuple[Any, ...]) -> Node:
    """A tuple."""
    before = enc.enter(value)
    return enc.leave(value, before, {TAG: "t", "v": encode_items(enc, value)})


def decode_tuple(dec: Decoder, node: dict[str, Any]) -> tuple[Any, ...]:
    """A tuple."""
    return tuple(dec.values(node["v"]))


def encode_set(enc: Encoder, value: set[Any] | frozenset[Any]) -> Node:
    """A set or frozenset, its items in one order whatever the hash seed."""
    before = enc.enter(value)
    nodes: list[Node] = []
    for item in value:
        nodes.append(enc.item(item, f"{{{short(item)}}}"))
    nodes.sort(key=dumps)
    return enc.leave(value, before, {TAG: "s" if type(value) is set else "fs", "v": nodes})


def decode_set(dec: Decoder, node: dict[str, Any]) -> set[Any]:
    """A set."""
    return set(dec.values(node["v"]))


def decode_frozenset(dec: Decoder, node: dict[str, Any]) -> frozenset[Any]:
    """A frozenset."""
    return frozenset(dec.values(node["v"]))


def encode_deque(enc: Encoder, value: deque[Any]) -> Node:
    """A deque and its bound."""
    before = enc.enter(value)
    node: dict[str, Any] = {TAG: "dq", "v": encode_items(enc, value)}
    if value.maxlen is not None:
        node["m"] = value.maxlen
    return enc.leave(value, before, node)


def decode_deque(dec: Decoder, node: dict[str, Any]) -> deque[Any]:
    """A deque."""
    return deque(dec.values(node["v"]), node.get("m"))


def short(key: Any) -> str:
    """A key as shown in a path, without calling user code."""
    if type(key) in (str, int, float, bool, bytes, type(None)):
        text = repr(key)
        return text if len(text) <= 40 else text[:37] + "..."
    return f"<{type(key).__name__}>"


def encode_table(enc: Encoder, value: dict[str, Any], prefix: str = ".") -> dict[str, Node]:
    """Nodes of attributes by name; a refused one is named by its attribute."""
    nodes: dict[str, Node] = {}
    node, key = enc.node, ""
    try:
        for key, item in value.items():
            if not is_plain_key(key):
                raise Refused(type(key), "it is no plain name of an attribute")
            nodes[key] = node(item)
            enc.size += len(key) + 4
    except Refused as refused:
        refused.at(f"{prefix}{key}")
        raise
    return nodes


def encode_pairs(enc: Encoder, value: dict[Any, Any]) -> list[list[Node]]:
    """Key and value nodes, in the dict's order, or sorted for a digest in which it does not count."""
    pairs: list[list[Node]] = []
    for key, item in value.items():
        step = f"[{short(key)}]"
        pairs.append([enc.item(key, f"{step} (a key)"), enc.item(item, step)])
    if enc.canonical and not enc.dict_order:
        pairs.sort(key=lambda pair: dumps(pair[0], True))
    return pairs


def is_plain_key(key: Any) -> bool:
    """Whether JSON keeps the key as it is."""
    if type(key) is not str:
        return False
    if key.isascii():
        return key != TAG
    return not any("\ud800" <= char <= "\udfff" for char in key)


def encode_dict(enc: Encoder, value: dict[Any, Any]) -> Node:
    """A dict: a JSON object where its keys allow, else pairs."""
    before = enc.enter(value)
    for key in value:
        if not is_plain_key(key):
            return enc.leave(value, before, {TAG: "d", "v": encode_pairs(enc, value)})
    nodes: dict[str, Node] = {}
    node = enc.node
    key = None
    try:
        for key, item in value.items():
            nodes[key] = node(item)
            enc.size += len(key) + 4
    except Refused as refused:
        refused.at(f"[{short(key)}]")
        raise
    if enc.canonical and enc.dict_order:
        # A digest sorts the keys of JSON objects, for attributes: an order that is not sorted stands beside.
        keys = list(nodes)
        if keys != sorted(keys):
            nodes = {TAG: "d", "k": keys, "v": nodes}
    return enc.leave(value, before, nodes)


def decode_dict(dec: Decoder, node: dict[str, Any]) -> dict[Any, Any]:
    """A dict from pairs."""
    value = dec.value
    return {value(key): value(item) for key, item in node["v"]}


def encode_ordered(enc: Encoder, value: OrderedDict[Any, Any] | Counter[Any]) -> Node:
    """An OrderedDict, whose order counts in any case, or a Counter."""
    if value.__dict__:
        return enc.refuse(value, "it carries attributes of its own")
    before = enc.enter(value)
    tag = "od" if type(value) is OrderedDict else "cn"
    pairs: Any = encode_pairs(enc, value)
    if enc.canonical and not enc.dict_order and tag == "od":
        # Equality of two OrderedDicts looks at their order.
        pairs = [pairs, [dumps(enc.node(key), True) for key in value]]
    return enc.leave(value, before, {TAG: tag, "v": pairs})


def decode_ordered(dec: Decoder, node: dict[str, Any]) -> OrderedDict[Any, Any]:
    """An OrderedDict."""
    return OrderedDict(decode_dict(dec, node))


def decode_counter(dec: Decoder, node: dict[str, Any]) -> Counter[Any]:
    """A Counter, its counts as they were."""
    return Counter(decode_dict(dec, node))


FACTORIES: tuple[type, ...] = (
    list,
    dict,
    set,
    tuple,
    frozenset,
    int,
    float,
    str,
    bool,
    bytes,
    complex,
    deque,
)


def encode_defaultdict(enc: Encoder, value: defaultdict[Any, Any]) -> Node:
    """A defaultdict whose factory is a builtin type or None."""
    factory = value.default_factory
    name = None
    if factory is not None:
        name = next((cls.__name__ for cls in FACTORIES if cls is factory), None)
        if name is None:
            return enc.refuse(value, "its default_factory is no builtin type")
    before = enc.enter(value)
    return enc.leave(value, before, {TAG: "dd", "c": name, "v": encode_pairs(enc, value)})


def decode_defaultdict(dec: Decoder, node: dict[str, Any]) -> defaultdict[Any, Any]:
    """A defaultdict."""
    factories = {cls.__name__: cls for cls in FACTORIES}
    factory = None if node["c"] is None else factories[node["c"]]
    return defaultdict(factory, decode_dict(dec, node))


def encode_namespace(enc: Encoder, value: types.SimpleNamespace) -> Node:
    """A SimpleNamespace."""
    before = enc.enter(value)
    return enc.leave(value, before, {TAG: "ns", "v": encode_table(enc, value.__dict__)})


def decode_namespace(dec: Decoder, node: dict[str, Any]) -> types.SimpleNamespace:
    """A SimpleNamespace."""
    value = types.SimpleNamespace()
    value.__dict__.update(dec.table(node["v"]))
    return value


def encode_slice(enc: Encoder, value: slice) -> Node:
    """Start, stop, step of any kind."""
    before = enc.enter(value)
    return enc.leave(
        value, before, {TAG: "sl", "v": [enc.node(value.start), enc.node(value.stop), enc.node(value.step)]}
    )


def decode_slice(dec: Decoder, node: dict[str, Any]) -> slice:
    """A slice."""
    start, stop, step = dec.values(node["v"])
    return slice(start, stop, step)


def decode_subtree(dec: Decoder, node: dict[str, Any]) -> Any:
    """A container that was large enough for a blob of its own."""
    return dec.value(json.loads(dec.blobs.get(node["h"])))


ENCODERS: dict[type, EncodeFn] = {
    list: encode_list,
    tuple: encode_tuple,
    set: encode_set,
    frozenset: encode_set,
    deque: encode_deque,
    dict: encode_dict,
    OrderedDict: encode_ordered,
    Counter: encode_ordered,
    defaultdict: encode_defaultdict,
    types.SimpleNamespace: encode_namespace,
    slice: encode_slice,
}

DECODERS: dict[str, DecodeFn] = {
    "t": decode_tuple,
    "s": decode_set,
    "fs": decode_frozenset,
    "dq": decode_deque,
    "d": decode_dict,
    "od": decode_ordered,
    "cn": decode_counter,
    "dd": decode_defaultdict,
    "ns": decode_namespace,
    "sl": decode_slice,
    "J": decode_subtree,
}
