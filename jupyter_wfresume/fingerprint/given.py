"""A value that the codec cannot keep, compared all the same: a plain object's settings, a lambda's code."""

from __future__ import annotations

from typing import Any

from .graph import Node, parts_of
from .values import digest_of
from .walk import Walk


def value_digest(value: Any) -> str:
    """Digest of what a value holds, as far as that can be compared; the rest counts by its type.

    Code that the value names counts too. Secrets do not, and are not read.

    Args:
        value: of any kind.
    """
    walk = Walk(type(value), frozenset(), {})
    node = Node("attribute", "value")
    node.text.append(walk.describe(node, "value", value))
    walk.finish()
    parts, _ = parts_of([("value", node)], {})
    return digest_of(*(text for part in sorted(parts.items()) for text in part))
