"""The code of a workflow's steps, as it is now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..engine import Workflow, own_attributes, step_sources
from ..fingerprint import StepCode, step_codes


@dataclass(frozen=True)
class Codes:
    """Digests of a workflow's code.

    Args:
        steps: each step's code.
    """

    steps: Mapping[str, StepCode]

    @property
    def digests(self) -> dict[str, str]:
        """Digest by step."""
        return {name: code.digest for name, code in self.steps.items()}

    @property
    def parts(self) -> dict[str, Mapping[str, str]]:
        """What each step's code is made of."""
        return {name: code.parts for name, code in self.steps.items()}

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
