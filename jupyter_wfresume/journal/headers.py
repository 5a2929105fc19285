"""Run headers to bytes and back."""

from __future__ import annotations

import dataclasses
import json
from functools import lru_cache
from typing import Any

from ..errors import DamagedError
from ..records import ErrorView, FailureView, FieldView, QuestionView, RunHeader, StepView


def dump(header: RunHeader) -> bytes:
    """A header as JSON bytes."""
    return json.dumps(dataclasses.asdict(header), separators=(",", ":")).encode()


@lru_cache(maxsize=4096)  # a step that runs a thousand workflows looks at all headers a thousand times
def load(data: bytes) -> RunHeader:
    """A header from JSON bytes; members of later versions are kept in ``extra``.

    Raises:
        DamagedError: it is no header.
    """
    try:
        raw: dict[str, Any] = json.loads(data)
        known = {f.name for f in dataclasses.fields(RunHeader)}
        extra = {**raw.get("extra", {}), **{k: v for k, v in raw.items() if k not in known}}
        values = {k: v for k, v in raw.items() if k in known}
        values["extra"] = extra
        values["notes"] = tuple(raw.get("notes", ()))
        values["steps"] = tuple(StepView(**step) for step in raw.get("steps", ()))
        values["questions"] = tuple(_question(one) for one in raw.get("questions", ()))
        values["failures"] = tuple(_failure(one) for one in raw.get("failures", ()))
        error = raw.get("error")
        values["error"] = None if error is None else _error(error)
        return RunHeader(**values)
    except (ValueError, TypeError, AttributeError) as error:
        raise DamagedError(f"a run's header cannot be read: {error}") from error


def _question(raw: dict[str, Any]) -> QuestionView:
    fields = tuple(FieldView(**{**one, "choices": tuple(one["choices"])}) for one in raw.get("fields", ()))
    return QuestionView(**{**raw, "fields": fields, "decided": tuple(raw.get("decided", ()))})


def _failure(raw: dict[str, Any]) -> FailureView:
    return FailureView(tuple(_error(one) for one in raw["errors"]), raw["count"], raw.get("kind", ""))


def _error(raw: dict[str, Any]) -> ErrorView:
    return ErrorView(**{**raw, "unclear": tuple(raw.get("unclear", ()))})
