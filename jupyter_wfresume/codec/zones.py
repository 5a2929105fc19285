"""Time zones of dateutil and pytz, where installed."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from ..errors import DamagedError
from .core import TAG, DecodeFn, EncodeFn, Node

if TYPE_CHECKING:
    from .core import Decoder, Encoder


def encode_tzutc(enc: Encoder, value: Any) -> Node:
    """dateutil's UTC."""
    return {TAG: "dateutil.utc"}


def decode_tzutc(dec: Decoder, node: dict[str, Any]) -> Any:
    """dateutil's UTC."""
    from dateutil import tz

    return tz.tzutc()


def encode_tzoffset(enc: Encoder, value: Any) -> Node:
    """dateutil's fixed offset."""
    return {TAG: "dateutil.offset", "n": enc.node(value.tzname(None)), "v": enc.node(value.utcoffset(None))}


def decode_tzoffset(dec: Decoder, node: dict[str, Any]) -> Any:
    """dateutil's fixed offset."""
    from dateutil import tz

    return tz.tzoffset(dec.value(node["n"]), dec.value(node["v"]))


def encode_tzfile(enc: Encoder, value: Any) -> Node:
    """A zone of dateutil by the name that ``gettz`` knows it by."""
    from dateutil import tz

    name = value._filename
    key = name.partition("zoneinfo/")[2] or name if type(name) is str else ""
    if not key or tz.gettz(key) != value:
        return enc.refuse(value, "it was read from a file and has no name")
    return {TAG: "dateutil.file", "n": enc.node(key)}


def decode_tzfile(dec: Decoder, node: dict[str, Any]) -> Any:
    """A zone of dateutil."""
    from dateutil import tz

    key = dec.value(node["n"])
    zone = tz.gettz(key) if type(key) is str and not key.startswith("/") and ".." not in key else None
    if zone is None:
        raise DamagedError(f"a recorded time names the zone {key!r}, which is unknown here")
    return zone


def encode_pytz(enc: Encoder, value: Any) -> Node:
    """A zone of pytz: its name, and for a localized one which of its offsets."""
    import pytz

    if isinstance(value, type(pytz.FixedOffset(1))):
        return {TAG: "pytz.offset", "v": enc.node(value.utcoffset(None))}
    node = {TAG: "pytz.zone", "n": enc.node(value.zone)}
    if value is not pytz.timezone(value.zone):
        info = (value._utcoffset, value._dst, value._tzname)
        node["i"] = [enc.node(part) for part in info]
    return node


def decode_pytz(dec: Decoder, node: dict[str, Any]) -> Any:
    """A zone of pytz."""
    import pytz

    zone: Any = pytz.timezone(dec.value(node["n"]))
    return zone._tzinfos[tuple(dec.values(node["i"]))] if "i" in node else zone


def decode_pytz_offset(dec: Decoder, node: dict[str, Any]) -> Any:
    """pytz's fixed offset."""
    import pytz

    return pytz.FixedOffset(dec.value(node["v"]) // dt.timedelta(minutes=1))


def encoder_for(cls: type) -> EncodeFn | None:
    """The encoder of one of their zones, by name."""
    if not issubclass(cls, dt.tzinfo):
        return None
    if cls.__module__.startswith("dateutil"):
        kinds = {"tzutc": encode_tzutc, "tzoffset": encode_tzoffset, "tzfile": encode_tzfile}
        return kinds.get(cls.__name__)
    return encode_pytz if cls.__module__.startswith("pytz") else None


DECODERS: dict[str, DecodeFn] = {
    "dateutil.utc": decode_tzutc,
    "dateutil.offset": decode_tzoffset,
    "dateutil.file": decode_tzfile,
    "pytz.zone": decode_pytz,
    "pytz.offset": decode_pytz_offset,
}
