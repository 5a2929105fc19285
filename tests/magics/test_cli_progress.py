"""What ``jupyter wfresume run`` tells of the runs of a notebook while it executes."""

from __future__ import annotations

import re
from pathlib import Path

from jupyter_wfresume import open_run

from .test_cli import CLEAN_UP_S, Start, finish, wait_until, write
from .test_cli import start as start
from .test_kernel import DEFINE, RUN, executed

ASK = """\
from workflows import Context
from workflows.events import HumanResponseEvent, InputRequiredEvent

class Asking(Workflow):
    @step
    async def ask(self, ctx: Context, ev: StartEvent) -> StopEvent:
        said = await ctx.wait_for_event(HumanResponseEvent, waiter_event=InputRequiredEvent(prefix="Who?"))
        return StopEvent(result=said.response)
"""


def test_it_tells_how_far_a_run_is_and_that_it_resumes(tmp_path: Path, start: Start) -> None:
    """Each line names the cell; the run's are the line that its cell tells, and its counts."""
    write(tmp_path / "a.ipynb", DEFINE, RUN)
    (tmp_path / "hold2").touch()
    process = start("run", "a.ipynb", cwd=tmp_path)
    wait_until(process, lambda: (tmp_path / "executed").exists() and 5 in executed(tmp_path))
    assert process.stdout is not None
    place, lines = "a.ipynb In[2] · code cell 2 of 2", [""]
    while not re.fullmatch(rf"{re.escape(place)} · batch \d of \d\n", lines[-1]):
        lines.append(process.stdout.readline())
        assert lines[-1], f"it ended: {lines}"
    assert any(line.startswith(f"{place} · batch: new run ") for line in lines)
    process.kill()
    finish(process)
    (tmp_path / "hold2").unlink()
    again = start("run", "a.ipynb", cwd=tmp_path)
    told, _ = again.communicate(timeout=CLEAN_UP_S)
    assert again.returncode == 0
    assert f"{place} · batch: resumes run " in told


def test_where_it_ends_waiting_it_names_what_answers(tmp_path: Path, start: Start) -> None:
    """A magic for a notebook and a line of Python, both with the store; a rerun of the line goes on."""
    write(tmp_path / "a.ipynb", DEFINE, ASK, "%%wfrun q --store other\nawait Asking().run()")
    code, said = finish(start("run", "a.ipynb", cwd=tmp_path))
    run = open_run("q", tmp_path / "other")
    short = run.id[:8]
    assert code == 1
    assert f"answer with %wfanswer {short} VALUE --store other in a notebook" in said
    assert f'open_run("{short}", store="other").answer(VALUE) in Python, then run the same line again' in said
    run.answer("Ada")
    assert finish(start("run", "a.ipynb", cwd=tmp_path)) == (0, "")
    assert open_run("q", tmp_path / "other").result == "Ada"
