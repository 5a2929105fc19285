"""What tells one call of a workflow from another."""

from __future__ import annotations

import weakref
from typing import Any

from ..codec import digest
from ..engine import (
    Context,
    DictState,
    StartEvent,
    StateModel,
    Workflow,
    default_state,
    own_attributes,
    snapshot_of,
    state_of,
)
from ..errors import CannotKeepError
from ..fingerprint import attribute_digests, digest_of, value_digest

_TIMES = (
    "elapsed_alive",
    "last_alive_stamp",
    "journal_seq",
    "stream_seq",
    "work_item_seq",
    "invocation_seq",
    "state",
)


class Attributes:
    """The simple attributes of instances, as they were before runs changed them.

    A step may count on ``self``. That is no change by the user, so a value
    that stands as the last run left it counts as what it was before that run.
    """

    def __init__(self) -> None:
        self._seen: dict[int, tuple[weakref.ref[Workflow], dict[str, str], dict[str, str]]] = {}

    def before(self, workflow: Workflow) -> dict[str, str]:
        """Digests of the attributes that count for a run that begins now."""
        now = attribute_digests(own_attributes(workflow))
        found = self._seen.get(id(workflow))
        if found is None or found[0]() is not workflow:
            self._put(workflow, now, now)
            return now
        _, counted, left = found
        # What the run itself made, and nobody has touched since, is not the user's.
        kept = {name for name, value in now.items() if left.get(name) == value}
        result = {
            name: counted[name] if name in kept else value
            for name, value in now.items()
            if name not in kept or name in counted
        }
        self._put(workflow, result, now)
        return result

    def after(self, workflow: Workflow) -> None:
        """A run of the instance has ended."""
        found = self._seen.get(id(workflow))
        if found is not None and found[0]() is workflow:
            self._put(workflow, found[1], attribute_digests(own_attributes(workflow)))

    def _put(self, workflow: Workflow, counted: dict[str, str], left: dict[str, str]) -> None:
        key = id(workflow)

        def forget(ref: weakref.ref[Workflow], key: int = key) -> None:
            found = self._seen.get(key)
            if found is not None and found[0] is ref:
                del self._seen[key]

        self._seen[key] = (weakref.ref(workflow, forget), counted, left)


ATTRIBUTES = Attributes()
"""Of all instances in this process: an instance outlives the cell that ran it."""


def call_digest(
    workflow: Workflow, ctx: Context[Any], start_event: StartEvent | None, attributes: dict[str, str]
) -> str:
    """Digest of a call, without its place in the cell.

    Args:
        workflow: the instance.
        ctx: the context passed, or the new one made for the call.
        start_event: the start event, or None for a snapshot that goes on.
        attributes: digests of the instance's simple attributes.
    """
    parts = [type(workflow).__name__]
    for name, value in sorted(attributes.items()):
        parts += [name, value]
    parts.append("" if start_event is None else _content(start_event))
    snapshot = snapshot_of(ctx)
    model = state_of(ctx)
    parts.append("" if model is None else _passed(workflow, model))
    if snapshot is not None and start_event is None:
        parts.append(digest({k: v for k, v in snapshot.items() if k not in _TIMES}, opaque=True))
    return digest_of(*parts)


def _passed(workflow: Workflow, model: StateModel) -> str:
    """Digest of a state; one that a run begins with anyway tells nothing, whatever its class declares."""
    content = _content(model)
    return _content(DictState()) if content == _content(default_state(workflow)) else content


def _content(model: StateModel | StartEvent) -> str:
    """Digest of an event or a state; what the codec cannot keep still tells calls apart."""
    try:
        return digest(model)
    except CannotKeepError:
        held = {**vars(model), **(model.__pydantic_private__ or {})}
        fields = held.get("_data")
        if isinstance(fields, dict):  # dynamic fields, which were given in any order
            held["_data"] = {name: fields[name] for name in sorted(fields, key=str)}
        return digest_of(type(model).__name__, value_digest(held))
