"""The code of a workflow's steps, as it is now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..engine import Workflow, own_attributes, step_sources
from ..fingerprint import StepCode, digest_of, is_mutable, step_codes
from ..records import RunHeader

Moved = Mapping[str, Sequence[str]]
"""By step, parts of its code that a run itself has changed: a list of log lines, a cache."""


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

    def moved_since(self, before: Codes) -> dict[str, list[str]]:
        """By step, values that changed between two looks with no edit in between."""
        found: dict[str, list[str]] = {}
        for name, code in before.steps.items():
            now = self.steps[name].parts if name in self.steps else {}
            parts = [p for p, value in code.parts.items() if is_mutable(p) and now.get(p) != value]
            # A part's name holds its type, so a value that got another type is a part that is gone.
            if parts:
                found[name] = parts
        return found

    def with_moved(self, found: Moved) -> tuple[dict[str, list[str]], Codes]:
        """What is known to move with ``found`` added, and the code without it."""
        moved = {step: sorted({*self.moved.get(step, ()), *parts}) for step, parts in found.items()}
        return moved, self.without({**self.moved, **moved})

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
        )
    )


def effective(step: str, parts: Mapping[str, str], moved: Moved) -> str:
    """Digest of a step's code without the parts that runs themselves change.

    Args:
        step: the step.
        parts: what its code is made of.
        moved: by step, parts to leave out.
    """
    left_out = set(moved.get(step, ()))
    return digest_of(*(text for part in sorted(parts.items()) if part[0] not in left_out for text in part))


def moved_by(headers: Iterable[RunHeader]) -> dict[str, list[str]]:
    """What runs are known to have changed themselves, by step."""
    found: dict[str, set[str]] = {}
    for header in headers:
        for step, parts in header.extra.get("moved", {}).items():
            found.setdefault(step, set()).update(parts)
    return {step: sorted(parts) for step, parts in found.items()}
