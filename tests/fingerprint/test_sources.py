"""From a function in memory to its text: only where the text is proven to be the function's."""

from __future__ import annotations
import __future__

import importlib
import linecache
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from jupyter_wfresume.fingerprint import changes, sources
from jupyter_wfresume.fingerprint.bytecode import code_text, same_code
from tests.fingerprint.cells import IMPORTS, codes, flow, notebook, one, reasons

LAMBDAS = "pair = (lambda a: a + 1, lambda a: a + 2, lambda a: (lambda b: b)(a)); first, second, third = pair"


def test_lambdas_on_one_line_are_told_apart() -> None:
    """Several lambdas may stand on one line; each counts for the step that uses it."""
    body = flow("return StopEvent(result=second(1))")
    before = one(LAMBDAS, body)
    assert changes(before.parts, one(LAMBDAS.replace("a + 1", "a + 7"), body).parts) == []
    assert changes(before.parts, one(LAMBDAS.replace("a + 2", "a + 7"), body).parts) == [
        "helper second() differs"
    ]


def test_a_lambda_counts_by_its_text_and_its_names() -> None:
    """A lambda's helper is its part, and it is called what it is bound to."""
    cells = ["def g(x): return x", "score = lambda x: g(x)", flow("return StopEvent(result=score(1))")]
    before = one(*cells)
    assert {"helper score()", "helper g()"} <= before.parts.keys()
    cells[0] = "def g(x): return -x"
    assert changes(before.parts, one(*cells).parts) == ["helper g() differs"]


def test_functions_of_one_name_are_told_apart() -> None:
    """Two functions of one name in different scopes are two parts, and may not change places unseen."""
    cell = """
def a():
    def inner(x): return x + 1
    return inner
def b():
    def inner(x): return x + 2
    return inner
f, g = {}
"""
    body = flow("return StopEvent(result=f(1) * g(2) ** 2)")
    before = one(cell.format("a(), b()"), body)
    assert before.digest == one(cell.format("a(), b()"), body).digest
    after = one(cell.format("b(), a()"), body)
    assert before.digest != after.digest
    assert changes(before.parts, after.parts)


def test_names_that_change_places_are_seen() -> None:
    """Where two names are bound the other way round, the same pieces mean something else."""
    cell = "def up(x): return x + 1\ndef down(x): return x - 1\nf, g = {}"
    body = flow("return StopEvent(result=f(g(1)))")
    before, after = one(cell.format("up, down"), body), one(cell.format("down, up"), body)
    assert changes(before.parts, after.parts) == ["name f differs", "name g differs"]


def test_a_librarys_function_under_another_name() -> None:
    """Which of a library's functions a name means is seen, though the library's version is the same."""
    body = flow("return StopEvent(result=(encode([]), m.sqrt(1), TABLE['a'](1)))")
    cell = "from json import dumps as encode\nimport math as m\nTABLE = {'a': len}"
    before = one(cell, body)
    for old, new, said in (
        ("dumps", "loads", "the step itself differs"),
        ("math", "cmath", "the step itself differs"),
        ("len", "abs", "global TABLE (dict) differs"),
    ):
        assert changes(before.parts, one(cell.replace(old, new), body).parts) == [said]


def test_a_long_chain_of_helpers() -> None:
    """Helpers may call each other in a chain longer than the stack."""
    cell = "\n".join(f"def h{n}(x): return h{n + 1}(x)" for n in range(1500)) + "\ndef h1500(x): return {}"
    body = flow("return StopEvent(result=h0(1))")
    before, after = one(cell.format(1), body), one(cell.format(2), body)
    assert changes(before.parts, after.parts) == ["helper h1500() differs"]


def test_a_cycle_ends() -> None:
    """Functions that call each other, and classes that name themselves, are each read once."""
    cell = """
def even(n): return n == 0 or odd(n - 1)
def odd(n): return n != 0 and even(n - 1)
class Tree:
    def grow(self): return Tree()
"""
    body = flow("return StopEvent(result=(even(1), Tree()))")
    before = one(cell, body)
    assert {"helper even()", "helper odd()", "class Tree"} <= before.parts.keys()
    assert changes(before.parts, one(cell.replace("n != 0", "n > 0"), body).parts) == ["helper odd() differs"]


