"""The plan of the house: floors, doors and pure rooms, read from the source without importing it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.source import PACKAGE, lines, name_of, python_files, tree

ROOF = "__init__"
SHED = "testing"
# From the cellar up. A room imports from floors below its own; a new room is entered here first.
FLOORS = (
    ("errors",),
    ("records", "typed"),
    ("codec", "store", "projection", "engine", "executors"),
    ("journal", "plan", "effects", "fingerprint", "migrations"),
    ("runtime", "replay"),
    ("session", "board"),
    ("durable",),
    ("show",),
    ("explore",),
    ("magics", "cli"),
    (ROOF,),
)
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}

# Which rooms may import an outside library: one door each, so that a change outside changes one room.
DOORS: dict[str, set[str]] = {
    "diskcache": {"store"},
    "workflows": {"engine"},
    "llama_index_instrumentation": {"engine"},  # it comes with the engine, and tells of models' calls
    "ipywidgets": {"board"},
    "IPython": {"magics"},
    "pydantic": {
        "codec",
        "engine",
    },  # events are pydantic models: the codec writes them, the engine makes them
    "pydantic_core": {"codec", "engine"},
    "numpy": {"codec"},
    "pandas": {"codec", "durable"},  # values on one side, `runs().to_frame()` on the other
    "PIL": {"codec"},
    "dateutil": {"codec"},  # zones of datetimes, where they are installed
    "pytz": {"codec"},
    "pyarrow": {"codec"},
    "llama_index": {"codec"},
    "nbformat": {"cli"},
    "nbclient": {"cli"},
    "jupyter_client": {"cli"},
}

PURE = {"records", "codec", "projection", "plan", "fingerprint"}
CLOCKS_AND_DICE = {"time", "random", "asyncio", "logging", "secrets", "threading"}
IMPURE_CALLS = {"now", "utcnow", "today", "uuid1", "uuid4", "urandom"}


def room_of(path: Path) -> str:
    """A room is a module of the package, or a folder with all its modules."""
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imports_of(path: Path, source: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of each import, relative ones resolved, wherever in the file it stands."""
    package = ["jupyter_wfresume", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(source):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


def room_imports(path: Path, source: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and room of each import from this package; a name that is no room is the roof's."""
    rooms = {room_of(file) for file in python_files(PACKAGE)} | FLOOR_OF.keys() | {SHED}
    for line, name in imports_of(path, source):
        parts = name.split(".")
        if parts[0] == "jupyter_wfresume":
            yield line, parts[1] if len(parts) > 1 and parts[1] in rooms else ROOF


def floor_faults(path: Path, source: ast.Module) -> list[str]:
    """Say which imports of a file go up, sideways, or into the shed."""
    room = room_of(path)
    if room not in FLOOR_OF:  # the shed looks where it likes; a room without a floor fails its own test
        return []
    floor = FLOOR_OF[room]
    return [
        f"{name_of(path)}:{line}: '{room}' imports '{other}', which is not on a floor below it"
        for line, other in room_imports(path, source)
        if other != room and FLOOR_OF.get(other, len(FLOORS)) >= floor
    ]


def door_faults(path: Path, source: ast.Module) -> list[str]:
    """Say which imports of a file reach an outside library past its door."""
    room = room_of(path)
    faults = []
    for line, name in imports_of(path, source):
        library = name.split(".")[0]
        if library == "jupyter_wfresume" or library in sys.stdlib_module_names:
            continue
        if room not in DOORS.get(library, set()) and room != SHED:
            doors = ", ".join(sorted(DOORS.get(library, set()))) or "no room: enter it in DOORS first"
            faults.append(f"{name_of(path)}:{line}: '{room}' imports {library}, whose door is {doors}")
    return faults


def purity_faults(path: Path, source: ast.Module) -> list[str]:
    """Say where a pure room reads a clock, rolls dice, logs or runs a loop."""
    room = room_of(path)
    faults = [
        f"{name_of(path)}:{line}: pure room '{room}' imports {name}"
        for line, name in imports_of(path, source)
        if name.split(".")[0] in CLOCKS_AND_DICE
    ]
    for node in ast.walk(source):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in IMPURE_CALLS:
                faults.append(f"{name_of(path)}:{node.lineno}: pure room '{room}' calls {called}()")
    return faults


def test_every_room_has_a_floor() -> None:
    """A module of the package is entered in the plan before it is built."""
    rooms = {room_of(path) for path in python_files(PACKAGE)}
    assert rooms - FLOOR_OF.keys() - {SHED} == set()


def test_imports_point_down_only() -> None:
    """No room imports one above it, one beside it, or the shed, not even for types or inside a function."""
    faults = [fault for path in python_files(PACKAGE) for fault in floor_faults(path, tree(path))]
    assert not faults, lines(faults)


def test_an_outside_library_has_one_door() -> None:
    """An outside library is imported only by the rooms that are its doors."""
    faults = [fault for path in python_files(PACKAGE) for fault in door_faults(path, tree(path))]
    assert not faults, lines(faults)


def test_pure_rooms_have_no_clock_and_no_dice() -> None:
    """What a pure room returns depends on its arguments alone."""
    pure = [path for path in python_files(PACKAGE) if room_of(path) in PURE]
    faults = [fault for path in pure for fault in purity_faults(path, tree(path))]
    assert not faults, lines(faults)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("journal.py", "from jupyter_wfresume.session import Session"),
        ("journal.py", "from .plan import decide"),
        ("codec/values.py", "from ..store import Store"),
        ("codec/values.py", "import jupyter_wfresume.board.draw"),
        ("store.py", "from jupyter_wfresume import testing"),
        ("durable.py", "from jupyter_wfresume import cli"),
        ("session.py", "def late():\n    from jupyter_wfresume import open_run"),
    ],
)
def test_an_import_that_does_not_point_down_is_found(file: str, line: str) -> None:
    """The floor test sees each way of writing an import that goes up, sideways or into the shed."""
    assert len(floor_faults(PACKAGE / file, ast.parse(line))) == 1


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("journal.py", "from .codec import dump"),
        ("codec/values.py", "from .scalars import dump"),
        ("codec/values.py", "from ..errors import CannotKeepError"),
        ("testing/crash.py", "from jupyter_wfresume.session import Session"),
        ("__init__.py", "from jupyter_wfresume.durable import durable"),
    ],
)
def test_an_import_that_points_down_passes(file: str, line: str) -> None:
    """The floor test lets pass what goes down or stays in the room."""
    assert floor_faults(PACKAGE / file, ast.parse(line)) == []


def test_a_library_past_its_door_is_found() -> None:
    """The door test sees a library in a wrong room, and one that has no door."""
    assert len(door_faults(PACKAGE / "journal.py", ast.parse("from workflows.events import Event"))) == 1
    assert len(door_faults(PACKAGE / "journal.py", ast.parse("import httpx"))) == 1
    assert door_faults(PACKAGE / "engine/fold.py", ast.parse("import workflows.runtime")) == []


@pytest.mark.parametrize(
    "line",
    ["import time", "from asyncio import sleep", "import datetime\ndatetime.datetime.now()", "uuid4()"],
)
def test_a_clock_in_a_pure_room_is_found(line: str) -> None:
    """The purity test sees clocks and dice, imported or called."""
    assert len(purity_faults(PACKAGE / "plan.py", ast.parse(line))) == 1


def test_a_time_of_day_is_no_clock() -> None:
    """The type ``datetime.time`` and a field named ``now`` are values, which a pure room may handle."""
    source = ast.parse("from datetime import time\nfrom uuid import UUID\nview.now + 1")
    assert purity_faults(PACKAGE / "codec.py", source) == []
