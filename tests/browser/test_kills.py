"""A person in JupyterLab whose kernel dies: at a question, and in the midst of a run that keeps going."""

from __future__ import annotations

import os
import signal

import pytest

from tests.counting import counts
from tests.resume.kept import BAD, HELD, WORKERS, N

from .conftest import Write
from .lab import Book, wait
from .test_people import CLICKS, form

pytestmark = pytest.mark.browser

DEFINE = """\
%load_ext jupyter_wfresume
import os, pathlib
from tests.{module} import *
pathlib.Path("pid").write_text(str(os.getpid()))
"""


def pid(book: Book) -> int:
    """Return the id of the process that last ran the notebook's first cell; 0 while it writes it."""
    file = book.folder / "pid"
    return int((file.read_text() if file.exists() else "") or 0)


def kill(book: Book) -> None:
    """End the kernel with SIGKILL, and wait for the new one that the front end starts."""
    os.kill(pid(book), signal.SIGKILL)
    book.page.locator(".jp-Dialog").wait_for()
    book.accept()
    book.ready()


def run_again(book: Book) -> None:
    """Run all cells in the new kernel, and wait until that has begun."""
    before = pid(book)
    book.command("notebook:run-all-cells")
    wait(book.page, lambda: pid(book) not in (0, before), lambda: f"still process {before}")


def ended(book: Book) -> None:
    """Wait for the reply to the last cell, which has its number then; what is sent before is aborted."""
    prompt = book.page.locator(".jp-Notebook .jp-CodeCell").nth(1).locator(".jp-InputPrompt")
    wait(book.page, lambda: "[2]" in prompt.inner_text(), prompt.inner_text)


@pytest.mark.skipif(not CLICKS, reason="platform: this ipykernel handles clicks only after the cell")
def test_a_question_outlives_its_kernel_and_is_answered_by_a_click(write: Write) -> None:
    """The same question stands there when the cell is run again; nothing before it is executed twice."""
    book = write(DEFINE.format(module="people.flows"), "%%wfrun once\nawait Once().run()")
    book.visit()
    book.command("notebook:run-all-cells")
    form(book, "Who?").locator("input").fill("never sent")
    kill(book)
    assert counts(book.folder / "log") == {"first": 1, "paid": 1}
    run_again(book)
    book.shows(1, r"resumes run")
    form(book, "Who?").locator("input").fill("Ada")
    assert counts(book.folder / "log") == {"first": 1, "paid": 1}
    said = "ask asked: with each answer it runs again from its start"
    assert book.shows(1, said).string.count(said) == 1
    form(book, "Who?").get_by_role("button").click()
    book.shows(1, "(?m)^'Ada'$")
    assert counts(book.folder / "log") == {"first": 1, "paid": 2}


def test_five_of_a_hundred_fail_are_mended_and_run_alone(write: Write) -> None:
    """Killed, resumed, mended, resumed: the board lists the failures, and each count is exact."""
    book = write(DEFINE.format(module="resume.kept"), "%%wfrun enrich -k\nawait Enrich(timeout=None).run()")
    log = book.folder / "log"
    held = {f"work {i}" for i in range(HELD, HELD + WORKERS)}
    book.visit()
    book.command("notebook:run-all-cells")
    book.shows(1, r"work\s+56\s*/\s*100\b")
    wait(book.page, lambda: held <= counts(log).keys(), lambda: str(counts(log)))
    kill(book)
    (book.folder / "go").touch()
    run_again(book)
    book.shows(1, "95 done, 5 failed")
    ended(book)
    shown = book.output(1).inner_text()
    assert "✕ ValueError: bad document 5 executions" in shown
    assert 'raise ValueError("bad document")' in shown
    assert [i for i in BAD if f"work[{i}]\nItem(i={i})\nEdit and replay" in shown] == list(BAD[:3])
    book.output(1).get_by_role("button", name="Show all").click()
    listed = book.output(1).locator(".wfr-row")
    wait(book.page, lambda: listed.count() == len(BAD), book.output(1).inner_text)
    assert [f"work[{i}]" in row for i, row in zip(BAD, listed.all_inner_texts(), strict=True)] == [True] * 5
    (book.folder / "fixed").touch()
    book.command("notebook:run-all-cells")
    book.shows(1, "(?m)^100$")
    expected = {f"work {i}": 1 for i in range(N)}
    expected.update(dict.fromkeys(held, 2))  # they were under way when the kernel was killed
    expected.update({f"work {i}": 2 + 2 + 1 if i < HELD else 2 + 1 for i in BAD})
    assert counts(log) == {"split": 1, **expected, "join 100": 1}
