"""Docstrings and annotations where they are data: what a model is told of a tool, what a schema says."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from .values import peek

TOLD = "told"
"""The code hands functions and classes on as tools or schemas: what their docstrings say reaches a model."""
ASKED = "asked"
"""The code asks something for its docstring that is known at run time only: any may be meant."""

DOC = "__doc__"
TELLERS = frozenset(
    {
        "AgentWorkflow", "CodeActAgent", "FunctionAgent", "FunctionTool", "ReActAgent", "StructuredTool",
        "TypeAdapter", "bind_tools", "get_type_hints", "inspect.signature", "model_json_schema",
        "__annotations__",
    }
)  # fmt: skip
"""Names of what makes tools and schemas of functions and classes."""

_TOOLS = ("BaseTool", "AsyncBaseTool")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def said_by(function: FunctionType) -> list[str]:
    """A function's docstring and annotations; empty where it has none."""
    said = [inspect.cleandoc(function.__doc__)] if function.__doc__ else []
    for name, kind in function.__annotations__.items():
        text = kind if isinstance(kind, str) else inspect.formatannotation(kind)
        said.append(f"{name}: {_ADDRESS.sub('', text)}")
    return said


def docstring_of(value: Any) -> str:
    """The docstring of a function, a class or a module, as code sees it; empty where there is none."""
    doc = peek(value, DOC)
    return inspect.cleandoc(doc) if isinstance(doc, str) else ""


def tool_says(value: Any) -> dict[str, Any] | None:
    """What a model is told of a tool of llama-index's: name, description and schema; None for others."""
    if not any(
        base.__name__ in _TOOLS and base.__module__.startswith("llama_index.") for base in type(value).__mro__
    ):
        return None
    metadata = peek(value, "metadata")
    said = {name: peek(metadata, name) for name in ("name", "description", "return_direct")}
    if not isinstance(said["name"], str):
        return None
    try:
        schema = metadata.get_parameters_dict()
    except Exception:  # noqa: BLE001  # a schema that cannot be made raises when the tool is used, too
        schema = None
    return {**said, "schema": schema if isinstance(schema, Mapping) else None}
