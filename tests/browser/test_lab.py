"""The board in JupyterLab: it appears, moves, stops the run, and outlives its kernel."""

from __future__ import annotations

import inspect
import os
import re
import signal
import time

import pytest
from ipykernel.ipkernel import IPythonKernel

from tests.counting import counts

from .conftest import Write
from .lab import GONE, Book, wait

pytestmark = pytest.mark.browser

DEFINE = """\
%load_ext jupyter_wfresume
import asyncio, os, pathlib
from workflows import Workflow, step
from workflows.events import Event, StartEvent, StopEvent

pathlib.Path("pid").write_text(str(os.getpid()))

class Item(Event):
    n: int

class Done(Event):
    n: int

class Batch(Workflow):
    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(n=n) for n in range(100)]

    @step(num_workers=4)
    async def work(self, ev: Item) -> Done:
        with open("executed", "a") as log:
            log.write(f"{ev.n}\\n")
        while ev.n >= int(pathlib.Path("allowed").read_text()):
            await asyncio.sleep(0.02)
        return Done(n=ev.n)

    @step
    async def join(self, evs: list[Done]) -> StopEvent:
        return StopEvent(result=sum(ev.n for ev in evs))
"""
CLICKS = "concurrent" in inspect.signature(IPythonKernel.dispatch_shell).parameters
"""Whether the kernel handles widget messages while a cell runs, as ipykernel does from 7.4."""

RUN = "%%wfrun batch\nawait Batch(timeout=None).run()"


def allow(book: Book, items: int) -> None:
    """Let so many of the hundred items finish; four more wait in their steps."""
    new = book.folder / "allowed.new"
    new.write_text(str(items))
    new.replace(book.folder / "allowed")


def at(items: int) -> str:
    """The pattern of the line of ``work`` with so many items finished."""
    return rf"work\s+{items}\s*/\s*100\b"


def begun(write: Write, *more: str, items: int) -> Book:
    """Open a notebook and run it until so many items are finished."""
    book = write(DEFINE, RUN, *more)
    allow(book, items)
    book.visit()
    book.command("notebook:run-all-cells")
    book.shows(1, at(items))
    return book


def stop(book: Book) -> None:
    """Stop by the board's button, or by the kernel's interrupt where an older kernel hears no click."""
    button = book.output(1).get_by_role("button", name="Stop")
    if CLICKS:
        button.click()
    else:
        assert button.count() == 0
        assert "interrupt" in book.output(1).inner_text()
        book.command("notebook:interrupt-kernel")


def pid(book: Book) -> int:
    """Return the id of the process that last ran the notebook's first cell; 0 while it writes it."""
    return int((book.folder / "pid").read_text() or 0)


def executed(book: Book) -> dict[str, int]:
    """Return how often each item was executed."""
    return dict(counts(book.folder / "executed"))


def test_the_board_appears_moves_and_ends_with_the_result(write: Write) -> None:
    """One board is visible at every look, its counts grow as the cell runs, and the result comes once."""
    book = begun(write, items=40)
    assert book.boards(1) == 1
    assert re.search(r"batch\s+(Batch\s+)?\S\s*running", book.output(1).inner_text())
    allow(book, 70)
    book.shows(1, at(70))
    assert book.boards(1) == 1
    allow(book, 100)
    book.shows(1, r"✓\s*done")
    shown = book.shows(1, r"(?m)^4950$").string
    assert shown.count("4950") == 1
    assert book.boards(1) == 1
    assert book.output(1).get_by_role("button", name="Stop").count() == 0
    assert set(executed(book).values()) == {1}


def test_stop_works_while_the_cell_runs(write: Write) -> None:
    """One click lets executions under way finish, two end them; either way one sentence says how to go on."""
    book = begun(write, items=20)
    stop(book)
    book.shows(1, "(?i)stopping")
    allow(book, 24)
    shown = book.shows(1, r"paused at 24 of 100: run this cell again to go on").string
    assert "Traceback" not in shown
    assert book.boards(1) == 1
    assert len(executed(book)) == 24

    allow(book, 30)
    book.command("notebook:run-all-cells")
    book.shows(1, at(30))
    stop(book)
    book.shows(1, "(?i)stopping")
    stop(book)
    book.shows(1, r"paused at 30 of 100: run this cell again to go on")
    allow(book, 100)
    assert len(executed(book)) == 34


