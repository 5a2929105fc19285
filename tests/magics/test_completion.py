"""What TAB offers on our magics' lines."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

from jupyter_wfresume.durable import RunList
from jupyter_wfresume.errors import StoreError
from jupyter_wfresume.magics import completion, load
from jupyter_wfresume.magics.arguments import RUN_OPTIONS
from jupyter_wfresume.projection import Row

NAMES = ("enrich", "embed", "my run", "enrich")


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Have four runs recorded; return the stores that were asked for them."""
    asked: list[str | None] = []
    headers = [SimpleNamespace(name=name, run_id=f"{number}f3a00112233") for number, name in enumerate(NAMES)]

    def runs(name: str | None = None, store: str | None = None) -> list[SimpleNamespace]:
        asked.append(store)
        return [SimpleNamespace(header=header) for header in headers]

    rows = [Row("split", 0, "done"), *(Row("work", n, "failed" if n == 11 else "done") for n in range(12))]
    monkeypatch.setattr(completion, "runs", runs)
    monkeypatch.setattr(completion, "open_run", lambda run, store: SimpleNamespace(records=rows, left_out={}))
    monkeypatch.setattr(completion, "executions", lambda records, left_out: records)
    return asked


def offered(shell: InteractiveShell, text: str) -> list[str]:
    """Complete at the ``|`` in a cell, as the kernel does."""
    before, _, after = text.partition("|")
    with provisionalcompleter():
        return [each.text for each in shell.Completer.completions(before + after, len(before))]


OPTIONS = [option.flag for option in RUN_OPTIONS]
RUNS = ["enrich", "embed", '"my run"']


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%%wfrun |", RUNS + OPTIONS),
        ("%%wfrun e|\nx = 1\n", ["enrich", "embed"]),
        ("%%wfrun enrich |", OPTIONS),
        ("%%wfrun --timeout 5 |", [*RUNS, *(flag for flag in OPTIONS if flag != "--timeout")]),
        ("%%wfrun enrich --fresh --f|", ["--fresh"]),
        ("%%wfrun enrich --board |", ["auto", "widget", "text", "none"]),
        ("%%wfrun --wait f|", ["forever"]),
        ("%wfruns |", [*RUNS, "--store"]),
        ("x = 1\n%wfresume 1|", ["1f3a0011"]),
        ("found = %wfruns em|", ["embed"]),
        ("%wfshow e|", ["enrich", "embed"]),
        ("%wfshow enrich --diff |", [*RUNS, *(f"{number}f3a0011" for number in range(4))]),
        ("%wfshow enrich |", ["split[0]", "work", "--diff", "--store"]),
        ("%wfreplay enrich w|", ["work"]),
        ("%wfreplay enrich work[|", ["work[failed]", "work[11]", *(f"work[{n}]" for n in range(11))]),
        ("done = %wfreplay enrich work[1|", ["work[11]", "work[1]", "work[10]"]),
        ("%%wfreplay enrich spl|", ["split[0]"]),
        ("%%wfreplay --continue enrich s|", ["split[0]"]),
        ("%wfreplay enrich work[1] |", ["--continue", "--store", "--board"]),
    ],
)
def test_names_options_and_their_values_are_offered(
    text: str, expected: list[str], shell: InteractiveShell, recorded: list[str | None]
) -> None:
    """Each place of the line offers what fits there, and no Python names beside it."""
    assert offered(shell, text) == expected


def test_names_come_from_the_store_on_the_line(shell: InteractiveShell, recorded: list[str | None]) -> None:
    """A --store before the cursor is the one that is looked into."""
    assert offered(shell, "%%wfrun --store there en|") == ["enrich"]
    assert recorded == ["there"]


def test_a_folder_is_left_to_the_completer_that_knows_folders(
    shell: InteractiveShell, recorded: list[str | None], work_dir: Path
) -> None:
    """Behind --store the names of folders are offered."""
    (work_dir / "stored").mkdir()
    assert "stored/" in offered(shell, "%%wfrun --store st|")


@pytest.mark.parametrize("text", ["x = 1\n%%wfrun e|", "%%wfrun a\nenr|", "%%wfruns e|", "wfrun e|"])
def test_other_lines_are_not_ours(text: str, shell: InteractiveShell, recorded: list[str | None]) -> None:
    """Below the magic's line, and where IPython would see no magic, run names are not offered."""
    assert "enrich" not in offered(shell, text)


def test_a_store_that_cannot_be_read_offers_options(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TAB says nothing about a broken store, and still offers what it knows."""

    def runs(name: str | None = None, store: str | None = None) -> RunList:
        raise StoreError("locked")

    monkeypatch.setattr(completion, "runs", runs)
    assert offered(shell, "%wfruns |") == ["--store"]


def test_loading_twice_offers_once(shell: InteractiveShell, recorded: list[str | None]) -> None:
    """The extension can be loaded again without a second answer."""
    load(shell)
    assert offered(shell, "%%wfrun em|") == ["embed"]
    completion.unregister(shell)
    assert "embed" not in offered(shell, "%%wfrun em|")
