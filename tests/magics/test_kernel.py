"""The magics in a real kernel, with real workflows and a real store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernels import Kernel, plain, run_terminal

DEFINE = """\
%load_ext jupyter_wfresume
import asyncio, os
from workflows import Context, Workflow, step
from workflows.events import Event, StartEvent, StopEvent

class Item(Event):
    n: int

class Done(Event):
    n: int

class Batch(Workflow):
    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(n=n) for n in range(ev.size)]

    @step(num_workers=2)
    async def work(self, ev: Item) -> Done:
        with open("executed", "a") as log:
            log.write(f"{ev.n}\\n")
        if os.path.exists(f"bad{ev.n}"):
            raise ValueError(f"document {ev.n} is bad")
        while os.path.exists(f"hold{ev.n}"):
            await asyncio.sleep(0.01)
        return Done(n=ev.n)

    @step
    async def join(self, evs: list[Done]) -> StopEvent:
        return StopEvent(result=sum(ev.n for ev in evs))
"""

RUN = "%%wfrun batch\nawait Batch(timeout=None).run(size=6)"


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    """Start a kernel in a folder of its own, with the workflow defined."""
    with Kernel(tmp_path) as started:
        assert started.run(DEFINE).status == "ok"
        yield started


def executed(folder: Path) -> list[int]:
    """Return which items were executed, in no order."""
    return sorted(int(line) for line in (folder / "executed").read_text().split())


def test_a_cell_runs_and_the_second_time_gives_the_recorded_result(kernel: Kernel, tmp_path: Path) -> None:
    """The result is displayed once, Out and _ hold it, and the second run executes nothing."""
    for _ in range(2):
        shown = kernel.run(RUN)
        assert shown.status == "ok", shown.traceback
        assert shown.result == {"text/plain": "15"}
        assert executed(tmp_path) == [0, 1, 2, 3, 4, 5]
        assert shown.text.count("\n15") == 1
    assert kernel.run("assert _ == 15 and Out[max(Out)] == 15").status == "ok"


def test_a_handler_as_last_expression_gives_its_result(kernel: Kernel) -> None:
    """A run that nobody awaited is awaited, and its result takes the handler's place."""
    assert kernel.run("%%wfrun\nBatch().run(size=4)").result == {"text/plain": "6"}


def test_a_failing_step_shows_the_users_frames_and_how_to_go_on(kernel: Kernel, tmp_path: Path) -> None:
    """The traceback holds the body's line and the step's line, no machinery, then one sentence."""
    raising = next(n for n, line in enumerate(DEFINE.splitlines(), start=1) if "raise" in line)
    (tmp_path / "bad3").touch()
    shown = kernel.run(RUN)
    traceback = plain(shown.traceback)
    assert (shown.status, shown.ename, shown.evalue) == ("error", "ValueError", "document 3 is bad")
    assert re.findall(r"^(?:Cell|File) .*$", traceback, re.MULTILINE) == [
        "Cell In[2], line 2",
        f"Cell In[1], line {raising}, in Batch.work(self, ev)",
    ]
    assert "run this cell again" in traceback.splitlines()[-1]
    (tmp_path / "bad3").unlink()
    assert kernel.run(RUN).result == {"text/plain": "15"}
    assert executed(tmp_path).count(0) == 1


def test_an_interrupt_ends_the_cell_with_one_sentence_and_resume_goes_on(
    kernel: Kernel, tmp_path: Path
) -> None:
    """The kernel's interrupt pauses the run; %wfresume runs the recorded cell again and executes the rest."""
    (tmp_path / "hold2").touch()
    pending = kernel.start(RUN)
    kernel.wait_for(lambda: (tmp_path / "executed").exists() and 5 in executed(tmp_path), pending)
    kernel.interrupt()
    kernel.wait_for_output(pending, lambda result: "stopping" in result.text or bool(result.traceback))
    kernel.interrupt()
    shown = pending.wait()
    assert (shown.status, shown.ename) == ("error", "RunEnded")
    assert plain(shown.traceback) == shown.evalue
    assert "run this cell again" in shown.evalue
    (tmp_path / "hold2").unlink()
    resumed = kernel.run("%wfresume batch")
    assert resumed.result == {"text/plain": "15"}, resumed.text
    assert executed(tmp_path) == [0, 1, 2, 2, 3, 4, 5]


