"""Questions in real kernels: asked in one, answered from another, by a click, over kills and interrupts."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_wfresume import open_run
from tests.counting import counts
from tests.kernels import Kernel, Pending, plain

LOAD = "%load_ext jupyter_wfresume\nfrom tests.people.flows import *"
CLICKS = "print('concurrent' in str(get_ipython().kernel.dispatch_shell.__kwdefaults__))"


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    """Start the kernel that runs the cells."""
    with Kernel(tmp_path) as started:
        assert started.run(LOAD).status == "ok"
        yield started


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Kernel]:
    """Start another kernel in the same folder."""
    with Kernel(tmp_path) as started:
        assert started.run(LOAD).status == "ok"
        yield started


@pytest.fixture
def clicks(kernel: Kernel) -> None:
    """Skip where the kernel hears no click while a cell runs."""
    if "True" not in kernel.run(CLICKS).stdout:
        pytest.skip("platform: this ipykernel handles clicks only after the cell")


def children(kernel: Kernel, model: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a widget's id and state, and those of all that stands in it."""
    state = kernel.widgets[model]
    yield model, state
    for child in state.get("children", ()):
        yield from children(kernel, child.removeprefix("IPY_MODEL_"))


def forms(kernel: Kernel) -> dict[str, dict[str, str]]:
    """By what is asked, the ids of the widgets by the name of their model, for what is on the board."""
    found = {}
    shown = {
        child.removeprefix("IPY_MODEL_")
        for state in kernel.widgets.values()
        for child in state.get("children", ())
    }
    for model, state in list(kernel.widgets.items()):
        if "wfr-form" in state.get("_dom_classes", ()) and model in shown:
            inside = dict(children(kernel, model))
            text = next(one["value"] for one in inside.values() if "? " in one.get("value", ""))
            about = text.partition("? ")[2].partition(" <span")[0]
            found[about] = {one["_model_name"]: name for name, one in inside.items()}
    return found


def wait_for_forms(kernel: Kernel, pending: Pending, count: int) -> dict[str, dict[str, str]]:
    """Return the forms once there are so many."""
    kernel.wait_for(lambda: len(forms(kernel)) == count, pending)
    return forms(kernel)


def test_a_question_survives_a_kill_and_is_answered_from_another_kernel(
    kernel: Kernel, other: Kernel, tmp_path: Path
) -> None:
    """The cell, run again in a new kernel, asks the same; the answer runs only the step that asked again."""
    cell = "%%wfrun once --board widget --wait forever\nawait Once().run()"
    pending = kernel.start(cell)
    wait_for_forms(kernel, pending, 1)
    kernel.kill()
    kernel.restart()
    kernel.run(LOAD)
    shown = kernel.run(cell.replace("forever", "0"))
    assert (shown.status, shown.ename) == ("error", "RunEnded")
    assert plain(shown.traceback) == shown.evalue
    assert '"Who?"' in shown.evalue
    assert "? Who? (ask) · answer with: %wfanswer once VALUE" in shown.text
    assert counts(tmp_path / "log") == {"first": 1, "paid": 1}
    said = other.run("%wfanswer once Ada Lovelace").stdout
    assert said.startswith("answered 'Who?': run its cell again to go on, or %wfresume ")
    again = kernel.run(cell)
    assert again.result == {"text/plain": "'Ada Lovelace'"}, again.text
    assert counts(tmp_path / "log") == {"first": 1, "paid": 2}


@pytest.mark.usefixtures("clicks")
def test_a_click_a_magic_and_a_call_answer_one_question_each(
    kernel: Kernel, other: Kernel, tmp_path: Path
) -> None:
    """While the cell waits, each of three questions gets its own answer; a double click sends one."""
    pending = kernel.start("%%wfrun several --board widget --wait forever\nawait Several().run()")
    found = wait_for_forms(kernel, pending, 3)
    kernel.set_widget(found["Who wrote 1?"]["TextModel"], value="click")
    for _ in range(2):
        kernel.click(found["Who wrote 1?"]["ButtonModel"])
    assert set(wait_for_forms(kernel, pending, 2)) == {"Who wrote 0?", "Who wrote 2?"}
    questions = open_run("several", tmp_path / ".wfresume").questions
    position = next(question.index for question in questions if str(question) == "Who wrote 2?")
    said = other.run(f"%wfanswer several[{position}] magic")
    assert "the kernel that drives the run takes it now" in said.stdout, said.text
    assert set(wait_for_forms(kernel, pending, 1)) == {"Who wrote 0?"}
    open_run("several", tmp_path / ".wfresume").answer("call")
    assert pending.wait().result == {"text/plain": "['0 call', '1 click', '2 magic']"}
    assert counts(tmp_path / "log") == {"0 call": 1, "1 click": 1, "2 magic": 1}


