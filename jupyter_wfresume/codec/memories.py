"""llama-index's memories: one takes over what another holds, in place."""

from __future__ import annotations

from typing import Any, TypeGuard

from pydantic import BaseModel


def is_memory(value: Any) -> TypeGuard[BaseModel]:
    """Whether it is a conversation's memory of llama-index."""
    return any(
        cls.__name__ == "BaseMemory" and cls.__module__.startswith("llama_index.core.memory")
        for cls in type(value).__mro__
    )


def take_over(mine: BaseModel, theirs: BaseModel) -> None:
    """Let a model hold what another one of its class holds, and its parts likewise.

    Whoever holds the model, or the chat store in it, then sees the new content.

    Args:
        mine: the model that changes.
        theirs: the model whose values it gets.
    """
    values = dict(theirs.__dict__)
    for name, value in values.items():
        own = mine.__dict__.get(name)
        if isinstance(own, BaseModel) and type(own) is type(value) and own is not value:
            take_over(own, value)
            values[name] = own
    # By the way that pydantic itself copies: frozen fields and validators have no say here.
    object.__setattr__(mine, "__dict__", values)
    for name in ("__pydantic_private__", "__pydantic_extra__", "__pydantic_fields_set__"):
        object.__setattr__(mine, name, getattr(theirs, name))
