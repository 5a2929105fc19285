"""A cell under ``%%wfrun`` behaves as the same cell without it."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import pytest
from IPython.core.error import UsageError as ShellUsageError
from IPython.core.interactiveshell import InteractiveShell

from jupyter_wfresume.errors import RunEnded, StoreError
from jupyter_wfresume.magics.arguments import RUN_OPTIONS
from tests.kernels import plain

from .conftest import FakeSession, RunCell

BODIES = {
    "a last expression": "x = 40\nx + 2",
    "a semicolon": "x = 40\nx + 2;",
    "a semicolon in a comment": "41 + 1  # ;",
    "nothing to show": "x = 40",
    "None": "None",
    "await": "import asyncio\nawait asyncio.sleep(0, 'slept')",
    "prints": "print('said')\n'shown'",
    "a line magic": "y = %sx echo hello\ny",
    "a shell escape": "!echo hello\nlist(range(3))",
    "a dynamic line": "%pwd",
    "a multi-line string": "s = '''\n\na\n'''\ns",
    "blank lines first": "\n\n1/1",
    "a comment last": "5\n# done",
    "its own names": "cell = line = self = 1\n(cell, line, self)",
    "future": "from __future__ import annotations\ndef f(a: nowhere): pass\nf.__annotations__",
}


@pytest.mark.parametrize("interactivity", ["last_expr", "last_expr_or_assign", "last", "all", "none"])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_what_is_displayed_is_what_a_plain_cell_displays(
    body: str,
    interactivity: str,
    shell: InteractiveShell,
    sessions: list[FakeSession],
    run_cell: RunCell,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Output, ``_``, ``Out`` and the names that are assigned equal a plain cell's."""
    shell.ast_node_interactivity = interactivity
    outcomes = []
    for source in (body, f"%%wfrun\n{body}"):
        shell.reset()
        result = run_cell(source)
        assert result.success, result.error_in_exec
        names = {name for name in shell.user_ns if not name.startswith("_")} - {"session", "RunEnded"}
        shown = capfd.readouterr().out
        outcomes.append((shown, result.result, dict(shell.user_ns["Out"]), shell.user_ns.get("_"), names))
    assert outcomes[0] == outcomes[1]


def test_a_handler_as_last_expression_is_replaced_by_its_result(
    sessions: list[FakeSession], run_cell: RunCell, shell: InteractiveShell
) -> None:
    """A run that nobody awaited is awaited, and its result is what Out holds."""
    assert run_cell("%%wfrun enrich\nsession().start(42)").result == 42
    assert shell.user_ns["_"] == 42


def test_a_handler_that_was_awaited_stays_what_it_is(sessions: list[FakeSession], run_cell: RunCell) -> None:
    """Only a run that nobody awaited is awaited on the user's behalf."""
    result = run_cell("%%wfrun\nh = session().start(42)\nassert await h == 42\nh")
    assert result.result is sessions[0].handlers[0]


def test_runs_that_the_body_left_running_are_awaited_before_the_cell_ends(
    sessions: list[FakeSession], run_cell: RunCell
) -> None:
    """The cell settles its runs while the session is still open."""
    result = run_cell("%%wfrun\nh = session().start(1)\n'last'")
    assert (result.result, sessions[0].handlers[0].awaited) == ("last", True)
    assert (sessions[0].settled, sessions[0].active) == (1, False)


def test_a_run_left_running_that_fails_fails_the_cell(sessions: list[FakeSession], run_cell: RunCell) -> None:
    """What settling raises is the cell's error, as if the body had awaited the run."""
    result = run_cell("%%wfrun\nh = session().start(ValueError('late'))")
    assert isinstance(result.error_in_exec, ValueError)


def test_a_failing_body_keeps_what_it_assigned_and_lets_its_other_runs_end(
    sessions: list[FakeSession], run_cell: RunCell, shell: InteractiveShell
) -> None:
    """Names assigned before the error are there, and no run is left running."""
    result = run_cell(
        "%%wfrun\nkept = 1\nh = session().start(RunEnded('r', 'paused', 'p'))\n1 / 0\nnever = 1"
    )
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert shell.user_ns["kept"] == 1
    assert "never" not in shell.user_ns
    assert sessions[0].handlers[0].awaited


