"""Count what really ran, over kills: one line a call in a file opened with O_APPEND.

A line is one ``write`` of a few bytes: processes and threads do not mix lines, and what was
written before a SIGKILL stays written.
"""

from __future__ import annotations

import inspect
import os
from collections import Counter


def bump(path: str | os.PathLike[str], label: str) -> None:
    """Append ``label`` as one line.

    Args:
        path: the file; made where it is missing.
        label: what ran, such as ``work 17``; one line.

    Raises:
        ValueError: the label has a line break.
    """
    if "\n" in label:
        raise ValueError(f"a label is one line, and {label!r} is not")
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, f"{label}\n".encode())
    finally:
        os.close(handle)


def counts(path: str | os.PathLike[str]) -> Counter[str]:
    """Return how often each label was written; empty where the file is missing."""
    try:
        with open(path, encoding="utf-8") as lines:
            return Counter(lines.read().splitlines())
    except FileNotFoundError:
        return Counter()


SOURCE = "from __future__ import annotations\nimport os\nfrom collections import Counter\n\n" + "\n".join(
    inspect.getsource(function) for function in (bump, counts)
)
"""The two functions as the text of a notebook cell, for a kernel that cannot import this module."""
