"""Events that meet no step, as far as a workflow's code shows it: the engine would wait without a word.

The engine matches an event by its exact class. What steps declare it checks by itself before a run,
unless a workflow was made with ``disable_validation``; what they really make it does not.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

from ..engine import (
    Event,
    HumanResponseEvent,
    InputRequiredEvent,
    StartEvent,
    StepFailedEvent,
    StepInfo,
    StepSource,
    StopEvent,
    Workflow,
    own_attributes,
    start_class,
    step_sources,
    steps_of,
)
from ..fingerprint.bytecode import names_in
from ..fingerprint.owners import Owners
from ..fingerprint.sources import Sources

_FROM_OUTSIDE = (StartEvent, HumanResponseEvent, StepFailedEvent, StopEvent)
_FOR_OUTSIDE = (StopEvent, InputRequiredEvent)

_Functions = (types.FunctionType, types.MethodType)


def unmet(workflow: Workflow, cell: str, has_context: bool) -> list[str]:
    """What will meet no step, or never come, one sentence each; only what is sure.

    Args:
        workflow: the workflow as it is now.
        cell: the source of the cell, or empty.
        has_context: the run begins from a context that was passed, which may hold events.
    """
    infos = steps_of(workflow)
    said = [] if has_context else _never_made(workflow, infos, cell)
    return said + _only_parents(infos, step_sources(workflow))


def parents_taken(infos: Iterable[StepInfo], made: type) -> list[tuple[str, str]]:
    """Steps that accept a parent of an event's class, with the parent; nothing where some step accepts it.

    Args:
        infos: the steps.
        made: the class of an event.
    """
    found: list[tuple[str, str]] = []
    for info in infos:
        for accepted in info.accepts:
            if accepted is made:
                return []
            if not isinstance(accepted, type) or not issubclass(made, accepted):
                continue
            if info.subclasses:
                return []
            found.append((info.name, accepted.__name__))
    return found


def only_parent(made: type, takers: list[tuple[str, str]], by: str = "") -> str:
    """The sentence about an event of which only a parent's class is accepted.

    Args:
        made: its class.
        takers: steps with the parent class that they accept.
        by: the step that makes it, where that is known.
    """
    step, parent = takers[0]
    makes = f"`{by}` makes a `{made.__name__}`" if by else f"a `{made.__name__}` was sent"
    return (
        f"{makes}, which no step accepts: `{step}` takes its parent class `{parent}` only; let it accept "
        f"`{made.__name__}` too, or decorate it with @step(accept_event_subclasses=True)"
    )


def _only_parents(infos: list[StepInfo], sources: dict[str, StepSource]) -> list[str]:
    if any("wait_for_event" in names_in(source.function.__code__) for source in sources.values()):
        return []  # a step may wait for it in its midst
    said: dict[type, str] = {}
    finder, owners = Sources(), Owners()
    for info in infos:
        source = sources[info.name]
        if not _is_users(source.function, owners):
            continue
        for made in (*info.returns, *_made_by(source.function, finder)):
            if isinstance(made, type) and issubclass(made, Event) and not issubclass(made, _FOR_OUTSIDE):
                takers = parents_taken(infos, made)
                if takers:
                    said.setdefault(made, only_parent(made, takers, info.name))
    return list(said.values())


def _is_users(function: Any, owners: Owners) -> bool:
    return isinstance(function, types.FunctionType) and owners.of_function(function).user


def _made_by(function: Any, finder: Sources) -> Iterator[type]:
    """Classes of the events that a step makes right where it returns or sends them."""
    source = finder.find(function.__code__, function.__globals__)
    if source is None or isinstance(source.node, ast.Lambda):
        return
    for node in ast.walk(source.node):
        sends = isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "send_event" and node.args
        made = node.value if isinstance(node, ast.Return) else node.args[0] if sends else None  # type: ignore[attr-defined]  # sends: it is a call
        for call in _calls(made):
            cls = _value(function, call.func)
            if isinstance(cls, type) and issubclass(cls, Event):
                yield cls


def _calls(node: ast.expr | None) -> Iterator[ast.Call]:
    """The calls that give an expression's value, or its members'."""
    if isinstance(node, ast.Call):
        yield node
    elif isinstance(node, ast.IfExp):
        yield from _calls(node.body)
        yield from _calls(node.orelse)
    elif isinstance(node, (ast.List, ast.Tuple)):
        for one in node.elts:
            yield from _calls(one)
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        yield from _calls(node.elt)


def _value(function: Any, node: ast.expr) -> Any:
    """What a name means in a function, unless it is one of its own."""
    if isinstance(node, ast.Attribute):
        owner = _value(function, node.value)
        return vars(owner).get(node.attr) if isinstance(owner, types.ModuleType) else None
    if not isinstance(node, ast.Name):
        return None
    if node.id in function.__code__.co_freevars:
        return _cells(function).get(node.id)
    own = {name for code in _codes(function.__code__) for name in (*code.co_varnames, *code.co_cellvars)}
    return None if node.id in own else function.__globals__.get(node.id)


def _cells(function: Any) -> dict[str, Any]:
    """What a function's closure holds by now; a name that is not set yet is in no cell."""
    found: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):
            found[name] = cell.cell_contents
    return found


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


