"""Find the workflow instance that a recorded run needs to be replayed."""

from __future__ import annotations

import sys
import weakref

from ..engine import Workflow
from ..errors import MissingClassError, UsageError

_LAST: weakref.WeakValueDictionary[str, Workflow] = weakref.WeakValueDictionary()
"""The last instance of each class that a session ran, by the class's name."""


def remember(workflow: Workflow) -> None:
    """A session ran this instance."""
    _LAST[type(workflow).__name__] = workflow


def instance_of(class_name: str, given: Workflow | None = None) -> Workflow:
    """A workflow instance of a class.

    Args:
        class_name: the recorded class's name.
        given: one that the caller names.

    Raises:
        MissingClassError: the class is not defined in this kernel.
        UsageError: the class cannot be made without arguments, and no instance is known.
    """
    if given is not None:
        return given
    names = vars(sys.modules["__main__"])
    known = _LAST.get(class_name)
    cls = names.get(class_name)
    if known is not None and (cls is None or type(known) is cls):
        return known
    for value in list(names.values()):
        if isinstance(value, Workflow) and type(value).__name__ == class_name and type(value) is cls:
            return value
    if not (isinstance(cls, type) and issubclass(cls, Workflow)):
        raise MissingClassError("__main__", class_name)
    try:
        made = cls(timeout=None)
    except TypeError as error:
        raise UsageError(
            f"{class_name} cannot be made without arguments ({error}): make one in a cell, "
            "then run this again"
        ) from error
    remember(made)
    return made
