"""Look ahead over very many recorded executions, by digests alone.

The engine's own reducer, which the other look ahead drives, takes a quarter of a millisecond an
execution. Workflows of a plain shape need none of what it keeps: each event goes to the steps that
accept its class, and one fan-in gets what one fan-out came to.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

from ..codec import digest
from ..engine import StartEvent, StepInfo
from ..errors import CannotKeepError, JournalError, StoreError
from ..journal import Proof, TickReader
from .match import OTHER_STATE, Matcher, Runs, Taken

Seen = Callable[[str, "Proof | Runs"], None]
"""Told of each execution, by step: what answers it, or why it runs."""


class _NotPlain(Exception):
    """The workflow needs the engine's own reducer."""


class _Wide:
    def __init__(self, infos: list[StepInfo], matcher: Matcher, taken: Taken, reader: TickReader) -> None:
        self._infos = infos
        self._joins = any(info.joins for info in infos)
        self._matcher = matcher
        self._taken = taken
        self._reader = reader
        self._classes: dict[str, type] = {}
        self._queue: deque[tuple[type, str, str | None]] = deque()
        self._gathered: defaultdict[str, list[str]] = defaultdict(list)
        self._fanned_out = False
        self.found: list[tuple[str, Proof | Runs]] = []

    def look(self, start: StartEvent) -> None:
        self._queue.append((type(start), digest(start), None))
        while self._queue:
            self._route(*self._queue.popleft())
            if not self._queue and not any(isinstance(one, Runs) for _, one in self.found):
                gathered, self._gathered = self._gathered, defaultdict(list)
                for step, inputs in gathered.items():
                    self._one(step, tuple(sorted(inputs)))

    def _route(self, cls: type, one: str, target: str | None) -> None:
        for info in self._infos:
            if cls in info.accepts and target in (None, info.name):
                if info.joins:
                    self._gathered[info.name].append(one)
                else:
                    self._one(info.name, (one,))

    def _one(self, step: str, inputs: tuple[str, ...]) -> None:
        outcome = self._matcher.find(step, inputs, lambda path: None, self._taken)
        self.found.append((step, outcome))
        if isinstance(outcome, Runs):
            if outcome.reason == OTHER_STATE:
                raise _NotPlain
            return
        record = outcome.record
        if record.keys() & {"rd", "st", "wr"} or ("n" in record and self._joins):
            raise _NotPlain
        made = [(index, item[1], None) for index, item in enumerate(record["r"]) if item[1] is not None]
        if len(made) > 1 or any(len(item) > 2 for item in record["r"]):
            if self._fanned_out:
                raise _NotPlain
            self._fanned_out = True
        made += [(-1 - send[0], send[1], send[2]) for send in record.get("n", ())]
        for index, node, target in made:
            known = outcome.made(index)
            if known is None:
                raise _NotPlain
            self._queue.append((self._class_of(node), known, target))

    def _class_of(self, node: Any) -> type:
        key = json.dumps(node.get("c"))
        if key not in self._classes:
            self._classes[key] = type(self._reader.event(node))
        return self._classes[key]


def look_wide(
    infos: list[StepInfo], start: StartEvent, matcher: Matcher, taken: Taken, reader: TickReader
) -> list[tuple[str, Proof | Runs]] | None:
    """The executions of a run as far as they are known, each with what answers it or why it runs.

    Args:
        infos: the steps.
        start: the call's start event.
        matcher: finds recorded executions.
        taken: those that have answered already; those that are found are added.
        reader: makes values of nodes.

    Returns:
        Nothing where the workflow is not of a plain shape.
    """
    if not all(info.simple for info in infos):
        return None
    wide = _Wide(infos, matcher, taken, reader)
    try:
        wide.look(start)
    except (_NotPlain, CannotKeepError, JournalError, StoreError):
        return None
    return wide.found
