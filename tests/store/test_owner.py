"""Telling living processes from dead ones, and from later ones with the same pid."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from jupyter_wfresume.store import is_alive, owner, this_process


def test_this_process_lives_and_is_always_the_same() -> None:
    """Two questions give one owner, and it is alive."""
    assert this_process() == this_process()
    assert this_process().pid == os.getpid()
    assert is_alive(this_process()) is True


def test_a_reused_pid_is_dead() -> None:
    """The same pid with another start time is another process."""
    mine = this_process()
    assert mine.started > 0
    assert is_alive(replace(mine, started=mine.started - 1)) is False


def test_an_unknown_start_time_is_given_the_benefit_of_the_doubt() -> None:
    """Where a start time was never known, a process with that pid counts as the holder."""
    assert is_alive(replace(this_process(), started=0)) is True


def test_another_boot_cannot_be_looked_at() -> None:
    """Another machine, boot or container gives no answer rather than a wrong one."""
    assert is_alive(replace(this_process(), boot="another")) is None


def test_an_ended_process_is_dead_before_and_after_it_is_waited_for() -> None:
    """A zombie does not keep a run."""
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    assert child.stdin is not None
    there = replace(this_process(), pid=child.pid, started=0)
    assert is_alive(there) is True
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert is_alive(there) is False
    child.wait()
    assert is_alive(there) is False


def test_a_process_of_another_user_is_alive() -> None:
    """Not being allowed to signal a process means that it is there."""
    assert is_alive(replace(this_process(), pid=1, started=0)) is True


def test_a_name_with_blanks_and_parentheses_does_not_confuse(tmp_path: Path) -> None:
    """The start time is read behind the process's name, whatever that holds."""
    strange = tmp_path / "a) S 1 (b"
    strange.symlink_to(sys.executable)
    code = "import sys; sys.stdin.read()"
    child = subprocess.Popen([strange, "-c", code], stdin=subprocess.PIPE, executable=str(strange))
    assert child.stdin is not None
    fields = owner._stat(child.pid)
    child.stdin.close()
    child.wait()
    assert fields is not None
    assert int(fields[owner._STARTED]) >= this_process().started


@pytest.mark.parametrize("missing", ["boot id", "namespace"])
def test_without_proc_the_host_name_stands_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, missing: str
) -> None:
    """A system without boot id or namespaces still tells machines apart by name."""
    if missing == "boot id":
        monkeypatch.setattr(owner, "_PROC", tmp_path)
    else:
        monkeypatch.setattr(owner.os, "stat", lambda *_: (_ for _ in ()).throw(FileNotFoundError()))
    assert this_process().host in owner._boot()
    assert this_process().boot == this_process().boot


def test_without_proc_ps_tells_the_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The start time comes from ``ps`` where there is no /proc, and from nowhere where that fails."""
    monkeypatch.setattr(owner, "_PROC", tmp_path)
    ps = tmp_path / "ps"
    ps.write_text("#!/bin/sh\necho 'Sun Nov 29 18:15:42 2026'\n")
    ps.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    known = this_process()
    assert known.started > 1_700_000_000
    assert is_alive(known) is True
    assert is_alive(replace(known, started=known.started - 60)) is False
    ps.write_text("#!/bin/sh\nexit 1\n")
    assert this_process().started == 0
    assert is_alive(known) is True
