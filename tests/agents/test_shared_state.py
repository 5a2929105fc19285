"""What a dead execution wrote is not kept; where a finished one built on it, that is named."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from jupyter_wfresume import open_run
from tests.kernels import ROOT


def killed_and_resumed(folder: Path, key: str) -> tuple[dict[str, int], str]:
    """Count in two lives; return the final state and the run's notes."""
    (folder / "kill").touch()
    command = [sys.executable, "-m", "tests.agents.tallies", key]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    codes, said = [], ""
    for _ in range(2):
        done = subprocess.run(
            command, cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False
        )
        codes.append(done.returncode)
        said = done.stdout
    assert codes == [-signal.SIGKILL, 0], done.stderr
    notes = open_run("tallies", folder / ".wfresume").header.notes
    return json.loads(said.splitlines()[-1]), "\n".join(notes)


def test_executions_with_keys_of_their_own_count_exactly(tmp_path: Path) -> None:
    """Two executions die after they counted; each key is counted once all the same, and nothing is noted."""
    state, notes = killed_and_resumed(tmp_path, "own")
    assert state == {"own0": 1, "own1": 1, "own2": 1, "own3": 1}
    assert not notes


def test_a_shared_key_is_named_with_the_executions_that_built_on_it(tmp_path: Path) -> None:
    """A finished count holds those of the two dead ones: the run's notes name the key and all three."""
    state, notes = killed_and_resumed(tmp_path, "shared")
    assert state == {"all": 6}
    assert "state all (work[" in notes
    assert "what work[2], work[3] wrote" in notes
