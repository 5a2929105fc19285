"""Pydantic models, restored slot by slot so that no validation changes them."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Any

import pydantic
import pydantic_core
from pydantic import BaseModel

from .classes import is_model
from .containers import encode_table
from .core import TAG, DecodeFn, EncodeFn, Node
from .migrating import migrated
from .objects import slot_members, slot_state

if TYPE_CHECKING:
    from .core import Decoder, Encoder

SECRETS: tuple[type, ...] = (pydantic.SecretStr, pydantic.SecretBytes, pydantic.Secret)


def encode_secret(enc: Encoder, value: Any) -> Node:
    """Refuse a secret, whatever it holds."""
    return enc.refuse(value, "a secret is never written down")


def has_slots(cls: type) -> bool:
    """Whether private attributes and extra have slots of their own; a RootModel hides them."""
    return not issubclass(cls, pydantic.RootModel)


def default_names(cls: type[BaseModel]) -> frozenset[str]:
    """Fields and private attributes that an instance normally has without being told."""
    fields = {name for name, field in cls.__pydantic_fields__.items() if not field.is_required()}
    return frozenset(fields | private_defaults(cls).keys())


def private_defaults(cls: type[BaseModel]) -> dict[str, Any]:
    """Private attributes with a default."""
    undefined = pydantic_core.PydanticUndefined
    return {
        name: attribute
        for name, attribute in cls.__private_attributes__.items()
        if attribute.default_factory is not None or attribute.default is not undefined
    }


def has_dynamic_fields(cls: type[BaseModel]) -> bool:
    """Whether it is an event or a state of the engine's: fields that no class declares are in a dict."""
    return any(
        base.__name__ == "DictLikeModel" and base.__module__.startswith("workflows.") for base in cls.__mro__
    )


def without_order(private: dict[str, Any]) -> dict[str, Any]:
    """Private attributes with the dynamic fields sorted: they are attributes, set in any order."""
    fields = private.get("_data")
    if type(fields) is not dict or len(fields) < 2 or any(type(name) is not str for name in fields):
        return private
    return {**private, "_data": {name: fields[name] for name in sorted(fields)}}


def model_encoder(cls: type[BaseModel]) -> EncodeFn:
    """Encoder of a model: ``__dict__``, extra, private attributes, which fields were set."""
    members = slot_members(cls, BaseModel)
    hidden = has_slots(cls)
    names = default_names(cls)
    dynamic = has_dynamic_fields(cls)

    def encode(enc: Encoder, value: Any) -> Node:
        before = enc.enter(value)
        state: dict[str, Any] = value.__dict__
        if enc.canonical:
            state = {name: item for name, item in state.items() if name in cls.__pydantic_fields__}
        node: dict[str, Any] = {TAG: "m", "c": enc.class_node(cls), "d": encode_table(enc, state)}
        private = value.__pydantic_private__ if hidden else None
        if private and dynamic and enc.canonical:
            private = without_order(private)
        if private:
            node["p"] = encode_table(enc, private)
        elif private is None and cls.__private_attributes__ and hidden:
            node["p"] = None
        if hidden and value.__pydantic_extra__ is not None:
            node["x"] = encode_table(enc, value.__pydantic_extra__)
        if members:
            node["l"] = encode_table(enc, slot_state(value, members))
        if enc.canonical:
            return enc.leave(value, before, node)
        fields_set = value.__pydantic_fields_set__
        if fields_set != state.keys():
            node["s"] = sorted(fields_set)
        if not names <= state.keys():
            unset = names - state.keys() - (private or {}).keys()
            if unset:
                node["u"] = sorted(unset)
        return enc.leave(value, before, node)

    return encode


def decode_model(dec: Decoder, node: dict[str, Any]) -> Any:
    """A model; fields that its class has got since the record take their default."""
    made = None if dec.migration is None else migrated(dec, node)
    if made is not None:
        return made
    cls: type[BaseModel] = dec.find(node["c"], is_model)
    state = dec.table(node["d"])
    fields_set = set(node["s"]) if "s" in node else set(state)
    fields = cls.__pydantic_fields__
    if not fields.keys() <= state.keys():
        unset = node.get("u", ())
        for name, field in fields.items():
            if name not in state and name not in unset and not field.is_required():
                state[name] = field.get_default(call_default_factory=True, validated_data=state)
    obj = object.__new__(cls)
    put = object.__setattr__
    put(obj, "__dict__", state)
    put(obj, "__pydantic_fields_set__", fields_set)
    if has_slots(cls):
        put(obj, "__pydantic_extra__", dec.table(node["x"]) if "x" in node else None)
        put(obj, "__pydantic_private__", private_state(dec, node, cls))
    if "l" in node:
        members = slot_members(cls, BaseModel)
        for name, item in dec.table(node["l"]).items():
            members[name].__set__(obj, item)
    return obj


