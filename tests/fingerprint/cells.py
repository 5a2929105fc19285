"""Notebook cells without a kernel: executed afresh, with their source where IPython puts it."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from jupyter_wfresume.engine import own_attributes, steps_of
from jupyter_wfresume.fingerprint import StepCode, changes, step_codes

_NUMBERS = itertools.count()


def notebook(*cells: str, source: bool = True, **given: Any) -> Any:
    """Execute cells and return their namespace as an object.

    Args:
        cells: sources.
        source: whether the cells' text can be found afterwards.
        given: names that are there before.
    """
    space = ModuleType("__main__")
    vars(space).update(given)
    for cell in cells:
        name = f"<cell {next(_NUMBERS)}>"
        if source:
            linecache.cache[name] = (len(cell), None, cell.splitlines(keepends=True), name)
        exec(compile(cell, name, "exec", dont_inherit=True), vars(space))
    return space


def codes(space: Any, flow: Any = None) -> dict[str, StepCode]:
    """Fingerprint the steps of the namespace's ``Flow``.

    Args:
        space: what `notebook` returned.
        flow: the instance; a new one by default.
    """
    flow = space.Flow() if flow is None else flow
    functions = flow._get_steps()
    return step_codes(
        functions,
        owner=type(flow),
        instance_attributes=own_attributes(flow),
        resources={
            name: [each.resource._factory for each in function._step_config.resources]
            for name, function in functions.items()
        },
        events={each.name: [*each.accepts, *each.returns] for each in steps_of(flow)},
    )


def one(*cells: str, **options: Any) -> StepCode:
    """Fingerprint the step ``work`` of cells whose ``Flow`` has no other; the imports come for free."""
    return codes(notebook(IMPORTS, *cells, **options))["work"]


def reasons(old: Mapping[str, StepCode], new: Mapping[str, StepCode]) -> dict[str, list[str]]:
    """Say for each step that differs what differs; digest and reasons must agree."""
    found = {name: changes(old[name].parts, new[name].parts) for name in old}
    for name, said in found.items():
        assert bool(said) == (old[name].digest != new[name].digest), (name, said)
    return {name: said for name, said in found.items() if said}


IMPORTS = """\
from workflows import Context, Workflow, step
from workflows.events import Event, StartEvent, StopEvent
"""


def flow(body: str, extra: str = "") -> str:
    """A workflow of one step, ``work``, with this body (one line), and more members."""
    return f"""\
class Flow(Workflow):
{extra}
    @step
    async def work(self, ev: StartEvent) -> StopEvent:
        {body}
"""
