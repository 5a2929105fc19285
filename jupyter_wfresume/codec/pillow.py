"""PIL images: class, mode, size, palette, pixels and info."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PIL import Image, ImagePalette
from PIL.PngImagePlugin import iTXt
from PIL.TiffImagePlugin import IFDRational

from ..errors import DamagedError
from .core import TAG, DecodeFn, EncodeFn, Node

if TYPE_CHECKING:
    from .core import Decoder, Encoder


def is_image(cls: type) -> bool:
    """Whether it is PIL's own image class or that of a file format."""
    return issubclass(cls, Image.Image) and cls.__module__.startswith("PIL.")


def encode_image(enc: Encoder, value: Any) -> Node:
    """An image; one of several frames is refused, since only one frame is in memory."""
    try:
        frames, pixels = getattr(value, "n_frames", 1), value.tobytes()
    except (OSError, ValueError) as error:
        return enc.refuse(value, f"its pixels cannot be read ({error})")
    if frames != 1:
        return enc.refuse(value, "it has several frames; keep the one you need with copy()")
    before = enc.enter(value)
    node: dict[str, Any] = {
        TAG: "PIL.image",
        "c": enc.class_node(type(value)),
        "m": value.mode,
        "b": enc.buffer(pixels),
        "s": list(value.size),
        "i": enc.item(value.info, ".info"),
    }
    palette = value.palette
    if palette is not None:
        node["p"] = [palette.mode, palette.rawmode, enc.buffer(bytes(palette.palette))]
        if palette.rawmode is None and value.mode in ("P", "PA"):
            # The pixels' own palette may be longer than the object that describes it.
            node["pd"] = enc.buffer(value.im.getpalette(palette.mode, palette.mode))
    return enc.leave(value, before, node)


def decode_image(dec: Decoder, node: dict[str, Any]) -> Any:
    """An image of the recorded class, its pixels loaded.

    Raises:
        DamagedError: the pixels do not fit the size.
    """
    cls = dec.find(node["c"], is_image)
    width, height = node["s"]
    data = dec.buffer(node["b"])
    if width * height > max(len(data), 1) * 8:
        raise DamagedError("a recorded image is malformed: its pixels do not fit its size")
    value = Image.new(node["m"], (width, height))
    if data:
        value.frombytes(data)
    if cls is not Image.Image:
        own = object.__new__(cls)
        own.__dict__.update(value.__dict__, tile=[], fp=None, filename="")
        value = own
    value.info = dec.value(node["i"])
    if "p" in node:
        mode, rawmode, colours = node["p"]
        value.palette = ImagePalette.ImagePalette(mode, bytearray(dec.buffer(colours)))
        value.palette.rawmode = rawmode
        if "pd" in node:
            value.im.putpalette(mode, mode, dec.buffer(node["pd"]))
        elif rawmode is not None:
            value.im.putpalette(mode, rawmode, dec.buffer(colours))
    return value


def encode_rational(enc: Encoder, value: Any) -> Node:
    """A rational number of an image's metadata."""
    return {TAG: "PIL.rational", "v": [enc.node(value.numerator), enc.node(value.denominator)]}


def decode_rational(dec: Decoder, node: dict[str, Any]) -> Any:
    """A rational number."""
    numerator, denominator = dec.values(node["v"])
    return IFDRational(numerator, denominator)


def encode_international_text(enc: Encoder, value: Any) -> Node:
    """A text of a PNG with its language and translated key."""
    text = str.__getitem__(value, slice(None))
    return {TAG: "PIL.text", "v": [enc.node(part) for part in (text, value.lang, value.tkey)]}


def decode_international_text(dec: Decoder, node: dict[str, Any]) -> Any:
    """A text of a PNG."""
    text, language, key = dec.values(node["v"])
    return iTXt(text, language, key)


def encoder_for(cls: type) -> EncodeFn | None:
    """The encoder of PIL's image classes and of what their ``info`` holds."""
    if is_image(cls):
        return encode_image
    if cls is IFDRational:
        return encode_rational
    return encode_international_text if cls is iTXt else None


DECODERS: dict[str, DecodeFn] = {
    "PIL.image": decode_image,
    "PIL.rational": decode_rational,
    "PIL.text": decode_international_text,
}
