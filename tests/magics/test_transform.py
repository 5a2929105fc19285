"""Which cells are rewritten so that IPython awaits them."""

from __future__ import annotations

import ast

import pytest
from IPython.core.interactiveshell import InteractiveShell

from jupyter_wfresume.magics import load, unload
from jupyter_wfresume.magics.transform import AwaitedMagics, magic_line


def awaited(text: str) -> list[str]:
    """Return the names of the methods that a transformed cell awaits at its top level."""
    nodes = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Await)]
    return [
        node.func.attr
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]


@pytest.mark.parametrize(
    "cell", ["%%wfrun enrich\n1", "\n\n%%wfrun\nx = '''\n%%wfrun\n'''", "%%wfrun a", "%%wfrun\n"]
)
def test_a_cell_with_wfrun_on_its_first_line_is_awaited(shell: InteractiveShell, cell: str) -> None:
    """The magic's own cell becomes one await; blank lines above are dropped, as IPython does."""
    assert awaited(shell.transform_cell(cell)) == ["run_cell_awaited"]


@pytest.mark.parametrize(
    "cell",
    [
        "x = 1  # %%wfrun",
        "s = '''\n%%wfrun a\n'''",
        "%%writefile out.ipy\n%%wfrun a\n1",
        "%%html\n%wfresume a",
        "%%wfrun?",
        "%wfruns",
        "def f():\n    %wfresume a",
        "s = '''\n%wfresume a\n'''",
        "x = %wfresume a",
        "get_ipython().run_line_magic('time', 'wfresume')",
        "not python wfrun (",
    ],
)
def test_other_cells_stay_as_ipython_made_them(shell: InteractiveShell, cell: str) -> None:
    """Whatever is not our magic in its place is left alone."""
    with_ours = shell.transform_cell(cell)
    unload(shell)
    assert with_ours == shell.transform_cell(cell)


def test_the_line_magic_is_awaited_where_it_stands(shell: InteractiveShell) -> None:
    """%wfresume is awaited at the top level of a cell, in its loops, and behind other text."""
    cell = "ä = 'ö'; x = 1\n%wfresume a\nfor _ in range(2):\n    %wfresume 'b c'\n"
    text = shell.transform_cell(cell)
    assert awaited(text) == ["resume_awaited", "resume_awaited"]
    assert text.splitlines()[0] == "ä = 'ö'; x = 1"


def test_a_replay_is_awaited_assigned_or_not(shell: InteractiveShell) -> None:
    """%wfreplay gives its value where it is assigned, and %%wfreplay where it is the cell."""
    assert (
        awaited(shell.transform_cell("x = %wfreplay a work[1]\n%wfreplay a work[2]"))
        == ["replay_awaited"] * 2
    )
    assert awaited(shell.transform_cell("%%wfreplay a work[1]\nev.n = 2")) == ["replay_cell_awaited"]


@pytest.mark.parametrize(
    ("cell", "times"),
    [
        ("%wfshow a", 0),
        ("%wfshow a\n%wfshow b", 1),
        ("%wfreplay a work[1]\n%wfreplay a work[2]\n1", 2),
        ("if True:\n    %wfreplay a work[1]", 1),
        ("x = %wfshow a\n1", 0),
    ],
)
def test_what_is_to_be_seen_is_shown_in_the_midst_of_a_cell(
    shell: InteractiveShell, cell: str, times: int
) -> None:
    """A line whose value IPython would not display is displayed by us; not the last, nor an assigned one."""
    assert shell.transform_cell(cell).count("show_in_passing") == times


@pytest.mark.parametrize("wrapper", ["%%time", "%%capture out", "%%timeit -n1", "%%capture\n%%time"])
def test_a_wrapper_above_is_refused_before_it_runs(shell: InteractiveShell, wrapper: str) -> None:
    """A magic that runs its body as code would swallow our sentence, so the cell says it instead."""
    text = shell.transform_cell(f"{wrapper}\n\n%%wfrun a\n1")
    assert "refuse" in text
    assert wrapper[2:].split()[0] in text


def test_without_autoawait_nothing_is_rewritten(shell: InteractiveShell) -> None:
    """A shell that does not await cells gets the plain magic, which says so."""
    shell.autoawait = False
    assert awaited(shell.transform_cell("%%wfrun\n1")) == []


def test_loading_twice_leaves_one_transformer_and_unloading_none(shell: InteractiveShell) -> None:
    """The extension can be loaded again, reloaded and taken out."""
    load(shell)
    ours = [each for each in shell.input_transformers_post if isinstance(each, AwaitedMagics)]
    assert len(ours) == 1
    unload(shell)
    assert not [each for each in shell.input_transformers_post if isinstance(each, AwaitedMagics)]
    assert shell.find_cell_magic("wfrun") is None
    assert shell.find_line_magic("wfruns") is None


@pytest.mark.parametrize(("cell", "line"), [("%%wfrun\n1", 1), ("\n  \n%%wfrun\n1", 3), ("", 1)])
def test_the_magics_line_is_counted_as_the_user_sees_it(cell: str, line: int) -> None:
    """Blank lines above the magic count."""
    assert magic_line(cell) == line
