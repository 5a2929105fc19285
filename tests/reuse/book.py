"""A notebook that is run again and again, each time from cells as they then are."""

from __future__ import annotations

import itertools
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from jupyter_wfresume.journal import Record, history
from jupyter_wfresume.records import RunHeader
from jupyter_wfresume.session.runs import headers_of
from jupyter_wfresume.store import Store
from tests.fingerprint.cells import notebook
from tests.resume.lives import Body, Life, Write, live, put_back, ran

IMPORTS = """\
from workflows import Context, Workflow, step
from workflows.events import Event, StartEvent, StopEvent

class Item(Event):
    doc: str

class Done(Event):
    doc: str
    value: str
"""

_SPLIT = "return [Item(doc=doc) for doc in ev.docs]"
_WORK = "return Done(doc=ev.doc, value=ev.doc.upper())"
_JOIN = "return StopEvent(result=sorted(one.value for one in ev))"


def documents(work: str = _WORK, *, split: str = _SPLIT, join: str = _JOIN, more: str = "") -> str:
    """The cell of a workflow that works on documents, with these bodies.

    Args:
        work: statements of the step that works on one document.
        split: statements of the step that dispatches.
        join: statements of the step that joins.
        more: further members of the class.
    """
    return f"""\
class Flow(Workflow):
{_block(more, 4)}
    @step
    async def split(self, ctx: Context, ev: StartEvent) -> list[Item]:
        ran("split")
{_block(split, 8)}

    @step(num_workers=4)
    async def work(self, ctx: Context, ev: Item) -> Done:
        ran("work")
{_block(work, 8)}

    @step
    async def join(self, ctx: Context, ev: list[Done]) -> StopEvent:
        ran("join")
{_block(join, 8)}
"""


def _block(text: str, indent: int) -> str:
    return "\n".join(" " * indent + line if line else "" for line in text.splitlines())


@contextmanager
def in_main(kernel: Any) -> Iterator[None]:
    """What is looked up in ``__main__`` is found in the kernel."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "__main__", kernel)
        yield


@dataclass
class Book:
    """Cells that are run with one store.

    Args:
        folder: where the store is, and those of runs from scratch.
        name: NAME of the runs.
    """

    folder: Path
    name: str = "book"
    _scratch: itertools.count[int] = field(default_factory=itertools.count)

    @property
    def store(self) -> Path:
        """The store's folder."""
        return self.folder / "store"

    def kernel(self, *cells: str) -> Any:
        """The namespace of a new kernel in which the cells were run."""
        return notebook(IMPORTS, *cells, ran=ran)

    async def run(self, *cells: str, options: dict[str, Any] | None = None, **inputs: Any) -> Life:
        """Run the cells in a new kernel, and then ``Flow`` with these inputs."""
        return await self.again(self.kernel(*cells), options=options, **inputs)

    async def again(self, kernel: Any, options: dict[str, Any] | None = None, **inputs: Any) -> Life:
        """Run ``Flow`` of a kernel with these inputs."""
        return await self.body(kernel, lambda: kernel.Flow(timeout=None).run(**inputs), **(options or {}))

    async def body(self, kernel: Any, body: Body, **options: Any) -> Life:
        """Run a cell's body in a kernel."""
        with in_main(kernel):
            return await live(self.store, body, name=self.name, **options)

    def killed(self, writes: list[Write], folder: Path) -> Book:
        """A notebook whose kernel was killed after these writes."""
        folder.mkdir()
        put_back(folder / "store", writes)
        return Book(folder, self.name)

    async def scratch(self, *cells: str, **inputs: Any) -> Life:
        """Run the cells in a new kernel with an empty store."""
        kernel = self.kernel(*cells)
        store = self.folder / f"scratch {next(self._scratch)}"
        with in_main(kernel):
            return await live(store, lambda: kernel.Flow(timeout=None).run(**inputs), name=self.name)

    def headers(self) -> list[RunHeader]:
        """The runs in the store, newest first."""
        with Store.open(self.store) as store:
            return headers_of(store.runs(), store)

    def records(self, run_id: str = "") -> list[Record]:
        """The records of a run; of the newest one by default."""
        with Store.open(self.store) as store:
            return history(store, run_id or headers_of(store.runs(), store)[0].run_id).records


def plan_of(life: Life) -> dict[str, str]:
    """What was said of each step before anything was executed, without the time that it would take."""
    lines = [line for told in life.told for line in told.splitlines() if line.startswith("  ")]
    lines = [line for line in lines if not line.startswith(_BY_TYPE)]
    return dict(_TIME.sub("", line).split(maxsplit=1) for line in lines)


def executed(life: Life) -> Counter[str]:
    """How many executions of each step there were."""
    assert life.error is None, life.error
    return Counter(life.ran)


def by_type_of(life: Life) -> list[str]:
    """What the plan said is compared by its type only; what the tests themselves count with is left out."""
    lines = [line for told in life.told for line in told.splitlines() if line.startswith(_BY_TYPE)]
    said = [each for line in lines for each in line.removeprefix(_BY_TYPE).split(", ")]
    return [each for each in said if not each.endswith("(ContextVar)")]


_BY_TYPE = "  compared by type only: "
_TIME = re.compile(r", about \d+\.\d s$")
_BOUND = re.compile(r"(at least |at most |about )?([\d,]+) (reused|to run)")


def check_plan(life: Life) -> None:
    """What was executed and what was answered is what the plan had said; nothing is said of a recorded
    result."""
    steps = {step.name: step for step in life.views[-1].steps} if life.views else {}
    for name, said in plan_of(life).items():
        for bound, count, kind in _BOUND.findall(said):
            now = steps[name].restored if kind == "reused" else steps[name].done
            planned = int(count.replace(",", ""))
            right = {"": now == planned, "at least ": now >= planned, "at most ": now <= planned}
            assert right.get(bound, True), (name, said, steps[name])
        if "at least" not in said and "depends" not in said and "about" not in said:
            reused = sum(int(c) for b, c, k in _BOUND.findall(said) if k == "reused" and not b)
            runs = sum(int(c) for b, c, k in _BOUND.findall(said) if k == "to run" and not b)
            assert (steps[name].restored, steps[name].done) == (reused, runs), (name, said, steps[name])
