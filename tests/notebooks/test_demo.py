"""The demo that `make demo` runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests.kernels import ROOT

PATIENCE_S = 180.0
PAID = re.compile(r"life (\d) +(\d+) paid calls")


def test_the_demo_kills_resumes_and_says_what_was_executed() -> None:
    """The second life pays for the rest and at most eight again, the third for nothing; all checks hold."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "notebooks" / "demo.py")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    first, second, third = (int(paid) for _, paid in PAID.findall(done.stdout))
    assert 60 <= first < 100
    assert 120 <= first + second <= 128
    assert third == 0
    assert re.search(
        r"^  enrich: resumes run \w+ at \d\d of 10\d executions of summarize; the previous kernel died",
        done.stdout,
        re.M,
    )
    assert "WRONG" not in done.stdout
    assert done.stdout.count("  ok    ") == 8
    assert done.stdout.rstrip().endswith(".venv/bin/jupyter lab notebooks/01_resume_a_fan_out.ipynb")


def test_the_demo_leaves_the_notebooks_folder_as_it_was() -> None:
    """It works in a copy: no store, no list of paid calls and no output appears beside the notebook."""
    found = {path.name for path in (ROOT / "notebooks").iterdir()}
    assert found & {".wfresume", "paid_calls.txt"} == set()
