"""What a pandas column or index consists of: numpy and extension arrays, each by its own parts."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..errors import DamagedError
from .containers import encode_items
from .core import TAG, EncodeFn, Node
from .numpy_ import encode_array

if TYPE_CHECKING:
    from .core import Decoder, Encoder

# Before pandas 2.1 it had another name.
WRAPPED: type = getattr(pd.arrays, "NumpyExtensionArray", None) or pd.arrays.PandasArray
MASKED: dict[str, Any] = {
    "IntegerArray": pd.arrays.IntegerArray,
    "FloatingArray": pd.arrays.FloatingArray,
    "BooleanArray": pd.arrays.BooleanArray,
}
MISSING = {"nan": np.nan, "NA": pd.NA}


def column_values(value: Any) -> Any:
    """The array behind a Series or Index: numpy's where it is one, else pandas' own."""
    array = value.array
    if type(array) is WRAPPED:
        return array.to_numpy()  # type: ignore[attr-defined]  # WRAPPED is known at run time only
    return array


def encode_part(enc: Encoder, value: Any) -> Node:
    """An array inside a pandas value; pandas hands out read-only views of arrays that are not."""
    return encode_array(enc, value, part=True) if type(value) is np.ndarray else enc.node(value)


def node_of(kind: str, **parts: Node) -> Node:
    """A node of an extension array."""
    return {TAG: "pandas.values", "k": kind, **parts}


def encode_moments(enc: Encoder, value: Any) -> Node:
    """Dates or durations: counts in UTC, and the zone."""
    zone = getattr(value, "tz", None)
    kind = "M8" if isinstance(value, pd.arrays.DatetimeArray) else "m8"
    counts = value.asi8.view(f"{kind}[{value.unit}]")
    return node_of("moments", v=encode_part(enc, counts), z=enc.item(zone, ".tz"))


def decode_moments(dec: Decoder, node: dict[str, Any]) -> Any:
    """Dates or durations."""
    counts = dec.value(node["v"])
    if counts.dtype.kind == "m":
        return pd.TimedeltaIndex(counts).array
    zone = dec.value(node["z"])
    dates = pd.DatetimeIndex(counts)
    return dates.array if zone is None else dates.tz_localize("UTC").tz_convert(zone).array


def encode_periods(enc: Encoder, value: Any) -> Node:
    """Ordinals and frequency."""
    return node_of("periods", v=encode_part(enc, value.asi8), f=enc.node(value.freqstr))


def decode_periods(dec: Decoder, node: dict[str, Any]) -> Any:
    """Periods."""
    return pd.arrays.PeriodArray(dec.value(node["v"]), dtype=pd.PeriodDtype(dec.value(node["f"])))


def encode_intervals(enc: Encoder, value: Any) -> Node:
    """Left ends, right ends and which are closed."""
    return node_of("intervals", v=[enc.node(value.left), enc.node(value.right)], c=value.closed)


def decode_intervals(dec: Decoder, node: dict[str, Any]) -> Any:
    """Intervals."""
    left, right = dec.values(node["v"])
    return pd.arrays.IntervalArray.from_arrays(left, right, closed=node["c"])


def encode_categories(enc: Encoder, value: Any) -> Node:
    """Codes, categories, and whether they are ordered."""
    categories = enc.item(value.categories, ".categories")
    return node_of(
        "categories", v=encode_part(enc, np.asarray(value.codes)), c=categories, o=bool(value.ordered)
    )


def decode_categories(dec: Decoder, node: dict[str, Any]) -> Any:
    """A Categorical."""
    dtype = pd.CategoricalDtype(dec.value(node["c"]), ordered=node["o"] is True)
    return pd.Categorical.from_codes(dec.value(node["v"]), dtype=dtype)


def encode_masked(enc: Encoder, value: Any) -> Node:
    """Values and mask of a nullable dtype; what hides below the mask is cleared."""
    data, mask = value._data, value._mask
    if mask.any():
        data = np.where(mask, np.zeros((), data.dtype), data)
    return node_of("masked", v=encode_part(enc, data), m=encode_part(enc, mask), c=type(value).__name__)


def decode_masked(dec: Decoder, node: dict[str, Any]) -> Any:
    """An array of a nullable dtype."""
    return MASKED[node["c"]](dec.value(node["v"]), dec.value(node["m"]))


def encode_strings(enc: Encoder, value: Any) -> Node:
    """Texts, and how the dtype stores them and marks a missing one."""
    dtype = value.dtype
    missing = "NA" if getattr(dtype, "na_value", pd.NA) is pd.NA else "nan"
    texts = zip(value.to_numpy(dtype=object), value.isna(), strict=True)
    items = [None if gone else text for text, gone in texts]
    return node_of("strings", v=encode_items(enc, items), s=dtype.storage, m=missing)


def decode_strings(dec: Decoder, node: dict[str, Any]) -> Any:
    """Texts of the recorded dtype.

    Raises:
        DamagedError: this pandas does not have the dtype.
    """
    try:
        dtype = pd.StringDtype(node["s"], na_value=MISSING[node["m"]])
    except TypeError:
        # Before pandas 2.3 the storage alone told how a missing text is marked.
        dtype = pd.StringDtype(node["s"])
        if (dtype.na_value is pd.NA) != (node["m"] == "NA"):
            raise DamagedError(f"this pandas has no strings with {node['m']} for missing") from None
    return pd.array(dec.values(node["v"]), dtype=dtype)


def encode_sparse(enc: Encoder, value: Any) -> Node:
    """Stored values, their places, and the value of all the others."""
    places = encode_part(enc, np.asarray(value.sp_index.to_int_index().indices))
    fill = enc.item(value.fill_value, ".fill_value")
    return node_of(
        "sparse", v=encode_part(enc, value.sp_values), i=places, n=len(value), f=fill, o=value.kind
    )


def decode_sparse(dec: Decoder, node: dict[str, Any]) -> Any:
    """A sparse array."""
    values, places, fill = dec.value(node["v"]), dec.value(node["i"]), dec.value(node["f"])
    dense = np.full(node["n"], fill, dtype=values.dtype)
    dense[places] = values
    dtype = pd.SparseDtype(values.dtype, fill)
    return pd.arrays.SparseArray(dense, fill_value=fill, kind=node["o"], dtype=dtype)


def encode_arrow(enc: Encoder, value: Any) -> Node:
    """An Arrow column in Arrow's own stream format, which holds data and no code."""
    pa: Any = importlib.import_module("pyarrow")
    column = value.__arrow_array__().combine_chunks() if enc.canonical else value.__arrow_array__()
    table = pa.table({"column": column})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return node_of("arrow", v=enc.buffer(sink.getvalue().to_pybytes()))


