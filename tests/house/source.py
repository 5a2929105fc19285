"""Read the project's own files, for the house tests."""

from __future__ import annotations

import ast
import os
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "jupyter_wfresume"
_MADE = {"__pycache__", "build", "dist", "node_modules"}


@cache
def project_files() -> tuple[Path, ...]:
    """Return all files that belong to the project: what git holds or would take, without what is made."""
    if (ROOT / ".git").exists():
        command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found = [ROOT / name for name in listed.split("\0") if name]
    else:
        found = list(_walk())
    return tuple(sorted(path for path in found if path.is_file()))


def _walk() -> Iterator[Path]:
    """All files of a tree without git, hidden and made folders left out but for ``.ci``."""
    for folder, names, files in os.walk(ROOT):
        names[:] = [
            n for n in names if n == ".ci" or not (n.startswith(".") or n in _MADE or n.endswith(".egg-info"))
        ]
        yield from (Path(folder, name) for name in files)


def python_files(top: Path = ROOT) -> list[Path]:
    """Return the project's Python files below ``top``."""
    return [path for path in project_files() if path.suffix == ".py" and path.is_relative_to(top)]


def text_files() -> Iterator[tuple[Path, str]]:
    """Yield each of the project's files that is text, with its text."""
    for path in project_files():
        try:
            yield path, path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


@cache
def tree(path: Path) -> ast.Module:
    """Return the syntax tree of a Python file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def name_of(path: Path) -> str:
    """Return a path as seen from the project's top, for messages."""
    return path.relative_to(ROOT).as_posix()


def lines(faults: Iterable[str]) -> str:
    """Return faults one a line, for an assertion's message: all of them are wanted at once."""
    return "\n".join(["", *faults])
