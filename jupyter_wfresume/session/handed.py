"""What a body hands to a run and goes on with: the memory of a conversation."""

from __future__ import annotations

from ..codec import is_memory, take_over
from ..engine import StartEvent, StateModel, state_fields

MEMORY = "memory"
"""The argument of an agent's ``run``, and the key of the state where the agent keeps it."""


def hand_back(start: StartEvent | None, model: StateModel) -> None:
    """Let the memory that the body passed hold what the run put into it.

    Where the run's own steps have filled it nothing is left to do. A run that is recorded, resumed or reused
    has filled another one, from its record.

    Args:
        start: the start event as the body made it, or None.
        model: the run's state.
    """
    given, found = getattr(start, MEMORY, None), state_fields(model).get(MEMORY)
    if is_memory(given) and is_memory(found) and type(found) is type(given) and found is not given:
        take_over(given, found)