def decode_arrow(dec: Decoder, node: dict[str, Any]) -> Any:
    """An Arrow column."""
    pa: Any = importlib.import_module("pyarrow")
    with pa.ipc.open_stream(dec.buffer(node["v"])) as reader:
        return pd.arrays.ArrowExtensionArray(reader.read_all().column(0))


def encode_wrapped(enc: Encoder, value: Any) -> Node:
    """pandas' wrapper around a numpy array."""
    return node_of("numpy", v=encode_part(enc, value.to_numpy()))


def decode_wrapped(dec: Decoder, node: dict[str, Any]) -> Any:
    """pandas' wrapper around a numpy array."""
    return WRAPPED(dec.value(node["v"]))


def whole(encode: EncodeFn) -> EncodeFn:
    """Give an encoder of arrays the frame that every container has."""

    def encode_whole(enc: Encoder, value: Any) -> Node:
        before = enc.enter(value)
        return enc.leave(value, before, encode(enc, value))

    return encode_whole


def strings_or_arrow(cls: type) -> EncodeFn | None:
    """Encoders of the classes that pandas names in one version and not in another."""
    name = cls.__name__
    if not cls.__module__.startswith("pandas."):
        return None
    if name.removesuffix("NumpySemantics") in ("StringArray", "ArrowStringArray"):
        return whole(encode_strings)
    return whole(encode_arrow) if name == "ArrowExtensionArray" else None


def encoder_for(cls: type) -> EncodeFn | None:
    """The encoder of one of pandas' own arrays."""
    kinds: dict[type, EncodeFn] = {
        pd.arrays.DatetimeArray: encode_moments,
        pd.arrays.TimedeltaArray: encode_moments,
        pd.arrays.PeriodArray: encode_periods,
        pd.arrays.IntervalArray: encode_intervals,
        pd.Categorical: encode_categories,
        pd.arrays.SparseArray: encode_sparse,
        WRAPPED: encode_wrapped,
        **dict.fromkeys(MASKED.values(), encode_masked),
    }
    encode = kinds.get(cls)
    return whole(encode) if encode is not None else strings_or_arrow(cls)


KINDS = {
    "moments": decode_moments,
    "periods": decode_periods,
    "intervals": decode_intervals,
    "categories": decode_categories,
    "masked": decode_masked,
    "strings": decode_strings,
    "sparse": decode_sparse,
    "arrow": decode_arrow,
    "numpy": decode_wrapped,
}


def decode_values(dec: Decoder, node: dict[str, Any]) -> Any:
    """An extension array."""
    return KINDS[node["k"]](dec, node)
