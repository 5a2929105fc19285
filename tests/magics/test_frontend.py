"""What a cell may count on in front of it."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest
from ipykernel.ipkernel import IPythonKernel

from jupyter_wfresume.magics.frontend import FrontEnd, look, notebook


class OldKernel:
    """A kernel whose widget messages wait for the cell, as before ipykernel 7.4."""

    comm_manager = None
    _allow_stdin = True

    async def dispatch_shell(self, message: Any) -> None: ...


class NewKernel(OldKernel):
    """A kernel that handles widget messages beside a cell."""

    async def dispatch_shell(self, message: Any, /, *, concurrent: bool = False) -> None: ...


@pytest.mark.parametrize(("kernel", "can_stop"), [(OldKernel(), False), (NewKernel(), True)])
def test_a_button_is_promised_only_where_clicks_arrive(kernel: OldKernel, can_stop: bool) -> None:
    """Stop is offered where the kernel handles widget messages while a cell runs."""
    front = look(SimpleNamespace(kernel=kernel))
    assert front == FrontEnd(kernel=True, headless=False, widgets=True, can_stop=can_stop)


def test_the_installed_kernel_is_understood() -> None:
    """The real kernel class has what is looked at, so that a renaming there is noticed here."""
    assert hasattr(IPythonKernel, "dispatch_shell")
    assert hasattr(IPythonKernel, "_forward_input")


def test_a_request_without_input_is_headless() -> None:
    """nbclient and papermill send cells that may not ask for input."""
    kernel = NewKernel()
    kernel._allow_stdin = False
    assert look(SimpleNamespace(kernel=kernel)).headless


def test_a_terminal_has_a_person_and_a_pipe_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a kernel it is the standard input that tells."""
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert look(SimpleNamespace()) == FrontEnd(kernel=False, headless=True, widgets=False, can_stop=False)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    assert not look(SimpleNamespace()).headless


@pytest.mark.parametrize(
    ("names", "path"),
    [({}, ""), ({"__session__": "a.ipynb"}, "a.ipynb"), ({"__vsc_ipynb_file__": "/b.ipynb"}, "/b.ipynb")],
)
def test_the_notebooks_path_is_what_the_front_end_says(names: dict[str, str], path: str) -> None:
    """Jupyter's server and VS Code leave the path in a name of their own."""
    assert notebook(SimpleNamespace(user_ns=names)) == path
