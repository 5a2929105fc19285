"""The code of a workflow's steps, as it is now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..engine import Workflow, free_steps, step_sources
from ..fingerprint import class_code


@dataclass(frozen=True)
class StepCode:
    digest: str
    parts: Mapping[str, str]


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

    def written(self) -> dict[str, list[object]]:
        """What a life's record holds of it: digest and parts by step."""
        return {name: [code.digest, dict(code.parts)] for name, code in self.steps.items()}


def codes_of(workflow: Workflow) -> Codes:
    """The code of each step of a workflow instance.

    Args:
        workflow: the instance; its simple attributes count where a step uses them.
    """
    whole = class_code(type(workflow), free_steps(workflow))
    return Codes({name: StepCode(whole, {"the class": whole}) for name in step_sources(workflow)})