def test_a_click_after_the_cell_has_returned_is_on_disk(kernel: Kernel, tmp_path: Path) -> None:
    """No loop has to run; the board says how to go on, and a question answered elsewhere says so."""
    cell = "%%wfrun several --board widget --wait 0\nawait Several().run()"
    assert kernel.run(cell).ename == "RunEnded"
    found = forms(kernel)
    kernel.set_widget(found["Who wrote 1?"]["TextModel"], value="late")
    kernel.click(found["Who wrote 1?"]["ButtonModel"])
    kernel.run("1")  # the kernel has handled what came before
    run = open_run("several", tmp_path / ".wfresume")
    run.answer("call", question=next(one for one in run.questions if "0" in str(one)))
    kernel.click(found["Who wrote 0?"]["ButtonModel"])
    kernel.run("1")  # the kernel has handled what came before
    texts = " ".join(str(state.get("value")) for state in kernel.widgets.values())
    assert "answered: late · run this cell again to go on" in texts
    assert "is answered already" in texts
    kept = [json.loads(data) for data in run.store.notes(run.id, "answer.").values()]
    assert [one["value"] for one in kept] == [{"text": "late"}, {"text": "call"}]
    assert kernel.run(cell).ename == "RunEnded"
    assert counts(tmp_path / "log") == {"0 call": 1, "1 late": 1}


def test_an_interrupt_at_a_question_ends_the_cell_as_waiting(kernel: Kernel, tmp_path: Path) -> None:
    """The sentence is the question and how to go on; the question stays open."""
    pending = kernel.start("%%wfrun once --board text --wait forever\nawait Once().run()")
    kernel.wait_for_output(pending, lambda shown: "? waiting" in shown.text)
    kernel.interrupt()
    shown = pending.wait()
    assert (shown.status, shown.ename) == ("error", "RunEnded")
    assert shown.evalue == 'once waits for an answer "Who?": answer it and run this cell again to go on'
    run = open_run("once", tmp_path / ".wfresume")
    assert (run.status, str(run.questions[0])) == ("waiting", "Who?")


def test_an_interrupt_at_a_nested_question_ends_the_cell_as_waiting(kernel: Kernel, tmp_path: Path) -> None:
    """The outer run is as much waiting as the inner ones."""
    pending = kernel.start("%%wfrun outer --board text --wait forever\nawait Outer().run()")
    kernel.wait_for_output(pending, lambda shown: "? waiting" in shown.text and "Inner 1?" in shown.text)
    kernel.interrupt()
    shown = pending.wait()
    assert shown.ename == "RunEnded"
    assert shown.evalue.startswith("outer waits for an answer")
    run = open_run("outer", tmp_path / ".wfresume")
    assert (run.status, len(run.questions)) == ("waiting", 2)


def test_the_cell_waits_as_long_as_it_is_told(kernel: Kernel, tmp_path: Path) -> None:
    """``--wait SECONDS`` ends the cell as waiting after that time, and not before."""
    begun = time.monotonic()
    shown = kernel.run("%%wfrun once --wait 0.7 --board text\nawait Once().run()")
    assert shown.evalue == 'once waits for an answer "Who?": answer it and run this cell again to go on'
    assert time.monotonic() - begun >= 0.7
    assert shown.text.count("`ask` asked: with each answer it runs again from its start") == 1
    assert open_run("once", tmp_path / ".wfresume").status == "waiting"


def test_where_nobody_can_answer_the_cell_ends_at_once(kernel: Kernel) -> None:
    """A headless run does not wait for a person by default."""
    shown = kernel.run("%%wfrun once\nawait Once().run()")
    assert (shown.ename, "waits for an answer" in shown.evalue) == ("RunEnded", True)