def test_the_session_gets_what_was_typed(
    sessions: list[FakeSession], run_cell: RunCell, shell: InteractiveShell
) -> None:
    """Name, options, the whole cell and the notebook's path are handed on, variables filled in."""
    shell.user_ns.update(which="enrich", __session__="work/a.ipynb")
    cell = "\n%%wfrun {which} --fresh --timeout 5\n\n1"
    assert run_cell(cell).success
    (opened,) = sessions
    assert (opened.name, opened.options.fresh, opened.options.timeout_s) == ("enrich", 1, 5.0)
    assert (opened.callbacks["cell"], opened.callbacks["notebook"]) == (cell, "work/a.ipynb")


def test_functions_and_classes_are_ordinary_ones(
    sessions: list[FakeSession], run_cell: RunCell, shell: InteractiveShell
) -> None:
    """What the body defines is the notebook's own, with its source at hand."""
    assert run_cell("%%wfrun\nclass A:\n    def m(self):\n        return 1\n").success
    defined = shell.user_ns["A"]
    assert defined.__module__ == "__main__"
    assert inspect.getsource(defined.m) == "    def m(self):\n        return 1\n"


def test_line_numbers_in_a_traceback_are_those_of_the_cell(
    sessions: list[FakeSession], run_cell: RunCell, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error's line is counted with the magic's line and the blank lines, and no machinery is shown."""
    run_cell("%%wfrun\n\ndef f():\n    raise KeyError('here')\nf()")
    shown = plain(capsys.readouterr().out)
    assert "Cell In[1], line 5" in shown
    assert "Cell In[1], line 4, in f()" in shown
    assert "jupyter_wfresume" not in shown
    assert "run_cell_awaited" not in shown


def test_the_sentence_stands_below_the_users_traceback(
    sessions: list[FakeSession], run_cell: RunCell, capsys: pytest.CaptureFixture[str]
) -> None:
    """A failure shows the user's own error, then how to go on; the exception stays the user's object."""
    result = run_cell("%%wfrun\ne = ValueError('bad document')\nawait session().start(e)")
    lines = [line for line in plain(capsys.readouterr().out).splitlines() if line.strip()]
    assert lines[-2:] == ["ValueError: bad document", "failed at 3 of 5: fix it and run this cell again"]
    assert result.error_in_exec is sys.last_value is sessions[0].handlers[0].value


@pytest.mark.parametrize("error", [RunEnded("r", "paused", "paused at 3"), StoreError("paused at 3")])
def test_our_own_errors_are_one_sentence(
    error: BaseException,
    sessions: list[FakeSession],
    run_cell: RunCell,
    shell: InteractiveShell,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A run without a result ends its cell in error with the sentence and nothing else."""
    shell.user_ns["error"] = error
    result = run_cell("%%wfrun\nraise error")
    assert capsys.readouterr().out.strip() == "paused at 3"
    assert result.error_in_exec is error


def test_a_runs_end_is_not_caught_by_except_exception(sessions: list[FakeSession], run_cell: RunCell) -> None:
    """The body stops at its await, whatever it catches."""
    result = run_cell(
        "%%wfrun\ntry:\n    await session().start(RunEnded('r', 'waiting', 'w'))\nexcept Exception:\n    pass"
    )
    assert isinstance(result.error_in_exec, RunEnded)


def test_chained_errors_and_groups_keep_the_users_parts(
    sessions: list[FakeSession], run_cell: RunCell, capsys: pytest.CaptureFixture[str]
) -> None:
    """What an error was raised from is shown, in its own frames."""
    run_cell("%%wfrun\ntry:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('bad') from e")
    shown = plain(capsys.readouterr().out)
    assert "direct cause" in shown
    assert shown.index("ZeroDivisionError") < shown.index("ValueError: bad") < shown.index("failed at 3 of 5")
    assert "jupyter_wfresume" not in shown


@pytest.mark.parametrize("body", ["x = = 1", "if True:\nx = 1", "return 1", "x = 'a"])
def test_a_body_that_does_not_parse_is_shown_as_in_a_plain_cell(
    body: str, sessions: list[FakeSession], run_cell: RunCell, capsys: pytest.CaptureFixture[str]
) -> None:
    """A syntax error shows the user's line with its number in the cell, and no frames of ours."""
    result = run_cell(f"%%wfrun\n\n{body}")
    shown = plain(capsys.readouterr().out)
    assert isinstance(result.error_in_exec, SyntaxError)
    assert f"line {2 + len(body.splitlines())}\n" in shown
    assert "jupyter_wfresume" not in shown


def test_the_next_cell_is_shown_by_ipython_itself(
    sessions: list[FakeSession],
    run_cell: RunCell,
    shell: InteractiveShell,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Our way of showing an error holds for one error alone."""
    run_cell("%%wfrun\n1 / 0")
    assert "showtraceback" not in vars(shell)
    capsys.readouterr()
    run_cell("raise ValueError('plain')")
    assert "failed at 3 of 5" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("%%wfrun a b\n1", "%%wfrun takes one NAME"),
        ("%%wfrun", "the cell is empty"),
        ("%%wfrun\n# nothing\n", "the cell is empty"),
        ("%%time\n%%wfrun\n1", "%%time cannot wrap %%wfrun"),
        ("%%capture\n%%wfrun\n1", "%%capture cannot wrap %%wfrun"),
        ("%%wfrun\n%%wfrun\n1", "first line of a cell only"),
        ("%%wfrun\n%wfresume a", "%wfresume stands alone"),
        ("%wfresume", "%wfresume needs a RUN"),
        ("%wfresume a b", "%wfresume takes one RUN"),
        ("%wfresume --store nowhere a", "there is no store at"),
        ("%wfruns --fresh", "%wfruns has no option --fresh"),
    ],
)
def test_misuse_ends_the_cell_with_one_sentence(
    cell: str,
    sentence: str,
    sessions: list[FakeSession],
    run_cell: RunCell,
    work_dir: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Bad input is a UsageError: one line, no traceback, and no run."""
    result = run_cell(cell)
    captured = capsys.readouterr()
    assert isinstance(result.error_in_exec, ShellUsageError)
    assert captured.err.startswith("UsageError: ")
    assert sentence in captured.err
    assert captured.out == ""
    assert list(work_dir.iterdir()) == []


def test_a_cell_run_by_code_says_where_the_magic_belongs(
    sessions: list[FakeSession], run_cell: RunCell, capsys: pytest.CaptureFixture[str]
) -> None:
    """A nested run_cell cannot be awaited, so it is refused in one sentence."""
    run_cell("done = get_ipython().run_cell('%%wfrun\\n1')")
    assert "first line of a cell only" in capsys.readouterr().err
    assert sessions == []


def test_without_autoawait_the_sentence_says_how_to_turn_it_on(
    sessions: list[FakeSession],
    run_cell: RunCell,
    shell: InteractiveShell,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A shell that does not await cells cannot run the magic, and the user learns why."""
    shell.autoawait = False
    run_cell("%%wfrun\n1")
    assert "%autoawait True" in capsys.readouterr().err


def test_system_exit_is_left_to_ipython(
    sessions: list[FakeSession], run_cell: RunCell, capsys: pytest.CaptureFixture[str]
) -> None:
    """exit() in a body ends the cell as it does in a plain one."""
    with pytest.warns(UserWarning, match="To exit"):
        result = run_cell("%%wfrun\nimport sys\nsys.exit()")
    assert isinstance(result.error_in_exec, SystemExit)
    assert "use %tb" in capsys.readouterr().out


def test_help_names_every_option(run_cell: RunCell, shell: InteractiveShell) -> None:
    """%%wfrun? explains each option that the magic takes, and no other."""
    text = shell.object_inspect("%%wfrun")["docstring"]
    flags = {word.strip(";,[]().") for word in text.split() if word.startswith(("--", "[--"))}
    assert flags == {option.flag for option in RUN_OPTIONS if option.flag.startswith("--")}
