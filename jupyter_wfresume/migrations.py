"""What the user registers so that an unfinished run fits code that was renamed or reshaped."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeVar

from .codec import Migration
from .errors import UsageError

F = TypeVar("F", bound=Migration)

USE = '@migrate("Item"), with the name that is on record'


class Migrate:
    """Registers functions that turn recorded fields into the new ones.

    ``@migrate("Item")`` is asked for each recorded ``Item`` that does not fit the class as it is now:
    the class is gone, has other fields, or refuses the recorded values. The function takes the recorded
    fields, and returns the new ones, or an event of the class that takes its place.

    ``migrate.step("work", to="enrich")`` says that a step has another name now.

    ``@migrate.state("EnrichBatch")`` is asked once each time an unfinished run of that workflow goes on.
    It takes the recorded state and returns the new one; it must leave a state alone that is new already.

    Registering again under the same name replaces what was there, as running a cell again does.
    """

    def __init__(self) -> None:
        self._classes: dict[str, Migration] = {}
        self._states: dict[str, Migration] = {}
        self._steps: dict[str, str] = {}
        self._matched: set[str] = set()

    def __call__(self, what: type | str) -> Callable[[F], F]:
        """Register a function for an event class, or for another class that events hold.

        Args:
            what: the name that is on record (``Item``, ``mymodule.Item``), or the class.

        Raises:
            UsageError: it is neither.
        """
        name = _named(what, USE)

        def register(function: F) -> F:
            self._classes[name] = function
            return function

        return register

    def state(self, workflow: type | str) -> Callable[[F], F]:
        """Register a function for the state of a workflow's runs.

        Args:
            workflow: its class, or the class's name.

        Raises:
            UsageError: it is neither.
        """
        name = _named(workflow, '@migrate.state("EnrichBatch"), with the class of the workflow').rpartition(
            "."
        )[2]

        def register(function: F) -> F:
            self._states[name] = function
            return function

        return register

    def step(self, was: str, *, to: str) -> None:
        """Register that a step has another name now.

        Args:
            was: its name on record.
            to: its name now.

        Raises:
            UsageError: these are not two names.
        """
        names: tuple[Any, Any] = (was, to)
        if not all(isinstance(name, str) and name for name in names) or was == to:
            raise UsageError('migrate.step takes two names of a step: migrate.step("work", to="enrich")')
        self._steps[was] = to

    def forget(self) -> None:
        """Drop all that was registered."""
        for known in (self._classes, self._states, self._steps):
            known.clear()
        self._matched.clear()

    def of_class(self, module: str, qualname: str) -> Migration | None:
        """What is registered for a class, by its full name before its bare one.

        Args:
            module: the class's module.
            qualname: its qualified name.
        """
        for name in (f"{module}.{qualname}", qualname, qualname.rpartition(".")[2]):
            if name in self._classes:
                self._matched.add(name)
                return self._classes[name]
        return None

    def unmatched(self, workflow: str, steps: Collection[str]) -> str:
        """What is registered and fits nothing, in words: misspelt, perhaps; or nothing.

        Classes count that this process has not met on record.

        Args:
            workflow: name of the workflow's class.
            steps: names of its steps on record.
        """
        # A step that has its new name on record has been matched before.
        left = [was for was, to in self._steps.items() if was not in steps and to not in steps]
        said = [f"step '{was}'" for was in left]
        said += [f"state of {name}" for name in self._states if name != workflow]
        said += [f"class {name}" for name in self._classes if name not in self._matched]
        return ", ".join(said)

    def of_state(self, workflow: str) -> Migration | None:
        """What is registered for the state of a workflow.

        Args:
            workflow: name of its class.
        """
        return self._states.get(workflow)

    def of_steps(self, recorded: Collection[str], steps: Collection[str]) -> dict[str, str]:
        """The name now of each recorded step that the workflow no longer has.

        Args:
            recorded: names on record.
            steps: names that the workflow has.

        Raises:
            UsageError: a registered name is no step either.
        """
        found: dict[str, str] = {}
        for was in recorded:
            if was in steps or was not in self._steps:
                continue
            to, passed = self._steps[was], {was}
            while to not in steps and to in self._steps and to not in passed:
                passed.add(to)
                to = self._steps[to]
            if to not in steps:
                raise UsageError(
                    f"migrate.step({was!r}, to={to!r}): the workflow has no step '{to}'; "
                    f"it has {', '.join(sorted(steps))}"
                )
            if to in recorded or to in found.values():
                raise UsageError(
                    f"migrate.step({was!r}, to={to!r}): the run has executions of '{to}' too, and two steps "
                    "cannot become one; take the registration back (migrate.forget()), and use --stale rerun"
                )
            found[was] = to
        return found


def _named(what: Any, use: str) -> str:
    if isinstance(what, str) and what:
        return what.replace(":", ".")
    if isinstance(what, type):
        return f"{what.__module__}.{what.__qualname__}"
    raise UsageError(f"register a migration with {use}")


migrate = Migrate()
"""The one of this process: a notebook's cells register with it."""
