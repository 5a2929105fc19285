"""What runs have cost, with the runs that their steps ran."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace

from ..journal import cost_in_header
from ..records import Cost, RunHeader


def with_below(own: Cost, below: Iterable[Cost]) -> Cost:
    """A run's cost with the tokens of runs that its steps ran, whose time is in its own already.

    Args:
        own: what its own records say.
        below: what theirs say.
    """
    tokens = own.tokens
    for one in below:
        tokens += one.tokens
    return replace(own, tokens=tokens)


def costs_of(headers: Iterable[RunHeader]) -> Callable[[RunHeader], Cost]:
    """Says what a run has cost by what headers keep, which may be a second behind for one that was killed.

    Args:
        headers: all of the store.
    """
    children: defaultdict[str, list[RunHeader]] = defaultdict(list)
    for header in headers:
        children[header.parent].append(header)

    def cost(header: RunHeader) -> Cost:
        own = cost_in_header(header.extra.get("cost", {}), header.lives, header.elapsed_s)
        return with_below(own, map(cost, children[header.run_id]))

    return cost
