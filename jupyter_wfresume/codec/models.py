"""Pydantic models, restored slot by slot so that no validation changes them."""

from __future__ import annotations

import inspect
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

import pydantic
import pydantic_core
from pydantic import BaseModel

from .classes import is_model
from .containers import encode_table
from .core import TAG, DecodeFn, EncodeFn, Node
from .objects import slot_members, slot_state

if TYPE_CHECKING:
    from .core import Decoder, Encoder

SECRETS: tuple[type, ...] = (pydantic.SecretStr, pydantic.SecretBytes, pydantic.Secret)


def encode_secret(enc: Encoder, value: Any) -> Node:
    """Refuse a secret, whatever it holds."""
    return enc.refuse(value, "a secret is never written down")


def has_slot(cls: type, name: str) -> bool:
    """Whether the class keeps this in a slot (a RootModel hides two of them)."""
    return type(inspect.getattr_static(cls, name, None)) is MemberDescriptorType


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


def model_encoder(cls: type[BaseModel]) -> EncodeFn:
    """Encoder of a model: ``__dict__``, extra, private attributes, which fields were set."""
    members = slot_members(cls, BaseModel)
    hidden = has_slot(cls, "__pydantic_private__")
    names = default_names(cls)

    def encode(enc: Encoder, value: Any) -> Node:
        before = enc.enter(value)
        state: dict[str, Any] = value.__dict__
        if enc.canonical:
            state = {name: item for name, item in state.items() if name in cls.__pydantic_fields__}
        node: dict[str, Any] = {TAG: "m", "c": enc.class_node(cls), "d": encode_table(enc, state)}
        private = value.__pydantic_private__ if hidden else None
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
    if has_slot(cls, "__pydantic_private__"):
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
    return url_encoder(cls) if is_url(cls) else None


DECODERS: dict[str, DecodeFn] = {"m": decode_model, "pz": decode_zone, "url": decode_url}
