"""The code of a workflow's steps, as it is now."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..engine import Workflow, own_attributes, step_sources
from ..fingerprint import StepCode, digest_of, is_mutable, step_codes
from ..journal import Record
from ..projection import finishes
from ..records import RunHeader

Values = Mapping[str, Sequence[Sequence[str]]]
"""Parts of a step's code with what runs found and left there, as digests.

Values that runs turned into one another stand together, and count as the first of them: a list of
log lines that has grown is the list it was. Values that somebody else put there stand apart.
"""

Moved = Mapping[str, Mapping[str, Values]]
"""Parts of a step's code that a run itself has changed: a list of log lines, a cache.

By step, and by digest of the step's code without them: code that was edited since may no longer
change them, and then they count.
"""

ABSENT = ""
"""Stands for a part that is not there: an attribute that a run makes, or a value whose type it changes."""

VALUES_KEPT = 20
"""Values of a moving part that are remembered: the first, and the last of the others."""


@dataclass(frozen=True)
class Codes:
    """Digests of a workflow's code.

    Args:
        steps: each step's code; the digests leave out what ``moved`` names.
        moved: by step, parts that runs themselves change.
    """

    steps: Mapping[str, StepCode]
    moved: Moved = field(default_factory=dict)

    @property
    def digests(self) -> dict[str, str]:
        """Digest by step."""
        return {name: code.digest for name, code in self.steps.items()}

    @property
    def parts(self) -> dict[str, Mapping[str, str]]:
        """What each step's code is made of."""
        return {name: code.parts for name, code in self.steps.items()}

    def without(self, moved: Moved) -> Codes:
        """The same, with parts that runs themselves change left out."""
        return Codes(
            {
                name: replace(code, digest=effective(name, code.parts, moved))
                for name, code in self.steps.items()
            },
            moved,
        )

    def moved_since(self, before: Codes) -> dict[str, dict[str, list[list[str]]]]:
        """By step, values that changed between two looks with no edit in between: both of each."""
        found: dict[str, dict[str, list[list[str]]]] = {}
        for name, code in before.steps.items():
            now = self.steps[name].parts if name in self.steps else {}
            # A part's name holds its type, so a value that got another type is another part.
            either = {**code.parts, **now}
            parts = {
                part: [[looked.get(part, ABSENT) for looked in (code.parts, now)]]
                for part in either
                if is_mutable(part) and now.get(part) != code.parts.get(part)
            }
            if parts:
                found[name] = parts
        return found

    def with_moved(self, found: Mapping[str, Values]) -> tuple[Moved, Codes]:
        """What is known to move with ``found`` added, by step; and the code without it."""
        moved: dict[str, dict[str, Values]] = {}
        for step, parts in found.items():
            of = self.steps[step].parts
            values = _merged(_known(step, of, self.moved), parts)
            moved[step] = {_digest(of, values): values}
        known = {step: {**self.moved.get(step, {}), **more} for step, more in moved.items()}
        return moved, self.without({**self.moved, **known})

    def versions(self, records: Sequence[Record], value: Callable[[Any], Any]) -> dict[str, dict[str, int]]:
        """By step, how many executions of a run are finished with which code.

        Args:
            records: the run's.
            value: makes values of their nodes.
        """
        found: dict[str, Counter[str]] = defaultdict(Counter)
        counted: set[tuple[str, int]] = set()
        life: Mapping[str, str] = {}
        for record in records:
            if record["k"] == "L" and "code" in record:
                life = self.of_life(value(record["code"]))
            elif finishes(record) and (record["s"], record["i"]) not in counted:
                counted.add((record["s"], record["i"]))
                found[record["s"]][record.get("uc", life.get(record["s"], ""))] += 1
        return {step: dict(counts) for step, counts in found.items()}

    def of_life(self, written: Mapping[str, Sequence[Any]]) -> dict[str, str]:
        """Digest by step of a life's code, of what its record holds of it."""
        return {step: effective(step, parts, self.moved) for step, (_, parts) in written.items()}

    def written(self) -> dict[str, list[object]]:
        """What a life's record holds of it: digest and parts by step."""
        return {name: [code.digest, dict(code.parts)] for name, code in self.steps.items()}


def codes_of(workflow: Workflow) -> Codes:
    """The code of each step of a workflow instance.

    Args:
        workflow: the instance; its simple attributes count where a step uses them.
    """
    sources = step_sources(workflow)
    return Codes(
        step_codes(
            {name: source.function for name, source in sources.items()},
            owner=type(workflow),
            instance_attributes=own_attributes(workflow),
            resources={name: source.resources for name, source in sources.items()},
            events={name: source.events for name, source in sources.items()},
            states={name: source.states for name, source in sources.items()},
        )
    )


def effective(step: str, parts: Mapping[str, str], moved: Moved) -> str:
    """Digest of a step's code without the parts that runs themselves change.

    Args:
        step: the step.
        parts: what its code is made of.
        moved: by step, parts to leave out.
    """
    standing = dict(parts)
    for part, groups in _known(step, parts, moved).items():
        value = standing.pop(part, ABSENT)
        group = next((g for g in groups if value in g), [value])
        if group[0] != ABSENT:
            standing[part] = group[0]
    return _digest(standing, ())


def _known(step: str, parts: Mapping[str, str], moved: Moved) -> Values:
    """What moves of this code, the most that is known."""
    for digest, values in sorted(moved.get(step, {}).items(), key=lambda one: -len(one[1])):
        if _digest(parts, values) == digest:
            return values
    return {}


def _merged(known: Values, more: Values) -> dict[str, list[list[str]]]:
    merged = {part: [list(group) for group in groups] for part, groups in known.items()}
    for part, groups in more.items():
        of = merged.setdefault(part, [])
        for group in groups:
            same = next((g for g in of if not set(g).isdisjoint(group)), None)
            if same is None:
                of.append(list(group))
            else:
                same += [value for value in group if value not in same]
                del same[1:-VALUES_KEPT]
    return merged


def _digest(parts: Mapping[str, str], left_out: Collection[str]) -> str:
    return digest_of(*(text for part in sorted(parts.items()) if part[0] not in left_out for text in part))


def moved_by(headers: Iterable[RunHeader]) -> Moved:
    """What runs are known to have changed themselves."""
    found: defaultdict[str, dict[str, Values]] = defaultdict(dict)
    for header in sorted(headers, key=lambda one: one.created):
        for step, known in header.extra.get("moved", {}).items():
            for digest, values in known.items():
                found[step][digest] = _merged(found[step].get(digest, {}), values)
    return dict(found)
