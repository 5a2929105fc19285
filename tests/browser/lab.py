"""A real JupyterLab and a page in it: open a notebook, run it, and wait for what a person would see."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page

from tests.kernels import ROOT

START_S = 90.0
STEP_S = 60.0
"""Seconds for the server's start and for one step in the page; far more than either takes."""

GONE = re.compile("model not found|Error displaying widget|Loading widget", re.IGNORECASE)
"""What a front end writes in a widget's place when its kernel is gone."""

# The toolbar shows a kernel as idle before there is one; a cell run then asks which kernel to use.
_IDLE = """() => {
    const context = window.jupyterapp?.shell.currentWidget?.sessionContext;
    const kernel = context?.session?.kernel;
    return context?.isReady && kernel?.connectionStatus === "connected" && kernel.status === "idle";
}"""

# The question whether to fetch news would lie over the page, and this suite has no network.
_NO_NEWS = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}


class Server:
    """A Jupyter server of its own.

    Args:
        folder: its files' folder.
        log: where its words go.
    """

    def __init__(self, folder: Path, log: Path) -> None:
        self.folder = folder
        self.log = log
        config = Path(os.environ["JUPYTER_CONFIG_DIR"]) / "labconfig"
        config.mkdir(exist_ok=True)
        (config / "page_config.json").write_text(json.dumps(_NO_NEWS))
        deadline = time.monotonic() + START_S
        while not self._started(deadline):
            pass  # another process took the port in between

    def api(self, method: str, path: str, body: object = None) -> Any:
        """Call the server's REST interface; return what it answers, or None.

        Raises:
            OSError: it does not answer, or refuses.
        """
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/{path}", data=data, method=method)
        with urllib.request.urlopen(request, timeout=STEP_S) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def shut_down(self) -> None:
        """End every kernel."""
        for session in self.api("GET", "api/sessions"):
            self.api("DELETE", f"api/sessions/{session['id']}")

    def close(self) -> None:
        """End the server and its kernels."""
        if self._process.poll() is None:
            self.shut_down()
        self._process.terminate()
        self._process.wait()
        self._words.close()

    def _started(self, deadline: float) -> bool:
        """Start the process on a port that is free now; return whether it serves there."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        self.url = f"http://127.0.0.1:{port}"
        self._words = self.log.open("a")
        found = [os.environ.get("PYTHONPATH"), str(ROOT)]
        options = {
            "ServerApp.port": port,
            "ServerApp.port_retries": 0,
            "ServerApp.root_dir": self.folder,
            "ServerApp.disable_check_xsrf": True,
            "IdentityProvider.token": "",
            "LabApp.expose_app_in_browser": True,
            "JupyterNotebookApp.expose_app_in_browser": True,
            "LabApp.extension_manager": "readonly",
        }
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
                *(f"--{name}={value}" for name, value in options.items()),
            ],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, found))},
            cwd=self.folder,
            stdout=self._words,
            stderr=subprocess.STDOUT,
        )
        while self._process.poll() is None:
            try:
                self.api("GET", "api/status")
            except (urllib.error.URLError, ConnectionError):
                if time.monotonic() > deadline:
                    self.close()
                    raise TimeoutError(f"JupyterLab does not answer: {self.log.read_text()}") from None
                time.sleep(0.1)  # a port that begins to listen is no event that can be waited for
            else:
                return True
        self._words.close()
        if time.monotonic() > deadline:
            raise TimeoutError(f"JupyterLab does not start: {self.log.read_text()}")
        return False


class Book:
    """One notebook in a page.

    Args:
        server: who serves it.
        page: the browser's page.
        folder: the notebook's own folder, below the server's.
    """

    def __init__(self, server: Server, page: Page, folder: Path) -> None:
        self.server = server
        self.page = page
        self.folder = folder
        self.file = folder / "book.ipynb"
        self.path = self.file.relative_to(server.folder).as_posix()

    def visit(self) -> None:
        """Load JupyterLab anew, with this notebook and nothing else open."""
        self._go()
        self.ready()

    def visit_elsewhere(self) -> None:
        """Load the notebook as on another machine: not trusted there, and without a kernel for it."""
        content = json.loads(self.file.read_text(encoding="utf-8"))
        content["metadata"]["kernelspec"] = {"name": "not-here", "display_name": "none", "language": "none"}
        content["metadata"].pop("language_info", None)
        self.file.write_text(json.dumps(content), encoding="utf-8")
        self._go()
        self.page.locator(".jp-Dialog").get_by_role("button", name="No Kernel").click()
        self.page.locator(".jp-Dialog").wait_for(state="detached")

    def _go(self) -> None:
        self.page.goto(f"{self.server.url}/lab/workspaces/{self.folder.name}/tree/{self.path}?reset")

    def reload(self) -> None:
        """Load the page again, as F5 does."""
        self.page.reload()
        self.page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()

    def ready(self) -> None:
        """Wait until the notebook stands there and its kernel is idle."""
        self.page.wait_for_function(_IDLE)

    def command(self, name: str) -> None:
        """Start a command of the front end, as its menu does, and do not wait for its end."""
        self.page.evaluate("name => void window.jupyterapp.commands.execute(name)", name)

    def save(self) -> Any:
        """Save; return the notebook as it then stands on the disk."""
        self.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
        return json.loads(self.file.read_text(encoding="utf-8"))

    def accept(self) -> None:
        """Press the last button of a dialog, which is the one that agrees."""
        self.page.locator(".jp-Dialog-footer button").last.click()
        self.page.locator(".jp-Dialog").wait_for(state="detached")

    def output(self, cell: int) -> Locator:
        """The output area of the code cell number ``cell``, counted from 0."""
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(cell).locator(".jp-Cell-outputArea")

    def shows(self, cell: int, pattern: str) -> re.Match[str]:
        """Wait until the visible text of a cell's output matches.

        Raises:
            AssertionError: it does not in time.
        """
        output = self.output(cell)
        wait(self.page, lambda: re.search(pattern, output.inner_text()), lambda: output.inner_text())
        found = re.search(pattern, output.inner_text())
        assert found is not None, f"{pattern!r} was shown and went away: {output.inner_text()}"
        return found

    def boards(self, cell: int) -> int:
        """Return how many boards of a cell are visible."""
        return sum(head.is_visible() for head in self.output(cell).locator(".wfr-head").all())


def wait(page: Page, condition: Callable[[], object], seen: Callable[[], str]) -> None:
    """Wait until a condition holds, while the page lives on.

    Args:
        page: the page, whose events are handled meanwhile.
        condition: asked again and again.
        seen: what to say if it never holds.

    Raises:
        AssertionError: it does not hold in time.
    """
    deadline = time.monotonic() + STEP_S
    while not condition():
        assert time.monotonic() < deadline, f"this is all that was to be seen: {seen()}"
        page.wait_for_timeout(50)  # handles the page's events; the condition also looks at files