def private_state(dec: Decoder, node: dict[str, Any], cls: type[BaseModel]) -> dict[str, Any] | None:
    """Recorded private attributes, and defaults of those declared since."""
    declared = cls.__private_attributes__
    if node.get("p", 0) is None:
        return None
    private = dec.table(node["p"]) if "p" in node else {}
    if not declared.keys() <= private.keys():
        unset = node.get("u", ())
        for name, attribute in private_defaults(cls).items():
            if name not in private and name not in unset:
                private[name] = attribute.get_default()
    return private if private or declared else None


def encode_zone(enc: Encoder, value: Any) -> Node:
    """The zone that pydantic gives to times it parsed."""
    return {TAG: "pz", "v": value.utcoffset(None).total_seconds()}


def decode_zone(dec: Decoder, node: dict[str, Any]) -> Any:
    """Pydantic's own zone."""
    return pydantic_core.TzInfo(node["v"])


def line_error(item: dict[str, Any]) -> Any:
    """One line of a validation error, as pydantic takes it."""
    kind = item["type"]
    known = kind in typing.get_args(pydantic_core.core_schema.ErrorType)
    context = item.get("ctx")
    if not known:
        text = item["msg"].replace("{", "{{").replace("}", "}}")
        kind = pydantic_core.PydanticCustomError(kind, text, context)
    line = {"type": kind, "loc": item["loc"], "input": item["input"]}
    return {**line, "ctx": context} if known and context is not None else line


def rebuilt(title: str, items: list[dict[str, Any]]) -> Any:
    """A validation error of these lines."""
    return pydantic_core.ValidationError.from_exception_data(title, [line_error(item) for item in items])


def encode_validation_error(enc: Encoder, value: Any) -> Node:
    """A validation error line by line, where reading the lines gives the same error."""
    items = value.errors(include_url=False)
    try:
        same = str(rebuilt(value.title, items)) == str(value)
    except (KeyError, TypeError, ValueError):
        same = False
    if not same:
        return enc.refuse(value, "its lines do not tell it all")
    before = enc.enter(value)
    node = {TAG: "ve", "t": enc.node(value.title), "v": enc.item(items, ".errors()")}
    for name in ("__cause__", "__context__"):
        if getattr(value, name) is not None:
            node[name] = enc.item(getattr(value, name), f".{name}")
    if value.__suppress_context__:
        node["s"] = True
    return enc.leave(value, before, node)


def decode_validation_error(dec: Decoder, node: dict[str, Any]) -> Any:
    """A validation error."""
    value = rebuilt(dec.value(node["t"]), dec.value(node["v"]))
    for name in ("__cause__", "__context__"):
        if name in node:
            setattr(value, name, dec.value(node[name]))
    value.__suppress_context__ = node.get("s") is True
    return value


def is_url(cls: type) -> bool:
    """Whether it is one of pydantic's URL classes."""
    core = (pydantic_core.Url, pydantic_core.MultiHostUrl)
    return issubclass(cls, core) or type(getattr(cls, "_constraints", None)).__name__ == "UrlConstraints"


def url_encoder(cls: type) -> EncodeFn:
    """Encoder of a URL by its text, where reading it gives the same URL."""

    def encode(enc: Encoder, value: Any) -> Node:
        inner = getattr(value, "_url", value)
        text = str(inner)
        if type(inner)(text) != inner:
            return enc.refuse(value, "its text does not tell it all")
        node = {TAG: "url", "c": enc.class_node(cls), "v": enc.node(text)}
        if type(inner) is pydantic_core.MultiHostUrl:
            node["k"] = "multi"
        return node

    return encode


def decode_url(dec: Decoder, node: dict[str, Any]) -> Any:
    """A URL."""
    cls = dec.find(node["c"], is_url)
    core = pydantic_core.MultiHostUrl if node.get("k") == "multi" else pydantic_core.Url
    inner = core(dec.value(node["v"]))
    if cls is core:
        return inner
    obj = object.__new__(cls)
    obj._url = inner
    return obj


def encoder_for(cls: type) -> EncodeFn | None:
    """The encoder of a class of these kinds."""
    if issubclass(cls, SECRETS):
        return encode_secret
    if issubclass(cls, BaseModel):
        return model_encoder(cls)
    if cls is pydantic_core.TzInfo:
        return encode_zone
    if cls is pydantic_core.ValidationError:
        return encode_validation_error
    return url_encoder(cls) if is_url(cls) else None


DECODERS: dict[str, DecodeFn] = {
    "m": decode_model,
    "pz": decode_zone,
    "url": decode_url,
    "ve": decode_validation_error,
}