def test_a_restarted_kernel_resumes_and_the_board_outlives_it(write: Write) -> None:
    """Restart and run all says what was saved and executes the rest; reopened, the board is there."""
    book = begun(write, items=40)
    before = pid(book)
    book.command("notebook:restart-run-all")
    book.accept()
    wait(book.page, lambda: pid(book) not in (0, before), lambda: f"still process {before}")
    allow(book, 60)
    book.shows(1, at(60))
    book.shows(1, r"saved by resume: 41 executions")
    allow(book, 100)
    book.shows(1, r"(?m)^4950$")
    times = executed(book)
    assert len(times) == 100
    assert [n for n, paid in times.items() if paid > 1] == ["40", "41", "42", "43"]

    book.save()
    book.server.shut_down()
    book.visit()
    book.shows(1, r"✓\s*done")
    shown = book.shows(1, "saved by resume: 41 executions").string
    assert not GONE.search(shown)
    assert book.boards(1) == 1


def test_a_page_loaded_again_half_way_loses_nothing(write: Write) -> None:
    """After a reload at 40 % the run goes on, no dead widget is shown, and another cell tells the end."""
    look = "from jupyter_wfresume import open_run\nopen_run('batch').status, open_run('batch').result"
    book = begun(write, items=40)
    book.save()
    book.reload()
    allow(book, 100)
    book.ready()
    wait(book.page, lambda: len(executed(book)) == 100, lambda: str(executed(book)))
    assert set(executed(book).values()) == {1}
    shown = book.shows(1, r"✓\s*done").string
    assert not GONE.search(shown)
    assert book.boards(1) == 1
    book.page.locator(".jp-Notebook .jp-CodeCell .cm-content").last.click()
    book.command("notebook:insert-cell-below")
    book.page.keyboard.type(look)
    book.command("notebook:run-cell")
    book.shows(2, r"\('done', 4950\)")


def test_after_a_kill_the_saved_notebook_shows_a_fresh_state(write: Write) -> None:
    """A kernel that dies of SIGKILL leaves a board that is seconds old, visible in the reopened notebook."""
    book = begun(write, items=40)
    started = time.time()
    wait(book.page, lambda: saved_state(book) >= started, lambda: str(book.save()["cells"][1]["outputs"]))
    killed = time.time()
    os.kill(pid(book), signal.SIGKILL)
    book.page.locator(".jp-Dialog").wait_for()
    book.accept()
    assert -1 <= killed - saved_state(book) <= 5
    book.server.shut_down()
    book.visit_elsewhere()
    shown = book.shows(1, at(40)).string
    assert not GONE.search(shown)
    assert book.boards(1) == 1


def saved_state(book: Book) -> float:
    """Save, and return of what moment the board in the saved notebook is, in seconds since the epoch."""
    shown = [output["data"] for output in book.save()["cells"][1]["outputs"] if "data" in output]
    texts = ["".join(data["text/plain"]) for data in shown if "text/plain" in data]
    moments = [found[0] for text in texts for found in re.finditer(r"\d\d:\d\d:\d\d", text)]
    if not moments:
        return 0.0
    today = time.strftime("%Y-%m-%d ")
    return time.mktime(time.strptime(today + moments[-1], "%Y-%m-%d %H:%M:%S")) + 1


def test_in_notebook_7_the_board_moves_and_stops(write: Write) -> None:
    """The other front end of Jupyter shows the same board, and its Stop works."""
    book = write(DEFINE, RUN)
    allow(book, 40)
    book.page.goto(f"{book.server.url}/notebooks/{book.path}")
    book.ready()
    book.command("notebook:run-all-cells")
    book.shows(1, at(40))
    stop(book)
    book.shows(1, "(?i)stopping")
    allow(book, 44)
    book.shows(1, r"paused at 44 of 100")
    assert book.boards(1) == 1
