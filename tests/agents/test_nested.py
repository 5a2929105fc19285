"""A workflow run by a step is a durable run of its own, below that execution and its attempt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_wfresume.session import list_runs, open_store
from tests.counting import counts
from tests.kernels import ROOT


def live(folder: Path, name: str, *files: str) -> str:
    """Run a workflow in a process of its own; say how it ended, or ``died``.

    Args:
        folder: where its store and files are.
        name: the workflow.
        files: the files that are there.
    """
    for each in ("kill", "fail", "slow"):
        (folder / each).unlink(missing_ok=True)
    for each in files:
        (folder / each).touch()
    done = subprocess.run(
        [sys.executable, "-m", "tests.agents.nested", name],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode == -signal.SIGKILL:
        return "died"
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def runs_in(folder: Path) -> list[tuple[str, str]]:
    """Status and place of every run, the nested ones too, from the oldest."""
    found = list_runs(open_store(str(folder / ".wfresume")), nested=True)
    return [(run.status, run.header.parent_execution) for run in reversed(found)]


@pytest.mark.parametrize("name", ["Single", "Sync"])
def test_a_kill_in_the_inner_run_repeats_its_step_alone(tmp_path: Path, name: str) -> None:
    """The outer step begins again, and its inner run goes on where it was."""
    assert live(tmp_path, name, "kill") == "died"
    assert live(tmp_path, name) == "result 10"
    assert counts(tmp_path / "log") == {"first": 1, "second": 2, "one 1": 1, "two 1": 2}
    assert live(tmp_path, name) == "result 10"
    assert counts(tmp_path / "log") == {"first": 1, "second": 2, "one 1": 1, "two 1": 2}
    assert runs_in(tmp_path) == [("done", ""), ("done", "second[0]#0")]


@pytest.mark.parametrize(
    ("name", "result", "ones"),
    [("Equal", "result [0, 0, 10, 10]", {"one 0": 2, "one 1": 2}),
     ("Shared", "result [0, 10, 20]", {"one 0": 1, "one 1": 1, "one 2": 1})],
)  # fmt: skip
def test_inner_runs_at_once_are_told_apart(
    tmp_path: Path, name: str, result: str, ones: dict[str, int]
) -> None:
    """Equal calls by their order, calls on one shared instance by their input: none begins twice."""
    assert live(tmp_path, name, "kill") == "died"
    assert live(tmp_path, name) == result
    log = counts(tmp_path / "log")
    assert {line: n for line, n in log.items() if line.startswith("one")} == ones
    assert log["first"] == 1
    # The hash of a class differs between processes; what an instance keeps of it is no edit.
    assert live(tmp_path, name) == result
    assert counts(tmp_path / "log") == log


def test_a_failing_inner_run_fails_the_step_and_goes_on_with_it(tmp_path: Path) -> None:
    """The inner run's exception is the step's; when the step runs again, the inner run is not begun anew."""
    assert live(tmp_path, "Single", "fail") == "ValueError inner is bad"
    assert runs_in(tmp_path) == [("failed", ""), ("failed", "second[0]#0")]
    assert live(tmp_path, "Single") == "result 10"
    assert counts(tmp_path / "log") == {"first": 1, "second": 2, "one 1": 1, "two 1": 2}


def test_a_step_may_catch_what_its_inner_run_raises(tmp_path: Path) -> None:
    """Then the outer run is done, and its result is recorded although the inner run failed."""
    assert live(tmp_path, "Catches", "fail") == "result caught: inner is bad"
    assert live(tmp_path, "Catches", "fail") == "result caught: inner is bad"
    assert counts(tmp_path / "log") == {"first": 1, "second": 1, "one 1": 1, "two 1": 1}


def test_a_retry_of_the_outer_step_begins_a_new_inner_run(tmp_path: Path) -> None:
    """Each attempt has an inner run of its own."""
    assert live(tmp_path, "Retried", "fail") == "ValueError inner is bad"
    assert counts(tmp_path / "log") == {"first": 1, "second": 2, "one 1": 2, "two 1": 2}
    assert [place for _, place in runs_in(tmp_path)] == ["", "second[0]#0", "second[0]#1"]
    assert live(tmp_path, "Retried") == "result 10"


def test_an_inner_run_that_times_out_fails_the_step_and_has_its_budget_again(tmp_path: Path) -> None:
    """The outer run has failed and not timed out; the inner one gets its whole budget in the next life."""
    assert live(tmp_path, "Hurried", "slow").startswith("WorkflowTimeoutError")
    assert runs_in(tmp_path) == [("failed", ""), ("timed out", "second[0]#0")]
    assert live(tmp_path, "Hurried") == "result 10"
    assert counts(tmp_path / "log") == {"first": 1, "second": 2, "one 1": 1, "two 1": 2}


def test_an_inner_run_that_waits_makes_the_outer_one_wait(tmp_path: Path) -> None:
    """The sentence is the inner run's question."""
    for _ in range(2):
        said = live(tmp_path, "Waits")
        assert said.startswith("RunEnded ")
        assert 'waits for an answer "inner?"' in said
        assert runs_in(tmp_path) == [("waiting", ""), ("waiting", "second[0]#0")]
    assert counts(tmp_path / "log")["first"] == 1
