"""Values without parts: numbers, text, bytes, times, paths and the like."""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import fractions
import math
import pathlib
import re
import struct
import uuid
import zoneinfo
from typing import TYPE_CHECKING, Any

from ..errors import DamagedError
from .blobs import LARGE_BYTES
from .core import TAG, DecodeFn, EncodeFn, Node

if TYPE_CHECKING:
    from .core import Decoder, Encoder

BIG_INT = 1 << 63
"""Ints from here on go as hexadecimal: JSON readers limit decimal digits."""

NONE_SIZE, INT_SIZE, FLOAT_SIZE, TAGGED_SIZE = 5, 8, 18, 40


def encode_same(enc: Encoder, value: Any) -> Node:
    """None and bool stand for themselves."""
    enc.size += NONE_SIZE
    return value


def encode_int(enc: Encoder, value: int) -> Node:
    """An int, as hexadecimal where it is big."""
    enc.size += INT_SIZE
    if -BIG_INT < value < BIG_INT:
        return value
    digits = format(value, "x")
    enc.size += len(digits)
    return {TAG: "i", "v": digits}


def decode_int(dec: Decoder, node: dict[str, Any]) -> int:
    """A big int."""
    return int(node["v"], 16)


def encode_float(enc: Encoder, value: float) -> Node:
    """A float; those that JSON lacks go by their bits."""
    enc.size += FLOAT_SIZE
    if math.isfinite(value):
        return value
    return {TAG: "f", "v": struct.pack(">d", value).hex()}


def decode_float(dec: Decoder, node: dict[str, Any]) -> float:
    """A float by its bits."""
    value: float = struct.unpack(">d", bytes.fromhex(node["v"]))[0]
    return value


def encode_str(enc: Encoder, value: str) -> Node:
    """Text; a blob where it is long, bytes where it holds lone surrogates."""
    if value.isascii():
        size = len(value)
        if size < LARGE_BYTES:
            enc.size += size + 4
            return value
        data = None
    else:
        try:
            data = value.encode()
        except UnicodeEncodeError:
            return {TAG: "u", "v": encode_bytes(enc, value.encode("utf-8", "surrogatepass"))}
        if len(data) < LARGE_BYTES:
            enc.size += len(data) + 4
            return value
    enc.size += TAGGED_SIZE
    digest = enc.memo.digest_of(value)
    if digest is None:
        digest = enc.blobs.put(value.encode() if data is None else data)
        enc.memo.remember(value, digest)
    return {TAG: "S", "h": digest}


def decode_surrogates(dec: Decoder, node: dict[str, Any]) -> str:
    """Text with lone surrogates."""
    return dec.buffer(node["v"]).decode("utf-8", "surrogatepass")


def decode_str_blob(dec: Decoder, node: dict[str, Any]) -> str:
    """Long text."""
    known = dec.memo.value_of(str, node["h"])
    if isinstance(known, str):
        return known
    value = dec.blobs.get(node["h"]).decode()
    dec.memo.remember(value, node["h"])
    return value


def encode_bytes(enc: Encoder, value: bytes) -> Node:
    """Bytes; a blob where they are many."""
    if len(value) < LARGE_BYTES:
        enc.size += TAGGED_SIZE + len(value) * 4 // 3
        return {TAG: "b", "v": base64.b64encode(value).decode()}
    enc.size += TAGGED_SIZE
    digest = enc.memo.digest_of(value)
    if digest is None:
        digest = enc.blobs.put(value)
        enc.memo.remember(value, digest)
    return {TAG: "B", "h": digest}


def decode_bytes(dec: Decoder, node: dict[str, Any]) -> bytes:
    """A few bytes."""
    return base64.b64decode(node["v"], validate=True)


def decode_bytes_blob(dec: Decoder, node: dict[str, Any]) -> bytes:
    """Many bytes."""
    known = dec.memo.value_of(bytes, node["h"])
    if isinstance(known, bytes):
        return known
    value = dec.blobs.get(node["h"])
    dec.memo.remember(value, node["h"])
    return value


def encode_bytearray(enc: Encoder, value: bytearray) -> Node:
    """A bytearray by its bytes."""
    return {TAG: "ba", "v": encode_bytes(enc, bytes(value))}


def decode_bytearray(dec: Decoder, node: dict[str, Any]) -> bytearray:
    """A bytearray."""
    return bytearray(dec.buffer(node["v"]))