def test_the_boards_stop_button_stops_the_run(kernel: Kernel, tmp_path: Path) -> None:
    """A click pauses the run while its cell runs, and a second click does not wait for what is in flight."""
    if not kernel.run("print(get_ipython().kernel.dispatch_shell.__kwdefaults__)").stdout.count("concurrent"):
        pytest.skip("platform: this ipykernel handles clicks only after the cell")
    (tmp_path / "hold2").touch()
    pending = kernel.start(RUN.replace("batch", "batch --board widget"))
    kernel.wait_for(lambda: (tmp_path / "executed").exists() and 5 in executed(tmp_path), pending)

    def buttons() -> list[str]:
        return [model for model, state in kernel.widgets.items() if state.get("description") == "Stop"]

    kernel.wait_for(lambda: bool(buttons()), pending)
    (stop,) = buttons()
    kernel.click(stop)
    kernel.click(stop)
    shown = pending.wait()
    assert (shown.status, shown.ename) == ("error", "RunEnded")
    assert "paused" in shown.evalue


def test_after_a_kill_the_recorded_cell_is_resumed_by_its_run_id(kernel: Kernel, tmp_path: Path) -> None:
    """A new kernel finds the run in the store and goes on with the cell that started it."""
    (tmp_path / "hold2").touch()
    pending = kernel.start(RUN)
    kernel.wait_for(lambda: (tmp_path / "executed").exists() and 5 in executed(tmp_path), pending)
    kernel.kill()
    kernel.restart()
    (tmp_path / "hold2").unlink()
    kernel.run(DEFINE)
    listed = kernel.run("found = %wfruns batch\nprint(found[0].id, found[0].status, len(found))\nfound")
    run_id, status, count = listed.stdout.split()
    assert (status, count) == ("paused", "1")
    assert listed.result is not None
    assert {"text/plain", "text/html"} <= listed.result.keys()
    assert run_id[:8] in listed.result["text/plain"]
    resumed = kernel.run(f"%wfresume {run_id[:12]} --board none")
    assert resumed.result == {"text/plain": "15"}, resumed.text
    assert executed(tmp_path) == [0, 1, 2, 2, 3, 4, 5]


def test_a_run_made_by_code_has_no_cell_to_resume(kernel: Kernel) -> None:
    """%wfresume of a run that durable() started says what to do instead."""
    kernel.run("from jupyter_wfresume import durable\nwith durable('coded'):\n    await Batch().run(size=2)")
    shown = kernel.run("%wfresume coded")
    assert (shown.status, shown.ename) == ("error", "UsageError")
    assert "run that code again" in shown.evalue


def test_a_fresh_cell_is_resumed_not_started_over(kernel: Kernel, tmp_path: Path) -> None:
    """--fresh in the recorded cell does not throw the recorded work away."""
    assert kernel.run("%%wfrun batch --fresh\nawait Batch().run(size=3)").status == "ok"
    assert kernel.run("%wfresume batch").result == {"text/plain": "3"}
    assert executed(tmp_path) == [0, 1, 2]


def test_the_listing_of_no_store_is_a_sentence_and_makes_none(kernel: Kernel, tmp_path: Path) -> None:
    """Looking leaves no trace."""
    shown = kernel.run("%wfruns")
    assert shown.result is not None
    assert shown.result["text/plain"].startswith("no runs yet: there is no store at ")
    assert not (tmp_path / ".wfresume").exists()


def test_open_run_in_a_plain_cell_answers_a_wrong_name_without_traceback(kernel: Kernel) -> None:
    """An error of ours is its sentence in any cell."""
    kernel.run(RUN)
    shown = kernel.run("from jupyter_wfresume import open_run\nopen_run('batsh')")
    assert shown.status == "error"
    assert plain(shown.traceback) == shown.evalue
    assert "batch" in shown.evalue


def test_the_extension_reloads_in_the_kernel(kernel: Kernel) -> None:
    """%reload_ext leaves one working magic, and %unload_ext none."""
    kernel.run("%reload_ext jupyter_wfresume\n%load_ext jupyter_wfresume")
    assert kernel.run("%%wfrun\nawait Batch().run(size=2)").result == {"text/plain": "1"}
    kernel.run("%unload_ext jupyter_wfresume")
    assert "not found" in kernel.run("%%wfrun\n1").text


def test_in_a_terminal_the_magic_runs_and_shows_text(tmp_path: Path) -> None:
    """IPython in a terminal awaits the cell, shows the summary as text and the result once."""
    load, _, classes = DEFINE.partition("\n")
    (tmp_path / "flows.py").write_text(classes)
    shown = run_terminal([load, "from flows import Batch", RUN, "_ + 1"], tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "✓ done" in shown.stdout
    assert re.search(r"Out\[3\]: 15$", shown.stdout, re.MULTILINE)
    assert re.search(r"Out\[4\]: 16$", shown.stdout, re.MULTILINE)
