"""Why a run that nothing can move does not go on."""

from __future__ import annotations

from collections.abc import Mapping

from ..engine import Gathered, LiveBrokerState, StepInfo, gathered
from . import words
from .unmet import parents_taken


def reasons(
    infos: list[StepInfo], unaccepted: Mapping[type, int], state: LiveBrokerState | None
) -> list[str]:
    """What nobody accepted, and which fan-ins wait for what.

    Args:
        infos: the steps.
        unaccepted: classes of events that no step and no waiter took, counted.
        state: the live state.
    """
    said = [_unaccepted(infos, cls, count) for cls, count in unaccepted.items()]
    return said + [_waits(one) for one in ([] if state is None else gathered(state))]


def _unaccepted(infos: list[StepInfo], cls: type, count: int) -> str:
    takers = parents_taken(infos, cls)
    parent = f", only its parent class `{takers[0][1]}` by `{takers[0][0]}`" if takers else ""
    return f"no step accepts {words.times(count, cls.__name__)}{parent}"


def _waits(one: Gathered) -> str:
    has = ", ".join(words.times(count, name) for name, count in one.has.items())
    if one.wants:
        return f"`{one.step}` has {has} and waits for {' and '.join(f'`{name}`' for name in one.wants)}"
    return f"`{one.step}` has collected {has} and waits for more"
