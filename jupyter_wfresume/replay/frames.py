"""Where two pandas tables differ; pandas is used only where a value is one of its own already."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator
from typing import Any

from .arrays import FIRST, cells_shown, some, unequal
from .words import Difference, Shown, difference, show

Same = Callable[[Any, Any], bool]
Pairs = list[tuple[int, int]]


def is_table(value: Any) -> bool:
    """Whether a value is a DataFrame, a Series or an Index."""
    pandas = sys.modules.get("pandas")
    kinds = [getattr(pandas, name, None) for name in ("DataFrame", "Series", "Index")]
    return any(kind is not None and isinstance(value, kind) for kind in kinds)


def walk(old: Any, new: Any, path: str, same: Same) -> Iterator[Difference]:
    """The differences of two tables: rows, columns, dtypes, and the number of cells with the first few.

    Args:
        old: one table.
        new: the other.
        path: where they are.
        same: compares two cells that are objects.
    """
    if old.ndim == 1 and not hasattr(old, "index"):
        yield from _index(old, new, path, same)
        return
    single = old.ndim == 1
    if single:
        if not same(old.name, new.name):
            yield difference(f"{path}.name", "changed", old.name, new.name)
        old, new = old.to_frame(), new.to_frame()
        columns = [(0, 0)]
    else:
        columns = yield from _labels(old.columns, new.columns, path, "columns", same)
    rows = yield from _labels(old.index, new.index, path, "rows", same)
    yield from _cells(old, new, path, same, (rows, columns), single)


def _index(old: Any, new: Any, path: str, same: Same) -> Iterator[Difference]:
    if old.dtype != new.dtype:
        yield _dtypes(f"{path}.dtype", old, new)
    if not same(list(old.names), list(new.names)):
        yield difference(f"{path}.names", "changed", list(old.names), list(new.names))
    if not same(list(old), list(new)):
        yield difference(path, "changed", list(old), list(new))


def _dtypes(path: str, old: Any, new: Any) -> Difference:
    names = str(old.dtype), str(new.dtype)
    # Categories have a name that does not tell them apart.
    was, now = names if names[0] != names[1] else (repr(old.dtype), repr(new.dtype))
    return difference(path, "changed", was, now)


def _labels(
    old: Any, new: Any, path: str, word: str, same: Same
) -> Generator[Difference, None, list[tuple[int, int]]]:
    """Say which labels came and went; return the pairs of positions that are left to compare."""
    at = f"{path}.{word}"
    if not same(list(old.names), list(new.names)):
        yield difference(f"{at}.names", "changed", list(old.names), list(new.names))
    if old.equals(new):
        return [(i, i) for i in range(len(old))]
    if not (old.is_unique and new.is_unique):
        yield difference(at, "changed", list(old), list(new))
        return [(i, i) for i in range(len(old))] if len(old) == len(new) else []
    gone, come = [x for x in old if x not in new], [x for x in new if x not in old]
    if gone:
        yield difference(at, "removed", gone, None, Shown("pair", (("-", some(gone)),)))
    if come:
        yield difference(at, "added", None, come, Shown("pair", (("+", some(come)),)))
    places = {label: i for i, label in enumerate(new)}
    pairs = [(i, places[label]) for i, label in enumerate(old) if label in places]
    order = [j for _, j in pairs]
    if order != sorted(order):
        moved = Shown("pair", (), f"other order: {some(list(new))}")
        yield difference(at, "changed", list(old), list(new), moved)
    return pairs


def _cells(
    old: Any, new: Any, path: str, same: Same, pairs: tuple[Pairs, Pairs], single: bool
) -> Iterator[Difference]:
    rows, columns = pairs
    left, right = [a for a, _ in rows], [b for _, b in rows]
    count = 0
    first: list[tuple[str, Any, Any]] = []
    for a, b in columns:
        was, now = old.iloc[left, a], new.iloc[right, b]
        label = "" if single else show(old.columns[a], 40)
        if was.dtype != now.dtype:
            yield _dtypes(f"{path}.dtype" if single else f"{path}[{label}].dtype", was, now)
        elif was.reset_index(drop=True).equals(now.reset_index(drop=True)):
            continue
        mask = unequal(_plain(was), _plain(now), _or_missing(same))
        count += int(mask.sum())
        for at in mask.nonzero()[0][: max(0, FIRST - len(first))]:
            row = show(old.index[left[at]], 40)
            first.append((f"[{row}]" if single else f"[{row}, {label}]", was.iloc[at], now.iloc[at]))
    if count:
        yield difference(path, "changed", old, new, cells_shown(count, len(rows) * len(columns), first))


def _plain(column: Any) -> Any:
    """A column as an array: as it is where numpy has its kind, else of objects."""
    np: Any = sys.modules["numpy"]
    if isinstance(column.dtype, np.dtype) and column.dtype.kind != "O":
        return column.to_numpy()
    found = np.empty(len(column), dtype=object)
    found[:] = list(column)
    return found


def _or_missing(same: Same) -> Same:
    pandas: Any = sys.modules["pandas"]

    def cells(a: Any, b: Any) -> bool:
        if a is pandas.NA or b is pandas.NA:
            return a is b
        return same(a, b)

    return cells
