"""What the project says of itself agrees with itself, and the roof is a sorted list of names."""

from __future__ import annotations

import ast
import configparser
import importlib
import re
import sys
from typing import Any

from packaging.requirements import Requirement
from packaging.version import Version

from tests.house.source import PACKAGE, ROOT, tree

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest brings it where the standard library lacks it


def pyproject() -> dict[str, Any]:
    """Return pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def setup_cfg() -> configparser.ConfigParser:
    """Return setup.cfg."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string((ROOT / "setup.cfg").read_text(encoding="utf-8"))
    return parser


def lower_ends() -> dict[str, Version]:
    """Return the oldest allowed version of each dependency."""
    required = [Requirement(line) for line in pyproject()["project"]["dependencies"]]
    return {
        one.name: Version(part.version) for one in required for part in one.specifier if part.operator == ">="
    }


def test_each_tool_is_set_in_one_place() -> None:
    """A tool reads either pyproject.toml or setup.cfg, never both."""
    in_toml = set(pyproject()["tool"])
    in_cfg = {re.split(r"[:-]", name.removeprefix("tool:"))[0] for name in setup_cfg().sections()}
    assert in_cfg == {"pytest", "mypy"}
    assert in_toml & in_cfg == set()


def test_warnings_are_errors_and_types_are_strict() -> None:
    """The two settings that everything leans on are on."""
    parser = setup_cfg()
    assert parser["tool:pytest"]["filterwarnings"].split()[0] == "error"
    assert parser.getboolean("mypy", "strict")


def test_every_dependency_has_both_ends() -> None:
    """A dependency, of an extra too, has a tested lower end and an upper end."""
    project = pyproject()["project"]
    lines = [
        *project["dependencies"],
        *(line for extra in project["optional-dependencies"].values() for line in extra),
    ]
    required = [one for one in map(Requirement, lines) if one.name != project["name"]]
    assert [str(one) for one in required if {part.operator for part in one.specifier} != {">=", "<"}] == []


def test_the_lowest_versions_tested_are_the_lowest_allowed() -> None:
    """``make test-lowest`` installs exactly the lower ends."""
    lines = (ROOT / "tests" / "lowest.txt").read_text(encoding="utf-8").splitlines()
    pinned = [Requirement(line) for line in lines if not line.startswith("#")]
    assert {one.name: Version(str(one.specifier).removeprefix("==")) for one in pinned} == lower_ends()


def test_the_changelog_begins_with_this_version() -> None:
    """The newest entry of the changelog is the version that is built."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+)", text, re.MULTILINE)
    assert newest is not None
    assert newest[1] == pyproject()["project"]["version"]


def test_types_are_shipped() -> None:
    """The package says that it is typed, and the wheel holds the file that says so."""
    assert (PACKAGE / "py.typed").is_file()
    assert "py.typed" in pyproject()["tool"]["setuptools"]["package-data"]["jupyter_wfresume"]


def test_the_roof_is_a_sorted_list_of_names_that_exist() -> None:
    """``__all__`` is sorted, has no name twice, and each name can be imported."""
    lists = [
        ast.literal_eval(node.value)
        for node in tree(PACKAGE / "__init__.py").body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and node.value is not None
        and "__all__" in ast.unparse(node).split("=")[0]
    ]
    assert len(lists) == 1, "the roof has no __all__"
    names = lists[0]
    assert names == sorted(set(names))
    package = importlib.import_module("jupyter_wfresume")
    assert [name for name in names if not hasattr(package, name)] == []


def test_ci_is_a_script_of_its_own() -> None:
    """``.ci/run`` names its shell and may be executed."""
    script = ROOT / ".ci" / "run"
    assert script.read_text(encoding="utf-8").startswith("#!/usr/bin/env bash\n")
    assert script.stat().st_mode & 0o100
