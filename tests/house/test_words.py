"""The words in the files: docstrings, reasons, and nothing of the machine they were written on."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from tests.house.source import PACKAGE, ROOT, lines, name_of, python_files, text_files, tree

_UNFINISHED = re.compile(r"\b(?:" + "|".join(["TO" + "DO", "FIX" + "ME", "X" * 3]) + r")\b")
_MACHINE = re.compile(r"(?<![\w.~$})>*-])/(?:" + "|".join(["work", "tmp", "root"]) + r")(?![\w-])")
_REGISTRIES = re.compile(
    r"\b(?:" + "|".join(["py" + "pi", "python" + "hosted", "npm" + "js", "anaconda"]) + r")\.(?:org|com)\b"
)
_TICKET = re.compile(r"\bissues? #?\d+", re.IGNORECASE)
_NOQA = re.compile(r"#\s*noqa\b(?P<codes>:\s*[A-Z]+\d+(?:\s*,\s*[A-Z]+\d+)*)?(?P<reason>.*)")
_IGNORE = re.compile(r"#\s*type:\s*ignore\b(?P<codes>\[[\w,\s-]+\])?(?P<reason>.*)")
_MIN_REASON = 8


def _hits(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{name_of(path)}:{number}: {line.strip()[:100]}"
        for path, text in text_files()
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def _comments() -> Iterator[tuple[str, str]]:
    for path in python_files():
        for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
            if token.type == tokenize.COMMENT:
                yield f"{name_of(path)}:{token.start[0]}", token.string


def test_nothing_is_left_unfinished() -> None:
    """No file holds a mark that says that work was left for later."""
    faults = _hits(_UNFINISHED)
    assert not faults, lines(faults)


def test_no_path_of_one_machine() -> None:
    """No file names a folder of the machine it was written on."""
    faults = _hits(_MACHINE)
    assert not faults, lines(faults)


def test_no_registry_by_host_name() -> None:
    """Where packages come from is the installer's setting, not ours."""
    faults = _hits(_REGISTRIES)
    assert not faults, lines(faults)


def test_no_ticket_by_number() -> None:
    """A reader has no list of tickets: what matters is said in place."""
    faults = _hits(_TICKET)
    assert not faults, lines(faults)


def test_every_exception_to_a_tool_has_its_codes_and_its_reason() -> None:
    """A silenced rule names its code, and the reason stands beside it."""
    faults = []
    for where, comment in _comments():
        for pattern in (_NOQA, _IGNORE):
            found = pattern.search(comment)
            if found and not (found["codes"] and len(found["reason"].strip(" #:-()")) >= _MIN_REASON):
                faults.append(f"{where}: {comment}")
    assert not faults, lines(faults)


def _undocumented(body: list[ast.stmt], prefix: str) -> Iterator[str]:
    """Yield public names without a docstring; methods of a class with bases follow the contract of those."""
    for node in body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if node.name.startswith("_") or any("overload" in ast.unparse(mark) for mark in node.decorator_list):
            continue
        if ast.get_docstring(node) is None:
            yield f"{prefix}{node.name}"
        if isinstance(node, ast.ClassDef) and not node.bases:
            yield from _undocumented(node.body, f"{prefix}{node.name}.")


def test_every_public_name_says_what_it_is() -> None:
    """Each module, public class and public function of the package has a docstring."""
    missing = []
    for path in python_files(PACKAGE):
        if ast.get_docstring(tree(path)) is None:
            missing.append(name_of(path))
        missing.extend(_undocumented(tree(path).body, f"{name_of(path)}: "))
    assert not missing, lines(missing)


def test_every_test_states_its_rule() -> None:
    """Each test function has a docstring that is a sentence."""
    missing = [
        f"{name_of(path)}:{node.lineno}: {node.name}"
        for path in python_files(ROOT / "tests")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and path.name.startswith("test_")
        and not (ast.get_docstring(node) or "").rstrip().endswith((".", "?", "!"))
    ]
    assert not missing, lines(missing)
