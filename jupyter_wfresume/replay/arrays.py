"""Where two numpy arrays differ; numpy is used only where a value is one of its own already."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from .words import Difference, Shown, difference, show

FIRST = 5
"""Cells that are shown."""


def is_array(value: Any) -> bool:
    """Whether a value is a numpy array."""
    cls: Any = getattr(sys.modules.get("numpy"), "ndarray", None)
    return cls is not None and isinstance(value, cls)


def walk(old: Any, new: Any, path: str, same: Callable[[Any, Any], bool]) -> Iterator[Difference]:
    """The differences of two arrays: shape, dtype, and the number of cells with the first few.

    Args:
        old: one array.
        new: the other.
        path: where they are.
        same: compares two cells that are objects.
    """
    if old.dtype != new.dtype:
        yield difference(f"{path}.dtype", "changed", str(old.dtype), str(new.dtype))
    if old.shape != new.shape:
        yield difference(f"{path}.shape", "changed", old.shape, new.shape)
        return
    mask = unequal(old, new, same)
    count = int(mask.sum())
    if not count:
        return
    np: Any = sys.modules["numpy"]
    places = [tuple(int(i) for i in place) for place in np.argwhere(mask)[:FIRST]]
    cells = [(str(list(place)) if place else "", old[place], new[place]) for place in places]
    yield difference(path, "changed", old, new, cells_shown(count, int(mask.size), cells))


def unequal(old: Any, new: Any, same: Callable[[Any, Any], bool]) -> Any:
    """A mask of the cells that differ, of two arrays of one shape; NaN equals NaN.

    Args:
        old: one array.
        new: the other.
        same: compares two cells that are objects.
    """
    np: Any = sys.modules["numpy"]
    if old.dtype.kind in "biufcmMSU" and new.dtype.kind in "biufcmMSU":
        # Tables hold missing values as NaN and NaT, which are unequal to themselves.
        try:
            return np.asarray((old != new) & ~((old != old) & (new != new)))
        except TypeError:
            return np.ones(old.shape, dtype=bool)
    pairs = zip(old.ravel().tolist(), new.ravel().tolist(), strict=True)
    flat = np.fromiter((not same(a, b) for a, b in pairs), dtype=bool, count=old.size)
    return flat.reshape(old.shape)


def cells_shown(count: int, size: int, cells: list[tuple[str, Any, Any]]) -> Shown:
    """The first few cells, old beside new, and how many there are.

    Args:
        count: cells that differ.
        size: cells there are.
        cells: label, old and new of the first few.
    """
    each = [difference(label, "changed", a, b).text.replace("\n", " ⏎ ") for label, a, b in cells]
    named = [f"{label}: {text}" if label else text for (label, _, _), text in zip(cells, each, strict=True)]
    rest = f"; … and {count - len(cells)} more" if count > len(cells) else ""
    return Shown("pair", (), f"{count:,} of {size:,} cells differ: {'; '.join(named)}{rest}")


def some(values: list[Any]) -> str:
    """A few values, and how many there are."""
    rest = f", … {len(values) - FIRST} more" if len(values) > FIRST else ""
    return ", ".join(show(value, 40) for value in values[:FIRST]) + rest
