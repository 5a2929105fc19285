"""Whose code it is: the user's, an installed package's, or Python's own."""

from __future__ import annotations

import os
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

ENGINE = "workflows"
_OURS = __name__.partition(".")[0]
_INSTALLED = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class Origin:
    """Where a module comes from.

    Args:
        user: its code is the user's.
        package: the installed package, such as ``httpx``; ``python`` for Python's own; empty where
            it does not count.
        version: the package's.
        file: the module's source, empty where there is none.
    """

    user: bool
    package: str = ""
    version: str = ""
    file: str = ""


_USER = Origin(True)
_NOBODY = Origin(False)  # builtins, and this library: neither changes what a step computes


class Owners:
    """Answers whose a module is, each module once."""

    def __init__(self) -> None:
        self._modules: dict[str, Origin] = {}

    def of_module(self, module: ModuleType) -> Origin:
        """Of a module."""
        return self._of(module.__name__, _file_of(module))

    def of_function(self, function: FunctionType) -> Origin:
        """Of a function: its globals tell, since ``wraps`` copies ``__module__``."""
        space = function.__globals__
        return self._of(space.get("__name__"), space.get("__file__"))

    def of_name(self, module: Any) -> Origin:
        """Of what says that it was defined in a module of this name."""
        if not isinstance(module, str):
            return _USER
        known = self._modules.get(module)
        if known is not None:
            return known
        loaded = sys.modules.get(module)
        return self._of(module, "" if loaded is None else _file_of(loaded))

    def of_import(self, module: str) -> Origin:
        """Of a module that may not be loaded yet; it is found, not imported."""
        loaded = sys.modules.get(module)
        if loaded is not None:
            return self._of(module, _file_of(loaded))
        return self._of(module, _find_file(module))

    def _of(self, name: Any, file: Any) -> Origin:
        if not isinstance(name, str):
            return _USER
        found = self._modules.get(name)
        if found is None:
            found = self._modules[name] = _origin(name, file if isinstance(file, str) else "")
        return found


def _file_of(module: ModuleType) -> str:
    """A module's file; of a namespace, which has none, its folder."""
    space = vars(module)
    file = space.get("__file__")
    if file is None and "__path__" in space:
        file = next(iter(space["__path__"]), "")
    return file if isinstance(file, str) else ""


def _origin(name: str, file: str) -> Origin:
    top = name.partition(".")[0]
    if top == "__main__" or top == "__mp_main__":
        return _USER
    if top in (_OURS, "builtins"):
        return _NOBODY
    parts = Path(file).parts
    if any(folder in parts for folder in _INSTALLED):
        return _package(name, file)
    if file.startswith(_python_folders()) or (not file and top in sys.stdlib_module_names):
        return Origin(False, "python", f"{sys.version_info[0]}.{sys.version_info[1]}")
    return Origin(True, file=file) if file else _USER


@cache
def _python_folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple(paths[name] + os.sep for name in ("stdlib", "platstdlib"))


def _package(name: str, file: str) -> Origin:
    parts = Path(file).parts
    at = max(position for position, part in enumerate(parts) if part in _INSTALLED)
    folder = str(Path(*parts[: at + 1]))
    inside = parts[at + 1 :]
    # A namespace such as ``google`` has no code of its own: the package is the first folder that has.
    depth = 1
    while depth < len(inside) and not Path(folder, *inside[:depth], "__init__.py").exists():
        depth += 1
    if len(inside) == 1 or depth == len(inside):
        return Origin(False, name.partition(".")[0], _version(folder, "/".join(inside)))
    return Origin(False, ".".join(inside[:depth]), _version(folder, "/".join(inside[:depth]) + "/"))


@cache
def _version(folder: str, path: str) -> str:
    """Version of the installed distribution that holds a path, read from its record.

    ``importlib.metadata.packages_distributions`` reads all distributions, 0.2 s for 180 of them.
    """
    top = path.split("/")[0].split(".")[0].lower()
    infos = sorted(
        (name for name in os.listdir(folder) if name.endswith(".dist-info")),
        key=lambda name: (not name.lower().startswith(f"{top}-"), top not in name.lower(), name),
    )
    for info in infos:
        try:
            record = Path(folder, info, "RECORD").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if record.startswith(path) or f"\n{path}" in record:
            return info.removesuffix(".dist-info").partition("-")[2]
    module = sys.modules.get(path.strip("/").replace("/", "."))
    said = None if module is None else vars(module).get("__version__")
    return said if isinstance(said, str) else ""


def _find_file(module: str) -> str:
    """The file of a module, found without running the packages above it."""
    names = module.split(".")
    path: Any = None
    spec: ModuleSpec | None = None
    for depth in range(len(names)):
        try:
            spec = PathFinder.find_spec(".".join(names[: depth + 1]), path)
        except (ImportError, ValueError):
            return ""
        if spec is None:
            return ""
        path = spec.submodule_search_locations
    return (spec.origin or "") if spec is not None and spec.has_location else ""
