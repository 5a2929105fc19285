"""What is said before a run starts, because it could not end well."""

from __future__ import annotations

import sys

from ..engine import Workflow, event_classes
from ..errors import UsageError


def check_classes(workflow: Workflow) -> None:
    """Refuse a workflow whose event classes were defined again after it.

    Its steps would make events of the new class, and accept the old one: the
    engine then waits for ever.

    Raises:
        UsageError: the sentence names the classes.
    """
    again = sorted(
        qualname
        for (module, qualname), cls in event_classes(workflow).items()
        if isinstance(now := getattr(sys.modules.get(module), qualname, cls), type) and now is not cls
    )
    if again:
        name = type(workflow).__name__
        were = "was" if len(again) == 1 else "were"
        raise UsageError(
            f"{', '.join(again)} {were} defined again after {name}, which still waits for the old one: "
            f"run the cell that defines {name} again, and make it anew"
        )
