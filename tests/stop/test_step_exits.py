"""A step that raises what is no ``Exception``: the kernel lives, and the step runs again."""

from __future__ import annotations

import pytest

from tests.stop.conftest import Bench

CASES = [
    ("Raises", "KeyboardInterrupt"),
    ("Raises", "SystemExit"),
    ("Raises", "Ends"),
    ("Raises", "CancelledError"),
    ("RaisesInThread", "KeyboardInterrupt"),
    ("RaisesInThread", "SystemExit"),
]


@pytest.mark.parametrize(("workflow", "raised"), CASES)
def test_the_kernel_lives_and_the_step_runs_again(bench: Bench, workflow: str, raised: str) -> None:
    """The cell ends as paused and names the step, and the next run executes that step and what follows."""
    (bench.folder / "raise").write_text(raised)
    body = f"await run({workflow})"
    shown = bench.kernel.run(f"%%wfrun\n{body}")
    assert (shown.status, shown.ename) == ("error", "RunEnded"), shown
    named = "" if raised == "KeyboardInterrupt" else f"second[0] raised {raised}; "
    assert shown.evalue == f"{named}paused at 1 of 2: run this cell again to go on"
    (bench.folder / "raise").unlink()
    assert bench.again(body).result == {"text/plain": "'through'"}
    assert bench.log() == {"first": 1, "second": 2, "third": 1}