def encode_complex(enc: Encoder, value: complex) -> Node:
    """Real and imaginary part."""
    return {TAG: "cx", "v": [encode_float(enc, value.real), encode_float(enc, value.imag)]}


def decode_complex(dec: Decoder, node: dict[str, Any]) -> complex:
    """A complex number."""
    real, imag = dec.values(node["v"])
    return complex(real, imag)


def encode_datetime(enc: Encoder, value: dt.datetime | dt.time) -> Node:
    """Wall clock, zone and fold."""
    enc.size += TAGGED_SIZE
    tag = "dt" if type(value) is dt.datetime else "time"
    node: dict[str, Any] = {TAG: tag, "v": value.replace(tzinfo=None).isoformat()}
    if value.tzinfo is not None:
        node["z"] = enc.item(value.tzinfo, ".tzinfo")
    if value.fold:
        node["f"] = 1
    return node


def decode_datetime(dec: Decoder, node: dict[str, Any]) -> dt.datetime | dt.time:
    """A datetime or time."""
    kind: Any = dt.datetime if node[TAG] == "dt" else dt.time
    zone = dec.value(node["z"]) if "z" in node else None
    if zone is not None and not isinstance(zone, dt.tzinfo):
        raise DamagedError("a recorded time is malformed: its zone is no zone")
    value: dt.datetime | dt.time = kind.fromisoformat(node["v"]).replace(tzinfo=zone, fold=node.get("f", 0))
    return value


def encode_date(enc: Encoder, value: dt.date) -> Node:
    """A date."""
    enc.size += TAGGED_SIZE
    return {TAG: "date", "v": value.isoformat()}


def decode_date(dec: Decoder, node: dict[str, Any]) -> dt.date:
    """A date."""
    return dt.date.fromisoformat(node["v"])


def encode_timedelta(enc: Encoder, value: dt.timedelta) -> Node:
    """Days, seconds, microseconds."""
    enc.size += TAGGED_SIZE
    return {TAG: "td", "v": [value.days, value.seconds, value.microseconds]}


def decode_timedelta(dec: Decoder, node: dict[str, Any]) -> dt.timedelta:
    """A timedelta."""
    days, seconds, microseconds = node["v"]
    return dt.timedelta(days, seconds, microseconds)


def encode_timezone(enc: Encoder, value: dt.timezone) -> Node:
    """A fixed offset and, where it has its own, its name."""
    node = {TAG: "tz", "v": encode_timedelta(enc, value.utcoffset(None))["v"]}
    name = value.tzname(None)
    if name != dt.timezone(value.utcoffset(None)).tzname(None):
        node["n"] = encode_str(enc, name)
    return node


def decode_timezone(dec: Decoder, node: dict[str, Any]) -> dt.timezone:
    """A fixed offset."""
    offset = decode_timedelta(dec, node)
    if "n" in node:
        return dt.timezone(offset, dec.value(node["n"]))
    return dt.timezone(offset)


def encode_zoneinfo(enc: Encoder, value: zoneinfo.ZoneInfo) -> Node:
    """A zone by its key."""
    key: str | None = value.key
    if key is None:
        return enc.refuse(value, "it was read from a file and has no key")
    enc.size += TAGGED_SIZE
    return {TAG: "zi", "v": key}


def decode_zoneinfo(dec: Decoder, node: dict[str, Any]) -> zoneinfo.ZoneInfo:
    """A zone."""
    return zoneinfo.ZoneInfo(node["v"])


def encode_text_form(tag: str) -> EncodeFn:
    """Encoder of a kind whose ``str`` tells it all."""

    def encode(enc: Encoder, value: Any) -> Node:
        return {TAG: tag, "v": encode_str(enc, str(value))}

    return encode


def decode_decimal(dec: Decoder, node: dict[str, Any]) -> decimal.Decimal:
    """A Decimal, whatever the precision of the context."""
    return decimal.Decimal(dec.value(node["v"]))


def encode_fraction(enc: Encoder, value: fractions.Fraction) -> Node:
    """Numerator and denominator."""
    return {TAG: "fr", "v": [encode_int(enc, value.numerator), encode_int(enc, value.denominator)]}


def decode_fraction(dec: Decoder, node: dict[str, Any]) -> fractions.Fraction:
    """A Fraction."""
    numerator, denominator = dec.values(node["v"])
    return fractions.Fraction(numerator, denominator)


