"""Pandas scalars, indexes, Series and DataFrames; columns are kept in ``pandas_values``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..errors import DamagedError
from . import pandas_values
from .containers import encode_items, short
from .core import TAG, DecodeFn, EncodeFn, Node, Refused
from .pandas_values import column_values, decode_values, encode_part

if TYPE_CHECKING:
    from .core import Decoder, Encoder

BLOCK_KINDS = "iufcb"
"""Numpy kinds of which a frame of one dtype is kept as one array."""


def encode_moment(enc: Encoder, value: Any) -> Node:
    """A Timestamp or Timedelta: count, unit and zone."""
    node = {TAG: "pandas.moment", "v": enc.node(value.asm8)}
    zone = getattr(value, "tzinfo", None)
    if zone is not None:
        node["z"] = enc.item(zone, ".tzinfo")
    return node


def decode_moment(dec: Decoder, node: dict[str, Any]) -> Any:
    """A Timestamp or Timedelta."""
    count = dec.value(node["v"])
    if isinstance(count, np.timedelta64):
        return pd.Timedelta(count)
    moment = pd.Timestamp(count)
    return moment.tz_localize("UTC").tz_convert(dec.value(node["z"])) if "z" in node else moment


def encode_missing(enc: Encoder, value: Any) -> Node:
    """``NaT`` or ``NA``."""
    return {TAG: "pandas.missing", "v": "NaT" if value is pd.NaT else "NA"}


def decode_missing(dec: Decoder, node: dict[str, Any]) -> Any:
    """``NaT`` or ``NA``."""
    return {"NaT": pd.NaT, "NA": pd.NA}[node["v"]]


def encode_interval(enc: Encoder, value: Any) -> Node:
    """Two ends and which are closed."""
    return {TAG: "pandas.interval", "v": [enc.node(value.left), enc.node(value.right)], "k": value.closed}


def decode_interval(dec: Decoder, node: dict[str, Any]) -> Any:
    """An Interval."""
    left, right = dec.values(node["v"])
    return pd.Interval(left, right, closed=node["k"])


def encode_period(enc: Encoder, value: Any) -> Node:
    """Ordinal and frequency."""
    return {TAG: "pandas.period", "v": enc.node(value.ordinal), "f": enc.node(value.freqstr)}


def decode_period(dec: Decoder, node: dict[str, Any]) -> Any:
    """A Period."""
    return pd.Period(ordinal=dec.value(node["v"]), freq=dec.value(node["f"]))


def encode_index(enc: Encoder, value: Any) -> Node:
    """An index: its values, name and frequency."""
    before = enc.enter(value)
    node = {
        TAG: "pandas.index",
        "v": encode_part(enc, column_values(value)),
        "n": enc.item(value.name, ".name"),
    }
    freq = getattr(value, "freq", None) if isinstance(value, (pd.DatetimeIndex, pd.TimedeltaIndex)) else None
    if freq is not None and not enc.canonical:
        try:
            same = pd.tseries.frequencies.to_offset(value.freqstr) == freq
        except ValueError:
            same = False
        if not same:
            return enc.refuse(value, f"its frequency {value.freqstr} cannot be kept")
        node["f"] = value.freqstr
    return enc.leave(value, before, node)


def decode_index(dec: Decoder, node: dict[str, Any]) -> Any:
    """An index of the class that its values call for."""
    values = dec.value(node["v"])
    index: Any = pd.Index(values, dtype=values.dtype, name=dec.value(node["n"]), copy=False)
    if "f" in node:
        index.freq = node["f"]
    return index


def encode_range_index(enc: Encoder, value: Any) -> Node:
    """Start, stop, step and name."""
    parts = (value.start, value.stop, value.step)
    return {TAG: "pandas.range", "v": [enc.node(part) for part in parts], "n": enc.item(value.name, ".name")}


def decode_range_index(dec: Decoder, node: dict[str, Any]) -> Any:
    """A RangeIndex."""
    return pd.RangeIndex(*dec.values(node["v"]), name=dec.value(node["n"]))


def encode_multi_index(enc: Encoder, value: Any) -> Node:
    """Levels, codes and names, as they are."""
    before = enc.enter(value)
    if enc.canonical:
        # Equal indexes may have other levels, such as unused ones after a selection.
        value_parts = [value.get_level_values(position) for position in range(value.nlevels)]
        return enc.leave(value, before, {TAG: "pandas.multi", "v": encode_items(enc, value_parts)})
    levels = encode_items(enc, value.levels)
    codes = [encode_part(enc, np.asarray(code)) for code in value.codes]
    names = encode_items(enc, value.names)
    return enc.leave(value, before, {TAG: "pandas.multi", "v": levels, "k": codes, "n": names})


def decode_multi_index(dec: Decoder, node: dict[str, Any]) -> Any:
    """A MultiIndex."""
    levels, codes, names = (dec.values(node[key]) for key in ("v", "k", "n"))
    return pd.MultiIndex(levels=levels, codes=codes, names=names)


def labels(enc: Encoder, value: Any) -> dict[str, Node]:
    """What a Series and a DataFrame have beside their values."""
    node = {"i": enc.item(value.index, ".index")}
    if value.attrs:
        node["a"] = enc.item(value.attrs, ".attrs")
    if not value.flags.allows_duplicate_labels:
        node["u"] = True
    return node


def restore_labels(dec: Decoder, node: dict[str, Any], value: Any) -> Any:
    """Give them back."""
    if "a" in node:
        value.attrs = dec.value(node["a"])
    if "u" in node:
        value.flags.allows_duplicate_labels = False
    return value


def encode_series(enc: Encoder, value: Any) -> Node:
    """A Series."""
    before = enc.enter(value)
    node = {
        TAG: "pandas.series",
        "v": encode_part(enc, column_values(value)),
        "n": enc.item(value.name, ".name"),
    }
    return enc.leave(value, before, {**node, **labels(enc, value)})


def decode_series(dec: Decoder, node: dict[str, Any]) -> Any:
    """A Series."""
    values, index = dec.value(node["v"]), dec.value(node["i"])
    series = pd.Series(values, index=index, name=dec.value(node["n"]), dtype=values.dtype, copy=False)
    return restore_labels(dec, node, series)


def encode_frame(enc: Encoder, value: Any) -> Node:
    """A DataFrame, column by column, or as one array where all is of one numeric dtype."""
    before = enc.enter(value)
    node = {TAG: "pandas.frame", "c": enc.item(value.columns, ".columns"), **labels(enc, value)}
    kinds = set(value.dtypes)
    only = next(iter(kinds)) if len(kinds) == 1 and value.shape[1] > 1 else None
    if isinstance(only, np.dtype) and only.kind in BLOCK_KINDS:
        node["b"] = encode_part(enc, value.to_numpy())
        return enc.leave(value, before, node)
    columns: list[Node] = []
    for position, name in enumerate(value.columns):
        try:
            columns.append(encode_part(enc, column_values(value.iloc[:, position])))
        except Refused as refused:
            refused.at(f"[{short(name)}]")
            raise
    node["v"] = columns
    return enc.leave(value, before, node)


def decode_frame(dec: Decoder, node: dict[str, Any]) -> Any:
    """A DataFrame.

    Raises:
        DamagedError: columns and labels do not fit each other.
    """
    columns, index = dec.value(node["c"]), dec.value(node["i"])
    if "b" in node:
        return restore_labels(dec, node, pd.DataFrame(dec.value(node["b"]), index=index, columns=columns))
    values = dec.values(node["v"])
    if len(values) != len(columns) or any(len(column) != len(index) for column in values):
        raise DamagedError("a recorded DataFrame is malformed: its columns do not fit its labels")
    parts = {
        position: pd.Series(column, index=index, dtype=column.dtype, copy=False)
        for position, column in enumerate(values)
    }
    frame = pd.DataFrame(parts, index=index)
    frame.columns = columns
    return restore_labels(dec, node, frame)


ENCODERS: dict[type, EncodeFn] = {
    pd.Timestamp: encode_moment,
    pd.Timedelta: encode_moment,
    type(pd.NaT): encode_missing,
    type(pd.NA): encode_missing,
    pd.Interval: encode_interval,
    pd.Period: encode_period,
    pd.RangeIndex: encode_range_index,
    pd.MultiIndex: encode_multi_index,
    pd.Series: encode_series,
    pd.DataFrame: encode_frame,
    **dict.fromkeys(
        (
            pd.Index,
            pd.DatetimeIndex,
            pd.TimedeltaIndex,
            pd.PeriodIndex,
            pd.IntervalIndex,
            pd.CategoricalIndex,
        ),
        encode_index,
    ),
}


def encoder_for(cls: type) -> EncodeFn | None:
    """The encoder of one of pandas' own classes; subclasses of users have none."""
    return ENCODERS.get(cls) or pandas_values.encoder_for(cls)


DECODERS: dict[str, DecodeFn] = {
    "pandas.moment": decode_moment,
    "pandas.missing": decode_missing,
    "pandas.interval": decode_interval,
    "pandas.period": decode_period,
    "pandas.index": decode_index,
    "pandas.range": decode_range_index,
    "pandas.multi": decode_multi_index,
    "pandas.series": decode_series,
    "pandas.frame": decode_frame,
    "pandas.values": decode_values,
}
