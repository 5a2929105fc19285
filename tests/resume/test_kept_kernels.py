"""Keep going in real kernels, with SIGKILL in between: who runs how often, what holds, what it has cost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_wfresume import open_run
from tests.counting import counts
from tests.kernels import Kernel
from tests.resume.kept import BAD, FIRST_S, HELD, WORKERS, N

LOAD = "%load_ext jupyter_wfresume\nfrom tests.resume.kept import *"
ENRICH = "%%wfrun enrich -k --board none\nawait Enrich(timeout=None).run()"


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    """Start a kernel in the test's folder."""
    with Kernel(tmp_path) as started:
        assert started.run(LOAD).status == "ok"
        yield started


def again(kernel: Kernel) -> None:
    """Kill the kernel and start another one in its place."""
    kernel.kill()
    kernel.restart()
    assert kernel.run(LOAD).status == "ok"


def test_a_hundred_with_five_bad_are_executed_once_each(kernel: Kernel, tmp_path: Path) -> None:
    """Killed, resumed, mended, resumed: each good one once, the bad ones as told, the join once with all."""
    log = tmp_path / "log"
    pending = kernel.start(ENRICH)
    held = {f"work {i}" for i in range(HELD, HELD + WORKERS)}
    kernel.wait_for(lambda: held <= counts(log).keys(), pending)
    again(kernel)
    (tmp_path / "go").touch()
    second = kernel.run(ENRICH)
    assert (second.ename, second.evalue) == ("ValueError", "bad document")
    assert "95 done, 5 failed" in second.text
    (tmp_path / "fixed").touch()
    assert kernel.run(ENRICH).result == {"text/plain": "100"}
    expected = {f"work {i}": 1 for i in range(N)}
    expected.update(dict.fromkeys(held, 2))  # they were under way when the kernel was killed
    expected.update({f"work {i}": 2 + 2 + 1 if i < HELD else 2 + 1 for i in BAD})
    assert counts(log) == {"split": 1, **expected, "join 100": 1}
    cost = open_run("enrich", tmp_path / ".wfresume").cost
    assert cost.lives == 3
    # What was under way when the kernel was killed is on no record.
    assert cost.attempts == sum(counts(log).values()) - WORKERS
    assert cost.saved_by_resume.executions == 1 + N - len(BAD)


def test_budgets_hold_over_a_kill(kernel: Kernel, tmp_path: Path) -> None:
    """Three attempts are three over two lives, and a time budget that a killed life used up is used up."""
    log = tmp_path / "log"
    cell = "%%wfrun tries --board none --timeout {}\nawait Tries(timeout=None).run()"
    pending = kernel.start(cell.format("none"))
    kernel.wait_for(lambda: counts(log)["work"] == 2, pending)
    again(kernel)
    timed_out = kernel.run(cell.format(FIRST_S / 2))
    assert timed_out.ename == "WorkflowTimeoutError", timed_out.text
    assert counts(log) == {"first": 1, "work": 2}
    failed = kernel.run(cell.format("none"))
    assert failed.ename == "ValueError", failed.text
    assert counts(log) == {"first": 1, "work": 2 + 2}
    cost = open_run("tries", tmp_path / ".wfresume").cost
    steps = {one.step: (one.attempts, one.failures) for one in cost.steps}
    assert steps == {"first": (1, 0), "work": (3, 3)}
    assert cost.lives == 3
    assert cost.time_s >= FIRST_S
    assert cost.alive_s >= FIRST_S


def test_a_skip_in_one_kernel_is_acted_on_in_another(kernel: Kernel, tmp_path: Path) -> None:
    """Another kernel's decision reaches the one that drives the run, which ends with a result."""
    pending = kernel.start(ENRICH)
    held = {f"work {i}" for i in range(HELD, HELD + WORKERS)}
    kernel.wait_for(lambda: held <= counts(tmp_path / "log").keys(), pending)
    with Kernel(tmp_path) as other:
        assert other.run(LOAD).status == "ok"
        said = other.run("%wfskip enrich work[3,17,40,41]").text
        assert "the kernel that drives the run takes it now; `join` then gets 96 of 100" in said
        (tmp_path / "go").touch()
        kernel.wait_for(lambda: counts(tmp_path / "log")["work 99"] == 2, pending)
        pending.wait()
    assert pending.result.ename == "ValueError"
    run = open_run("enrich", tmp_path / ".wfresume")
    assert sorted(record["i"] for record in run.records if "sk" in record) == [3, 17, 40, 41]
    kernel.run("%wfskip enrich work[99]")
    assert kernel.run(ENRICH).result == {"text/plain": "95"}
    assert counts(tmp_path / "log")["join 95"] == 1
