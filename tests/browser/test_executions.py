"""A person chooses an execution on the board in JupyterLab, edits its input, replays it, goes on from it."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from ipykernel.ipkernel import IPythonKernel
from playwright.sync_api import Locator

from jupyter_wfresume import open_run, runs
from tests.counting import counts

from .conftest import Write
from .lab import GONE, Book, wait

pytestmark = pytest.mark.browser

CLICKS = "concurrent" in inspect.signature(IPythonKernel.dispatch_shell).parameters
"""Whether the kernel handles widget messages while a cell runs, as ipykernel does from 7.4."""

DEFINE = """\
%load_ext jupyter_wfresume
import asyncio, pathlib
from typing import Literal
from workflows import Workflow, step
from workflows.events import Event, StartEvent, StopEvent

class Item(Event):
    n: int
    text: str
    loud: bool = False

class Done(Event):
    text: str

class Batch(Workflow):
    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(n=n, text=f"text {n}") for n in range(30)]

    @step(num_workers=4)
    async def work(self, ev: Item) -> Done:
        with open("executed", "a") as log:
            log.write(f"{ev.n}\\n")
        if ev.text == "text 17":
            raise ValueError("bad document")
        while ev.n == 29 and not pathlib.Path("go").exists():
            await asyncio.sleep(0.02)
        return Done(text=ev.text.upper() if ev.loud else ev.text)

    @step
    async def join(self, evs: list[Done]) -> StopEvent:
        return StopEvent(result=len(evs))
"""
RUN = "%%wfrun batch --keep-going\nawait Batch(timeout=None).run()"


def kept(book: Book, run_id: str) -> Any:
    """All that the store holds of a run, as bytes."""
    store = open_run("batch", book.folder / ".wfresume").store
    return store.get_run(run_id), store.read(run_id).records


def field(sheet: Locator, name: str) -> Locator:
    """The control beside a label."""
    row = sheet.locator(".widget-hbox").filter(has=sheet.page.get_by_text(name, exact=True))
    return row.locator("input, textarea").last


def execute(book: Book, code: str) -> None:
    """Execute code in the notebook's kernel, outside of its cells, to its end."""
    book.page.evaluate(
        "code => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"
        ".requestExecute({code}).done",
        code,
    )


def sees(book: Book, where: Locator, text: str) -> None:
    """Wait until a text stands there."""
    wait(book.page, lambda: text in where.inner_text(), where.inner_text)


def run(write: Write, *more: str) -> Book:
    """A run of thirty items of which one has failed, and its board."""
    book = write(DEFINE, RUN, *more)
    (book.folder / "go").touch()
    book.visit()
    book.command("notebook:run-all-cells")
    book.shows(1, r"✕\s*failed")
    return book


def test_a_failure_is_edited_replayed_and_gone_on_from(write: Write) -> None:
    """The difference is shown, the new run reuses the rest, and the old run is the same byte for byte."""
    book = run(write)
    output = book.output(1)
    old = open_run("batch", book.folder / ".wfresume").id
    sees(book, output, "ValueError: bad document")
    output.locator(".wfr-failing").get_by_role("button", name="Edit and replay").click()
    sheet = output.locator(".wfr-sheet")
    sees(book, sheet, "ValueError: bad document")
    before, executed = kept(book, old), counts(book.folder / "executed")
    field(sheet, "text").fill("another text")
    sheet.locator("input[type=checkbox]").check()
    sheet.get_by_role("button", name="Replay").dblclick()
    sees(book, sheet, "it had failed, and does not now")
    assert "ANOTHER TEXT" in sheet.inner_text()
    assert counts(book.folder / "executed") - executed == {"17": 1}
    assert kept(book, old) == before
    sheet.get_by_role("button", name="Continue from here").click()
    sees(book, sheet, f"run {old[:8]} is as it was")
    assert "saved by reuse: 30 executions" in sheet.inner_text()
    new = runs("batch", book.folder / ".wfresume")[0]
    assert (new.status, new.result) == ("done", 30)
    assert f"%wfshow {new.id[:8]}" in sheet.inner_text()
    assert kept(book, old) == before
    assert counts(book.folder / "executed") - executed == {"17": 2}


def test_after_a_restart_it_is_chosen_from_what_wfshow_shows(write: Write) -> None:
    """Yesterday's run: pages, a form, a difference; without the classes a sentence says what to run."""
    book = run(write, "%wfshow batch")
    book.command("kernelmenu:restart")
    book.accept()
    book.ready()
    book.command("notebook:clear-all-cell-outputs")  # no button of the dead kernel is left to be clicked
    book.page.locator(".wfr-executions").first.wait_for(state="detached")
    execute(book, "%load_ext jupyter_wfresume")
    book.page.locator(".jp-Notebook .jp-CodeCell").nth(2).locator(".cm-content").click()
    book.command("notebook:run-cell")
    output = book.output(2)
    output.get_by_role("button", name="▸ Executions").click()
    sees(book, output, "1–10 of 31")
    output.get_by_role("button", name="▸", exact=True).click()
    sees(book, output, "11–20 of 31")
    output.locator(".wfr-row").filter(has_text="work[12]").click()
    sheet = output.locator(".wfr-sheet")
    sees(book, sheet, "cannot find Batch: run the cell that defines it")
    execute(book, DEFINE)
    output.locator(".wfr-row").filter(has_text="work[12]").click()
    field(sheet, "text").fill("text 12 b")
    sheet.get_by_role("button", name="Replay").click()
    sees(book, sheet, "1 difference")
    assert "text 12 b" in sheet.inner_text()
    assert not GONE.search(output.inner_text())
    book.save()
    book.server.shut_down()
    book.visit()
    book.shows(2, r"work\[17\]\s+✕ failed")
    wait(book.page, lambda: not GONE.search(output.inner_text()), output.inner_text)
    assert book.boards(2) == 1


@pytest.mark.skipif(not CLICKS, reason="platform: this ipykernel handles clicks only after the cell")
def test_an_execution_is_replayed_while_its_run_goes_on(write: Write) -> None:
    """The list, a form, several changes and a replay work beside the cell, which then ends as it would."""
    book = write(DEFINE, RUN)
    book.visit()
    book.command("notebook:run-all-cells")
    book.shows(1, r"work\s+28\s*/\s*30")
    output = book.output(1)
    output.get_by_role("button", name="▸ Executions").click()
    output.locator(".wfr-row").filter(has_text="work[3]").click()
    sheet = output.locator(".wfr-sheet")
    for text in ("one", "two", "three"):
        field(sheet, "text").fill(text)
        field(sheet, "n").focus()
    field(sheet, "n").fill("40")
    sheet.get_by_role("button", name="Replay").click()
    sees(book, sheet, "1 difference")
    assert "three" in sheet.inner_text()
    assert counts(book.folder / "executed")["40"] == 1
    (book.folder / "go").touch()
    book.shows(1, "29 done|30 done, 1 failed")
    assert book.boards(1) == 1