# -- accepted, and made by nobody -------------------------------------------


def _never_made(workflow: Workflow, infos: list[StepInfo], cell: str) -> list[str]:
    produced = [start_class(workflow), *(cls for info in infos for cls in info.returns)]
    sources, owners = step_sources(workflow), Owners()
    found: list[str] = []
    reached: frozenset[str] | None = None
    for info in infos:
        if not _is_users(sources[info.name].function, owners):
            continue
        for cls in info.accepts:
            if not isinstance(cls, type) or issubclass(cls, _FROM_OUTSIDE) or _comes(info, cls, produced):
                continue
            if reached is None:
                reached = _names_reached(workflow, cell)
            name = cls.__name__
            if not {one.__name__ for one in (cls, *_below(cls))} & reached:
                found.append(
                    f"`{info.name}` accepts `{name}`, which no step makes and this cell does not send: "
                    f"let a step return a `{name}`, or take it out of `{info.name}`"
                )
    return found


def _comes(info: StepInfo, cls: type, produced: list[Any]) -> bool:
    return any(
        one is cls or (info.subclasses and isinstance(one, type) and issubclass(one, cls)) for one in produced
    )


def _below(cls: type) -> Iterator[type]:
    below: list[type] = type.__subclasses__(cls)
    for one in below:
        yield one
        yield from _below(one)


def _names_reached(workflow: Workflow, cell: str) -> frozenset[str]:
    """All names in the user's code that the workflow and the cell can reach."""
    reach = _Reach()
    for base in type(workflow).__mro__:
        reach.value(base)
    for source in step_sources(workflow).values():
        reach.value(source.function)
        for factory in source.resources:
            reach.value(factory)
    for value in own_attributes(workflow).values():
        reach.value(value)
    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        # A module as a whole names all that is defined in it.
        if frame.f_code.co_name != "<module>" and reach.is_users(frame.f_globals):
            reach.code(frame.f_code, {**frame.f_globals, **frame.f_locals})
        frame = frame.f_back
    main = vars(sys.modules["__main__"])
    for word in set(re.findall(r"\w+", cell)):
        reach.names.add(word)
        reach.value(main.get(word))
    return frozenset(reach.names)


class _Reach:
    """Collects names, from function to function of the user's."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self._owners = Owners()
        self._seen: set[int] = set()

    def is_users(self, space: dict[str, Any]) -> bool:
        """Whether a module's names are the user's."""
        module = sys.modules.get(str(space.get("__name__")))
        return module is None or self._owners.of_module(module).user

    def value(self, value: Any) -> None:
        """Follow what is a function, a class, a module or an object of the user's."""
        if id(value) in self._seen:
            return
        self._seen.add(id(value))
        if isinstance(value, types.ModuleType):
            if self._owners.of_module(value).user:
                self._all_of(value)
        elif isinstance(value, _Functions):
            function: Any = inspect.unwrap(getattr(value, "__func__", value))
            if self._owners.of_function(function).user:
                self.code(function.__code__, {**function.__globals__, **_cells(function)})
        elif isinstance(value, type):
            if self._owners.of_name(value.__module__).user:
                self._all_of(value)
        elif value is not None:
            self.value(type(value))

    def _all_of(self, holder: Any) -> None:
        for one in list(vars(holder).values()):
            for part in (one, getattr(one, "__func__", None), getattr(one, "fget", None)):
                if isinstance(part, _Functions):
                    self.value(part)

    def code(self, code: types.CodeType, space: dict[str, Any]) -> None:
        """Follow what a code object names, and what it may get by such a name from something else."""
        names = {*names_in(code), *code.co_freevars}
        self.names |= names
        for name in names:
            value = space.get(name)
            if value is not None:
                self.names.add(getattr(value, "__name__", name) if isinstance(value, type) else name)
                self.value(value)
