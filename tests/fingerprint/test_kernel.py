"""The same in a real kernel, across a restart: hash seeds, cell numbers and file names are new each time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_wfresume.fingerprint import changes
from tests.kernels import Kernel

HELPERS = """\
from workflows import Workflow, step
from workflows.events import Event, StartEvent, StopEvent
import helpers

PROMPT = "Summarise: {text}"
KINDS = {"alpha", "beta", "gamma"}

def clean(text):
    # shorten
    return helpers.strip(text)[:40] if text in {"one", "two", "three"} else text

class Item(Event):
    text: str
"""

FLOW = """\
class Flow(Workflow):
    size = 3

    @step
    async def split(self, ev: StartEvent) -> Item:
        return Item(text="a" * self.size)

    @step
    async def work(self, ev: Item) -> StopEvent:
        key = lambda text: (len(text), text)
        return StopEvent(result=sorted(KINDS | {PROMPT, clean(ev.text)}, key=key))
"""

SHOW = """\
import json
from jupyter_wfresume.engine import own_attributes, steps_of
from jupyter_wfresume.fingerprint import step_codes
flow = Flow()
found = step_codes(
    flow._get_steps(),
    owner=Flow,
    instance_attributes=own_attributes(flow),
    resources={},
    events={each.name: [*each.accepts, *each.returns] for each in steps_of(flow)},
)
print(json.dumps({name: dict(code.parts) for name, code in found.items()}))
"""

MODULE = "def strip(text):\n    return text.strip()\n"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """Start a kernel in a folder with a module of the user's."""
    with Kernel(tmp_path_factory.mktemp("here"), env={"PYTHONHASHSEED": None}) as started:
        yield started


def parts(kernel: Kernel, *cells: str, module: str = MODULE) -> dict[str, dict[str, str]]:
    """Restart the kernel, run the cells, and return each step's parts."""
    Path(kernel.cwd, "helpers.py").write_text(module)
    kernel.restart()
    for cell in cells:
        result = kernel.run(cell)
        assert result.status == "ok", result.text
    shown = kernel.run(SHOW)
    assert shown.status == "ok", shown.text
    found: dict[str, dict[str, str]] = json.loads(shown.stdout)
    return found


def test_edits_across_restarts(kernel: Kernel) -> None:
    """A restart, moved cells and a comment change nothing; an edited helper, module or constant is named."""
    before = parts(kernel, HELPERS, FLOW)
    assert {"helper clean()", "helper strip()", "constant PROMPT", "event Item"} <= before["work"].keys()

    again = parts(kernel, "1 + 1", HELPERS.replace("# shorten", "# make it short"), "2 + 2", FLOW)
    assert again == before
    assert parts(kernel, "%%time\n0\n", HELPERS + FLOW) == before

    edited = parts(
        kernel, HELPERS.replace("[:40]", "[:50]"), FLOW, module=MODULE.replace("strip()", "lstrip()")
    )
    assert changes(before["work"], edited["work"]) == ["helper clean() differs", "helper strip() differs"]
    assert edited["split"] == before["split"]

    prompted = parts(kernel, HELPERS.replace("Summarise", "Translate"), FLOW.replace("size = 3", "size = 4"))
    assert changes(before["work"], prompted["work"]) == ["constant PROMPT differs"]
    assert changes(before["split"], prompted["split"]) == ["class attribute size differs"]


def test_a_helper_edited_in_its_cell(kernel: Kernel) -> None:
    """Running an edited helper's cell again is enough; the workflow's cell need not be run again."""
    before = parts(kernel, HELPERS, FLOW)
    edit = "def clean(text):\n    return text\n"
    after = parts(kernel, HELPERS, FLOW, edit)
    assert changes(before["work"], after["work"]) == [
        "helper clean() differs",
        "helper strip() is no longer used",
    ]
