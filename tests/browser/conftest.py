"""One JupyterLab for all browser tests, one Chromium for each module, one notebook for each test."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from .lab import STEP_S, Book, Server

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start JupyterLab."""
    started = Server(tmp_path_factory.mktemp("lab"), tmp_path_factory.mktemp("log") / "lab.log")
    yield started
    started.close()


# By module, not by session: while Playwright's synchronous face is open, the thread has a running
# event loop, in which no asynchronous test of another room could start its own.
@pytest.fixture(scope="module")
def browser(chromium_path: str) -> Iterator[Browser]:
    """Start Chromium."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium_path, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    """Open a window; its last picture is kept in the test's own folder."""
    context = browser.new_context(viewport={"width": 1200, "height": 1300})
    opened = context.new_page()
    opened.set_default_timeout(STEP_S * 1000)
    yield opened
    opened.screenshot(path=tmp_path / "last.png")
    context.close()


Write = Callable[..., Book]


@pytest.fixture
def write(server: Server, page: Page, tmp_path: Path) -> Iterator[Write]:
    """Return what writes a notebook of code cells into a folder of its own; kernels end with the test."""

    def made(*cells: str) -> Book:
        folder = server.folder / tmp_path.name
        folder.mkdir()
        book = Book(server, page, folder)
        listed = [
            {
                "cell_type": "code",
                "id": f"cell-{number}",
                "metadata": {},
                "outputs": [],
                "execution_count": None,
                "source": source,
            }
            for number, source in enumerate(cells)
        ]
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        content = {"cells": listed, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
        book.file.write_text(json.dumps(content), encoding="utf-8")
        return book

    yield made
    server.shut_down()
