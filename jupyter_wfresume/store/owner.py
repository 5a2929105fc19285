"""Who this process is, and whether another one still lives."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from pathlib import Path

from ..records import Owner

_PROC = Path("/proc")
_STARTED = 19  # field 22 of /proc/PID/stat (proc(5)), counted from the state, which is field 3
_DEAD_STATES = ("Z", "X", "x")


def this_process() -> Owner:
    """Return this process as an owner of leases."""
    pid = os.getpid()
    stat = _stat(pid)
    started = int(stat[_STARTED]) if stat else _started_by_ps(pid) or 0
    return Owner(pid=pid, started=started, boot=_boot(), host=platform.node())


def is_alive(owner: Owner) -> bool | None:
    """Tell whether a process still runs.

    A process that has ended and was not yet waited for counts as dead, and so does one whose pid belongs to
    another process by now.

    Args:
        owner: the process.

    Returns:
        None where that cannot be told from here: another machine, boot or container.
    """
    if owner.boot != _boot():
        return None
    if sys.platform == "win32":
        # There os.kill(pid, 0) does not look, it kills.
        return True if owner.pid == os.getpid() else None
    try:
        os.kill(owner.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it is there and belongs to somebody else
    stat = _stat(owner.pid)
    if stat and stat[0] in _DEAD_STATES:
        return False
    started = int(stat[_STARTED]) if stat else _started_by_ps(owner.pid)
    return not owner.started or not started or started == owner.started


def _stat(pid: int) -> list[str] | None:
    """Return the fields of /proc/PID/stat from the state on, None where there are none."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name before them is in parentheses and may hold anything, parentheses and blanks included.
    return text.rpartition(")")[2].split()


def _started_by_ps(pid: int) -> int | None:
    """Return a process's start in seconds since the epoch, for systems without /proc, or None."""
    if sys.platform == "win32" or _PROC.joinpath("self").exists():
        return None
    command = ["ps", "-o", "lstart=", "-p", str(pid)]
    try:
        told = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}, timeout=5
        )
        return int(time.mktime(time.strptime(told.stdout.strip(), "%a %b %d %H:%M:%S %Y")))
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


def _boot() -> str:
    """Return what is the same for all processes that can see each other, until the machine restarts."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return platform.node()
    try:
        # Containers of one machine share its boot id but not their process ids.
        return f"{boot}:{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return f"{boot}:{platform.node()}"