def test_a_cell_below_a_future_import() -> None:
    """IPython compiles a cell with the ``__future__`` imports of earlier cells; its source is found."""
    cell = "def clean(x: Missing) -> Missing:\n    def inner(y: Missing): return y\n    return inner(x)\n"
    linecache.cache["<later cell>"] = (len(cell), None, cell.splitlines(keepends=True), "<later cell>")
    space: dict[str, Any] = {}
    exec(
        compile(cell, "<later cell>", "exec", __future__.annotations.compiler_flag, dont_inherit=True), space
    )
    found = sources.Sources().find(space["clean"].__code__, space)
    assert found is not None
    assert ("outer", "Missing") not in found.read.chains


def test_the_order_of_a_constant_set_is_no_difference() -> None:
    """Two compilations of one text may order a constant set differently; they are the same code."""

    def has(x: int) -> bool:
        return x in {0, 8}

    code = has.__code__
    orders = [frozenset([0, 8]), frozenset([8, 0])]
    assert repr(orders[0]) != repr(orders[1])
    ways = [
        code.replace(
            co_consts=tuple(order if isinstance(each, frozenset) else each for each in code.co_consts)
        )
        for order in orders
    ]
    assert same_code(*ways)
    assert code_text(ways[0]) == code_text(ways[1])
    assert not same_code(ways[0], code.replace(co_consts=tuple(reversed(code.co_consts))))


def test_without_source_the_code_object_counts() -> None:
    """Code that was executed from a text nobody kept: edits are seen, comments and docstrings are not."""
    cells = [
        "LIMIT = 3\nNAMES = {'a', 'b'}",
        'def clean(x):\n    """Clean."""\n    return x[:LIMIT] if x in {"p", "q", "r"} else x',
        flow("return StopEvent(result=clean(self.start))", "    start = 'abc'"),
    ]
    before = one(*cells, source=False)
    assert {"helper clean()", "constant LIMIT", "class attribute start"} <= before.parts.keys()

    def after(position: int, old: str, new: str) -> list[str]:
        edited = list(cells)
        assert old in edited[position]
        edited[position] = edited[position].replace(old, new)
        return changes(before.parts, one(*edited, source=False).parts)

    assert after(1, '"""Clean."""', '"""Make clean."""  # so') == []
    assert after(1, "else x", "else x + x") == ["helper clean() differs"]
    assert after(0, "LIMIT = 3", "LIMIT = 4") == ["constant LIMIT differs"]
    assert after(2, "'abc'", "'abd'") == ["class attribute start differs"]


def module_at(folder: Path, source: str, name: str = "helpers") -> None:
    """Write a module of the user's; its time stamp moves, so that Python sees the edit."""
    path = folder / f"{name}.py"
    before = path.stat().st_mtime if path.exists() else 0
    path.write_text(source)
    os.utime(path, (before + 1000, before + 1000))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder of modules importable, and forget its modules afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    known = set(sys.modules)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    for name in set(sys.modules) - known:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
    linecache.checkcache()


HELPERS = """\
RATE = 2
def clean(x):
    return strip(x) * RATE
def strip(x):
    return x.strip()
def other(x):
    return x
"""


def test_only_what_is_used_of_a_users_module_counts(folder: Path) -> None:
    """``helpers.clean`` means that function and what it names; an edit counts once the module is reloaded."""
    module_at(folder, HELPERS)
    cells = (IMPORTS, "import helpers", flow("return StopEvent(result=helpers.clean('a'))"))
    before = codes(notebook(*cells))
    assert {"helper clean()", "helper strip()", "constant RATE"} <= before["work"].parts.keys()

    def after(source: str) -> dict[str, list[str]]:
        module_at(folder, source)
        importlib.reload(sys.modules["helpers"])
        return reasons(before, codes(notebook(*cells)))

    assert after(HELPERS.replace("    return x\n", "    return x + x\n")) == {}
    assert after("# moved down\n\n" + HELPERS) == {}
    assert after(HELPERS.replace("RATE = 2", "RATE = 3")) == {"work": ["constant RATE differs"]}
    assert after(HELPERS.replace("x.strip()", "x.lstrip()")) == {"work": ["helper strip() differs"]}
    assert after(HELPERS) == {}


def test_from_import_and_submodules_of_the_users(folder: Path) -> None:
    """It does not matter how the user imports their function."""
    (folder / "mine").mkdir()
    (folder / "mine" / "__init__.py").write_text("")
    module_at(folder / "mine", HELPERS, "texts")
    ways = [
        ("import mine.texts", "mine.texts.clean"),
        ("from mine import texts", "texts.clean"),
        ("from mine.texts import clean", "clean"),
        ("import mine.texts as t", "t.clean"),
    ]
    for line, call in ways:
        parts = one(line, flow(f"return StopEvent(result={call}('a'))")).parts
        assert {"helper clean()", "helper strip()", "constant RATE"} <= parts.keys()
        assert "helper other()" not in parts


