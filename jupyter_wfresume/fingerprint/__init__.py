"""What a result depends on besides its input: code, and simple attributes."""

from .given import value_digest
from .steps import StepCode, by_type_only, changes, is_mutable, step_codes
from .values import attribute_digests, digest_of, is_simple

__all__ = [
    "StepCode",
    "attribute_digests",
    "by_type_only",
    "changes",
    "digest_of",
    "is_mutable",
    "is_simple",
    "step_codes",
    "value_digest",
]
