"""A person answers on the board in JupyterLab: while the cell waits, and after it has ended."""

from __future__ import annotations

import inspect

import pytest
from ipykernel.ipkernel import IPythonKernel
from playwright.sync_api import Locator

from .conftest import Write
from .lab import Book, wait

pytestmark = pytest.mark.browser

CLICKS = "concurrent" in inspect.signature(IPythonKernel.dispatch_shell).parameters
"""Whether the kernel handles widget messages while a cell runs, as ipykernel does from 7.4."""

DEFINE = """\
%load_ext jupyter_wfresume
import os, pathlib
from typing import Literal
from workflows import Context, Workflow, step
from workflows.events import Event, HumanResponseEvent, InputRequiredEvent, StartEvent, StopEvent

class Ask(InputRequiredEvent):
    about: str

class Said(HumanResponseEvent):
    text: str

class Form(HumanResponseEvent):
    copies: int
    urgent: bool
    size: Literal["small", "large"]
    note: str = ""

class Item(Event):
    n: int

class Done(Event):
    text: str

class Names(Workflow):
    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(n=n) for n in range(3)]

    @step
    async def ask(self, ctx: Context, ev: Item) -> Done:
        with open("asked", "a") as log:
            log.write(f"{ev.n}\\n")
        said = await ctx.wait_for_event(Said, waiter_event=Ask(about=f"Who wrote document {ev.n}?"))
        return Done(text=f"{ev.n} {said.text}")

    @step
    async def join(self, evs: list[Done]) -> StopEvent:
        return StopEvent(result=", ".join(sorted(ev.text for ev in evs)))

class Order(Workflow):
    @step
    async def ask(self, ctx: Context, ev: StartEvent) -> StopEvent:
        said = await ctx.wait_for_event(Form, waiter_event=Ask(about="How shall it be printed?"))
        return StopEvent(result=f"{said.copies} {said.urgent} {said.size} {said.note!r}")
"""


def form(book: Book, text: str) -> Locator:
    """The fields below a question."""
    return book.output(1).locator(".wfr-form").filter(has_text=text)


@pytest.mark.skipif(not CLICKS, reason="platform: this ipykernel handles clicks only after the cell")
def test_three_questions_are_answered_by_clicks_while_the_cell_waits(write: Write) -> None:
    """Each answer goes to its own question, in any order, and what is typed elsewhere stays."""
    book = write(DEFINE, "%%wfrun names\nawait Names().run()")
    book.visit()
    book.command("notebook:run-all-cells")
    book.shows(1, r"names\s+(Names\s+)?\S\s*waiting")
    # Each field is filled once, before any click: a second change of a field waits in the page until the
    # kernel has taken the first, and a click would overtake it.
    for document, name in ((0, "Grace"), (1, "Alan"), (2, "Ada")):
        form(book, f"document {document}").locator("input").fill(name)
    form(book, "document 2").get_by_role("button").dblclick()
    form(book, "document 2").wait_for(state="detached")
    assert form(book, "document 0").locator("input").input_value() == "Grace"
    form(book, "document 0").get_by_role("button").click()
    form(book, "document 0").wait_for(state="detached")
    form(book, "document 1").get_by_role("button").click()
    book.shows(1, "'0 Grace, 1 Alan, 2 Ada'")
    assert book.output(1).locator(".wfr-form").count() == 0
    assert sorted((book.folder / "asked").read_text().split()) == ["0", "0", "1", "1", "2", "2"]


def test_a_form_is_filled_in_after_the_cell_has_ended(write: Write) -> None:
    """A click after the cell's end is on disk at once, and the cell goes on from it when it is run again."""
    book = write(DEFINE, "%%wfrun order --wait 0\nawait Order().run()")
    book.visit()
    book.command("notebook:run-all-cells")
    book.shows(1, "answer it and run this cell again")
    book.ready()
    fields = form(book, "How shall it be printed?")
    fields.get_by_role("button").click()
    wait(book.page, lambda: "choose size first" in fields.inner_text(), fields.inner_text)
    fields.locator("input[type=number]").fill("3")
    fields.locator("input[type=checkbox]").check()
    fields.locator("select").select_option("large")
    fields.get_by_role("button").dblclick()
    wait(
        book.page,
        lambda: "answered: 3, True, large · run this cell again" in fields.inner_text(),
        fields.inner_text,
    )
    book.command("notebook:run-all-cells")
    book.shows(1, "3 True large ''")
