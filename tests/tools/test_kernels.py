"""The helpers that other tests trust: kernels, the terminal, the counting file."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.version import Version

from tests import counting
from tests.kernels import Kernel, run_terminal

pytestmark = pytest.mark.xdist_group("kernel")

WIDGET = """
import asyncio, ipywidgets
clicked = asyncio.Event()
button = ipywidgets.Button(description="Stop")
button.on_click(lambda _: clicked.set())
display(button)
await asyncio.wait_for(clicked.wait(), 30)
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """One kernel for the tests that leave it as it was."""
    with Kernel(tmp_path_factory.mktemp("kernel")) as one:
        yield one


def test_a_cell_gives_its_result_and_its_streams_apart(kernel: Kernel) -> None:
    """A cell's last expression, its prints and its warnings come back apart from one another."""
    result = kernel.run("import sys; print('out'); print('err', file=sys.stderr); 6 * 7")
    assert (result.status, result.stdout, result.stderr) == ("ok", "out\n", "err\n")
    assert result.result == {"text/plain": "42"}


def test_a_kernel_is_this_interpreter_in_the_folder_it_was_given(kernel: Kernel) -> None:
    """A kernel runs on the tests' own interpreter, in its own folder, with the project importable."""
    result = kernel.run("import sys, os, tests.counting; print(sys.executable); print(os.getcwd())")
    assert result.stdout.splitlines() == [sys.executable, kernel.cwd]


def test_an_error_carries_its_name_text_and_traceback(kernel: Kernel) -> None:
    """A cell that raises ends as an error, and the next cell runs all the same."""
    first, second = kernel.start("1 / 0"), kernel.start("'after'")
    failed = first.wait()
    assert (failed.status, failed.ename, failed.evalue) == ("error", "ZeroDivisionError", "division by zero")
    assert "1 / 0" in failed.text
    assert second.wait().result == {"text/plain": "'after'"}


def test_an_update_replaces_a_display_also_from_a_later_cell(kernel: Kernel) -> None:
    """A display shows its newest bundle, whichever cell updated it."""
    first = kernel.run("handle = display('old', display_id=True); display('b')")
    kernel.run("handle.update('new')")
    assert [display.data["text/plain"] for display in first.displays] == ["'new'", "'b'"]
    assert [display.updates for display in first.displays] == [1, 0]


def test_clear_output_with_wait_keeps_the_old_output_until_the_next(kernel: Kernel) -> None:
    """``clear_output(wait=True)`` empties the cell when something new is shown, not before."""
    kept = kernel.run("from IPython.display import clear_output; print('a'); clear_output(wait=True)")
    swapped = kernel.run("print('a'); clear_output(wait=True); print('b')")
    assert (kept.stdout, swapped.stdout) == ("a\n", "b\n")


def test_a_running_cell_can_be_watched_and_interrupted(kernel: Kernel) -> None:
    """Output is seen while the cell runs, and an interrupt ends it, the kernel living on."""
    pending = kernel.start("print('begun', flush=True)\nwhile True: pass")
    seen = kernel.wait_for_output(pending, lambda result: "begun" in result.stdout)
    assert seen.status == "running"
    kernel.interrupt()
    assert pending.wait().ename == "KeyboardInterrupt"
    assert kernel.run("1").status == "ok"


def test_waiting_for_what_a_cell_never_shows_fails_when_the_cell_ends(kernel: Kernel) -> None:
    """A predicate that does not hold at the cell's end is an assertion error, not a wait."""
    with pytest.raises(AssertionError, match="ended before it showed"):
        kernel.wait_for_output(kernel.start("print('other')"), lambda result: "this" in result.stdout)


def test_a_cell_that_runs_too_long_is_a_timeout_that_says_what_was_seen(kernel: Kernel) -> None:
    """A wait ends at its limit, with what the cell has shown so far."""
    pending = kernel.start("print('so far', flush=True)\nwhile True: pass")
    kernel.wait_for_output(pending, lambda result: "so far" in result.stdout)
    with pytest.raises(TimeoutError, match="so far"):
        pending.wait(timeout_s=0.1)
    kernel.interrupt()
    assert pending.wait().status == "error"


async def test_a_kernel_can_be_driven_from_an_async_test(kernel: Kernel) -> None:
    """A test with an event loop of its own gets the same results."""
    await asyncio.sleep(0)
    assert kernel.run("await asyncio.sleep(0) if 'asyncio' in dir() else 5").status == "ok"


def test_a_click_reaches_a_button_while_its_cell_runs_on_kernels_that_deliver_it(tmp_path: Path) -> None:
    """From ipykernel 7.4 on a widget's message is handled beside a running async cell."""
    if Version(metadata.version("ipykernel")) < Version("7.4"):
        pytest.skip("platform: ipykernel before 7.4 handles widget messages after the cell")
    with Kernel(tmp_path) as kernel:
        pending = kernel.start(WIDGET)
        shown = kernel.wait_for_output(pending, lambda result: bool(result.displays))
        model_id = shown.displays[0].data["application/vnd.jupyter.widget-view+json"]["model_id"]
        assert kernel.widgets[model_id]["description"] == "Stop"
        kernel.click(model_id)
        assert pending.wait().status == "ok"


def test_kill_ends_the_cell_as_died_and_restart_begins_empty(tmp_path: Path) -> None:
    """After SIGKILL a waiting cell is ``died``, what it wrote stays, and a restart knows no names."""
    done = tmp_path / "done"
    with Kernel(tmp_path) as kernel:
        kernel.run(counting.SOURCE)
        pending = kernel.start(f"bump({str(done)!r}, 'work')\nwhile True: pass")
        kernel.wait_for(lambda: counting.counts(done)["work"] == 1, pending)
        old = kernel.pid
        kernel.kill()
        assert not kernel.alive
        assert pending.wait().status == "died"
        kernel.restart()
        assert kernel.pid != old
        assert kernel.run("bump").ename == "NameError"
    assert not kernel.alive


def test_a_terminal_runs_cells_in_order(tmp_path: Path) -> None:
    """IPython without a front end runs several-line cells, cell magics too, and keeps its names."""
    cells = ["x = 20", "for i in range(2):\n    x += 1", "%%timeit -n1 -r1\npass", "print('x is', x)"]
    result = run_terminal(cells, tmp_path)
    assert result.returncode == 0
    assert "x is 22" in result.stdout
    assert "per loop" in result.stdout


def test_a_terminal_refuses_a_cell_that_typing_would_split() -> None:
    """A blank line inside a cell is refused, since it would end the cell early."""
    with pytest.raises(ValueError, match="blank line"):
        run_terminal(["if True:\n    pass\n\n    1"], ".")


def test_counts_add_up_over_calls(tmp_path: Path) -> None:
    """Each call is one line, and a file that nobody wrote counts nothing."""
    path = tmp_path / "ran"
    assert counting.counts(path) == {}
    for label in ("a", "b", "a"):
        counting.bump(path, label)
    assert counting.counts(path) == {"a": 2, "b": 1}


def test_a_label_of_two_lines_is_refused(tmp_path: Path) -> None:
    """A label with a line break would count as two."""
    with pytest.raises(ValueError, match="one line"):
        counting.bump(tmp_path / "ran", "a\nb")