def test_a_file_that_changed_since_it_was_imported(folder: Path) -> None:
    """What runs is what is in memory: an edit on disk that was not loaded changes nothing that runs."""
    module_at(folder, HELPERS)
    cells = (IMPORTS, "import helpers", flow("return StopEvent(result=helpers.clean('a'))"))
    space = notebook(*cells)
    module_at(folder, "# moved\n\n\n" + HELPERS.replace("x.strip()", "x.lstrip()"))
    linecache.checkcache()
    stale = codes(space)
    importlib.reload(sys.modules["helpers"])
    fresh = codes(notebook(*cells))
    assert reasons(stale, fresh) == {"work": ["helper strip() differs"]}


def test_an_import_inside_a_step_counts_before_it_is_loaded(folder: Path) -> None:
    """A module that a step imports counts by its file, alike before and after its first execution."""
    module_at(folder, "import deeper\n" + HELPERS)
    module_at(folder, "DEPTH = 1\n", "deeper")
    body = flow("import helpers; return StopEvent(result=helpers.clean('a'))")
    before = one(body)
    assert {"module helpers", "module deeper"} <= before.parts.keys()
    assert "helpers" not in sys.modules
    importlib.import_module("helpers")
    assert one(body).parts == before.parts
    module_at(folder, "import deeper\n# a note\n" + HELPERS)
    assert one(body).parts == before.parts
    module_at(folder, "DEPTH = 2\n", "deeper")
    assert changes(before.parts, one(body).parts) == ["module deeper differs"]


def test_a_module_handed_on_counts_as_a_whole(folder: Path) -> None:
    """Where a user's module is a value, anything of it may be used."""
    module_at(folder, HELPERS)
    parts = one("import helpers", flow("return StopEvent(result=getattr(helpers, ev.name))")).parts
    assert {"module helpers", "helper other()", "helper strip()", "constant RATE"} <= parts.keys()


def installed(folder: Path, version: str, source: str = "def get(x): return x\n") -> None:
    """Put a package where installers put them."""
    site = folder / "site-packages"
    (site / "fetcher").mkdir(parents=True, exist_ok=True)
    (site / "fetcher" / "__init__.py").write_text(source)
    for old in site.glob("*.dist-info"):
        (old / "RECORD").unlink()
        old.rmdir()
    info = site / f"the_fetcher-{version}.dist-info"
    info.mkdir()
    (info / "RECORD").write_text("fetcher/__init__.py,,\n")


def test_an_installed_package_counts_by_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package's own code is not read; its version is, from the distribution that holds it."""
    from jupyter_wfresume.fingerprint import owners

    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    body = flow("return StopEvent(result=fetcher.get(1))")
    found = {}
    for version, source in (("0.27", "def get(x): return x\n"), ("0.28", "def get(x): return -x\n")):
        installed(tmp_path, version, source)
        owners._version.cache_clear()  # as in a new kernel
        monkeypatch.delitem(sys.modules, "fetcher", raising=False)
        importlib.invalidate_caches()
        found[version] = one("import fetcher", body)
        inside = one(flow("import fetcher; return StopEvent(result=fetcher.get(1))"))
        assert f"package fetcher {version}" in inside.parts
    monkeypatch.delitem(sys.modules, "fetcher")
    assert "helper get()" not in found["0.27"].parts
    assert changes(found["0.27"].parts, found["0.28"].parts) == ["package fetcher: 0.27 -> 0.28"]


def test_real_packages_have_their_versions() -> None:
    """The engine, a namespace and Python's own library are found under their names."""
    parts = one(
        "import json\nimport numpy as np\nfrom llama_index.core.schema import Document",
        flow("return StopEvent(result=(json.dumps({}), np.zeros(3), Document))"),
    ).parts
    versions = {part.split()[1]: part.split()[2] for part in parts if part.startswith("package ")}
    assert versions["python"] == f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert versions["workflows"].startswith("2.")
    assert versions["numpy"] == sys.modules["numpy"].__version__
    assert versions["llama_index.core"].startswith("0.")


def test_this_library_does_not_count() -> None:
    """A new version of this library makes no recorded result stale."""
    parts = one("from jupyter_wfresume import durable", flow("return StopEvent(result=durable)")).parts
    assert not [part for part in parts if "durable" in part or "wfresume" in part]