def encode_uuid(enc: Encoder, value: uuid.UUID) -> Node:
    """A UUID and, where known, whether it was made safely."""
    enc.size += TAGGED_SIZE
    node: dict[str, Any] = {TAG: "uuid", "v": value.hex}
    if value.is_safe is not uuid.SafeUUID.unknown and not enc.canonical:
        node["s"] = value.is_safe.value
    return node


def decode_uuid(dec: Decoder, node: dict[str, Any]) -> uuid.UUID:
    """A UUID."""
    safe = uuid.SafeUUID(node["s"]) if "s" in node else uuid.SafeUUID.unknown
    return uuid.UUID(hex=node["v"], is_safe=safe)


PATHS: tuple[type[pathlib.PurePath], ...] = (
    pathlib.PosixPath,
    pathlib.WindowsPath,
    pathlib.PurePosixPath,
    pathlib.PureWindowsPath,
)


def encode_path(enc: Encoder, value: pathlib.PurePath) -> Node:
    """A path and its kind."""
    return {TAG: "path", "k": type(value).__name__, "v": encode_str(enc, str(value))}


def decode_path(dec: Decoder, node: dict[str, Any]) -> pathlib.PurePath:
    """A path.

    Raises:
        DamagedError: a kind of path that this system cannot have.
    """
    kinds = {cls.__name__: cls for cls in PATHS}
    try:
        return kinds[node["k"]](dec.value(node["v"]))
    except NotImplementedError:
        raise DamagedError(f"a recorded {node['k']} cannot exist on this system") from None


def encode_range(enc: Encoder, value: range) -> Node:
    """Start, stop, step."""
    return {TAG: "r", "v": [encode_int(enc, part) for part in (value.start, value.stop, value.step)]}


def decode_range(dec: Decoder, node: dict[str, Any]) -> range:
    """A range."""
    return range(*dec.values(node["v"]))


def encode_pattern(enc: Encoder, value: re.Pattern[Any]) -> Node:
    """A regular expression by its source and flags."""
    return {TAG: "re", "v": enc.node(value.pattern), "f": value.flags}


def decode_pattern(dec: Decoder, node: dict[str, Any]) -> re.Pattern[Any]:
    """A regular expression."""
    # A str pattern always carries UNICODE, which compiles to itself.
    return re.compile(dec.value(node["v"]), node["f"])


SINGLETONS: dict[str, Any] = {"ellipsis": ..., "NotImplemented": NotImplemented}


def encode_singleton(enc: Encoder, value: Any) -> Node:
    """``...`` and ``NotImplemented``."""
    return {TAG: "one", "v": "ellipsis" if value is ... else "NotImplemented"}


def decode_singleton(dec: Decoder, node: dict[str, Any]) -> Any:
    """A value that exists once."""
    return SINGLETONS[node["v"]]


ENCODERS: dict[type, EncodeFn] = {
    type(None): encode_same,
    bool: encode_same,
    int: encode_int,
    float: encode_float,
    str: encode_str,
    bytes: encode_bytes,
    bytearray: encode_bytearray,
    complex: encode_complex,
    dt.datetime: encode_datetime,
    dt.time: encode_datetime,
    dt.date: encode_date,
    dt.timedelta: encode_timedelta,
    dt.timezone: encode_timezone,
    zoneinfo.ZoneInfo: encode_zoneinfo,
    decimal.Decimal: encode_text_form("dec"),
    fractions.Fraction: encode_fraction,
    uuid.UUID: encode_uuid,
    range: encode_range,
    re.Pattern: encode_pattern,
    type(...): encode_singleton,
    type(NotImplemented): encode_singleton,
    **dict.fromkeys(PATHS, encode_path),
}

DECODERS: dict[str, DecodeFn] = {
    "i": decode_int,
    "f": decode_float,
    "u": decode_surrogates,
    "S": decode_str_blob,
    "b": decode_bytes,
    "B": decode_bytes_blob,
    "ba": decode_bytearray,
    "cx": decode_complex,
    "dt": decode_datetime,
    "time": decode_datetime,
    "date": decode_date,
    "td": decode_timedelta,
    "tz": decode_timezone,
    "zi": decode_zoneinfo,
    "dec": decode_decimal,
    "fr": decode_fraction,
    "uuid": decode_uuid,
    "path": decode_path,
    "r": decode_range,
    "re": decode_pattern,
    "one": decode_singleton,
}
