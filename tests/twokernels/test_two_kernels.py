"""One run, two kernels: one drives it, and the other is told so."""

from __future__ import annotations

import os
import platform
import re
import signal
from pathlib import Path

from tests.counting import counts
from tests.kernels import Kernel, Pending

RUN = "%%wfrun\nawait run(Held)"


def held(kernel: Kernel, folder: Path) -> Pending:
    """Run the cell until its second step is under way."""
    pending = kernel.start(RUN)
    kernel.wait_for(lambda: counts(folder / "log")["second begins"] == 1, pending)
    return pending


def test_the_second_is_told_who_drives_the_run_and_since_when(
    pair: tuple[Kernel, Kernel], tmp_path: Path
) -> None:
    """It names process, host and time, executes nothing, and the first goes on undisturbed."""
    first, second = pair
    pending = held(first, tmp_path)
    told = second.run(RUN)
    assert (told.status, told.ename) == ("error", "RunEnded")
    assert f"is driven by process {first.pid} on host {platform.node()} since " in told.evalue
    assert re.search(r"since \d\d:\d\d", told.evalue)
    (tmp_path / "go").touch()
    assert pending.wait().result == {"text/plain": "'through'"}
    assert second.run(RUN).result == {"text/plain": "'through'"}
    assert counts(tmp_path / "log") == {"first": 1, "second begins": 1, "second ends": 1, "third": 1}


def test_the_run_of_a_dead_kernel_is_taken_over_at_once(pair: tuple[Kernel, Kernel], tmp_path: Path) -> None:
    """The second kernel goes on where the killed one stopped, without waiting."""
    first, second = pair
    held(first, tmp_path)
    first.kill()
    (tmp_path / "go").touch()
    shown = second.run(RUN)
    assert shown.result == {"text/plain": "'through'"}
    assert "the previous kernel died" in shown.stdout
    assert counts(tmp_path / "log") == {"first": 1, "second begins": 2, "second ends": 1, "third": 1}


OTHER_MACHINE = """
import jupyter_wfresume.session.session as session
from jupyter_wfresume.store import owner, this_process
owner._boot = lambda: "another machine"
session.time = type("Later", (), {"time": staticmethod(lambda: time.time() + 3600)})
"""
"""Makes a kernel one of another machine, an hour later: the other's process cannot be looked at."""


def test_a_frozen_kernel_that_lost_its_run_cannot_write_any_more(
    pair: tuple[Kernel, Kernel], tmp_path: Path
) -> None:
    """Another machine takes the run over; the first, thawed, stops with one sentence and changes nothing."""
    first, second = pair
    pending = held(first, tmp_path)
    os.kill(first.pid, signal.SIGSTOP)
    try:
        assert second.run(OTHER_MACHINE).status == "ok"
        (tmp_path / "go").touch()
        taken = second.run(RUN)
        assert taken.result == {"text/plain": "'through'"}, taken.text
    finally:
        os.kill(first.pid, signal.SIGCONT)
    shown = pending.wait()
    assert (shown.status, shown.ename) == ("error", "RunEnded")
    assert "no longer drives run" in shown.evalue
    log = counts(tmp_path / "log")
    assert (log["first"], log["third"]) == (1, 1)
    listed = second.run("found = %wfruns\nprint([run.status for run in found])")
    assert listed.stdout.strip() == "['done']"
    assert first.run(RUN).result == {"text/plain": "'through'"}
    assert counts(tmp_path / "log") == log
