"""Strict equality: exact types, all state, all the way down."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import struct
import types
from typing import Any

from pydantic import BaseModel


def slots_of(value: Any) -> dict[str, Any]:
    names = [
        name
        for cls in type(value).__mro__
        for name, member in vars(cls).items()
        if isinstance(member, types.MemberDescriptorType)
    ]
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def same(a: Any, b: Any) -> bool:
    """Whether two values have one type and one content, recursively."""
    if type(a) is not type(b):
        return False
    for library, compare in (("numpy", same_numpy), ("pandas", same_pandas)):
        if type(a).__module__.partition(".")[0] == library:
            return compare(a, b)
    if isinstance(a, BaseModel):
        return same_model(a, b)
    if isinstance(a, BaseException):
        return same_exception(a, b)
    if type(a) is int:
        return a == b
    if type(a) is decimal.Decimal:
        return str(a) == str(b)
    if type(a) is float:
        return struct.pack("d", a) == struct.pack("d", b)
    if type(a) is complex:
        return same(a.real, b.real) and same(a.imag, b.imag)
    if isinstance(a, dict):
        factories = getattr(a, "default_factory", None) is getattr(b, "default_factory", None)
        return factories and same(list(a.items()), list(b.items()))
    if isinstance(a, (list, tuple, collections.deque)):
        bound = getattr(a, "maxlen", None) == getattr(b, "maxlen", None)
        items = len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
        return bound and items and same(getattr(a, "__dict__", None), getattr(b, "__dict__", None))
    if isinstance(a, (set, frozenset)):
        return len(a) == len(b) and all(any(same(x, y) for y in b) for x in a)
    if isinstance(a, (dt.datetime, dt.time)):
        naive = a.replace(tzinfo=None) == b.replace(tzinfo=None) and a.fold == b.fold
        return naive and same(a.tzinfo, b.tzinfo)
    if dataclasses.is_dataclass(a) and not isinstance(a, type):
        own = same(getattr(a, "__dict__", None), getattr(b, "__dict__", None))
        return own and same(slots_of(a), slots_of(b))
    if isinstance(a, slice):
        return same((a.start, a.stop, a.step), (b.start, b.stop, b.step))
    return bool(a == b) and repr(a) == repr(b)


def same_model(a: BaseModel, b: BaseModel) -> bool:
    """All four places where a pydantic model keeps state."""
    names = ("__dict__", "__pydantic_extra__", "__pydantic_private__", "__pydantic_fields_set__")
    return all(same(getattr(a, name), getattr(b, name)) for name in names)


def same_exception(a: BaseException, b: BaseException) -> bool:
    """Arguments, attributes, builtin fields, and the chain."""
    names = ("args", "__dict__", "__cause__", "__context__", "__suppress_context__")
    fields = (
        "errno",
        "filename",
        "filename2",
        "strerror",
        "code",
        "value",
        "name",
        "path",
        "reason",
        "start",
    )
    chain = all(same(getattr(a, name), getattr(b, name)) for name in names)
    return chain and all(same(getattr(a, name, None), getattr(b, name, None)) for name in fields)


def same_numpy(a: Any, b: Any) -> bool:
    """Dtype, shape, memory order, items."""
    import numpy as np

    if isinstance(a, np.ndarray):
        layout = (a.dtype, a.shape, a.flags.writeable) == (b.dtype, b.shape, b.flags.writeable)
        if a.dtype.kind == "O":
            return layout and same(a.tolist(), b.tolist())
        return layout and repr(a.tolist()) == repr(b.tolist())
    return repr(a) == repr(b) and getattr(a, "dtype", None) == getattr(b, "dtype", None)


def same_pandas(a: Any, b: Any) -> bool:
    """As pandas' own test helpers see it, and by attributes that they leave out."""
    import pandas as pd

    if isinstance(a, pd.DataFrame):
        pd.testing.assert_frame_equal(a, b, check_exact=True, check_freq=True, check_index_type="exact")
        objects = [i for i, dtype in enumerate(a.dtypes) if dtype.kind == "O"]
        inner = all(same(a.iloc[:, i].tolist(), b.iloc[:, i].tolist()) for i in objects)
        return inner and same(a.attrs, b.attrs) and type(a.columns) is type(b.columns)
    if isinstance(a, pd.Series):
        pd.testing.assert_series_equal(a, b, check_exact=True, check_index_type="exact")
        return same(a.attrs, b.attrs) and same(a.name, b.name)
    if isinstance(a, pd.Index):
        pd.testing.assert_index_equal(a, b, exact=True, check_exact=True)
        return getattr(a, "freq", None) == getattr(b, "freq", None)
    names = ("unit", "tzinfo", "fold", "closed", "dtype", "freqstr")
    return repr(a) == repr(b) and all(getattr(a, n, None) == getattr(b, n, None) for n in names)
