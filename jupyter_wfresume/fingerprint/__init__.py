"""What a result depends on besides its input: code, and simple attributes."""

from .steps import StepCode, changes, is_mutable, step_codes
from .values import attribute_digests, digest_of, is_simple
from .whole import class_code, function_code

__all__ = [
    "StepCode",
    "attribute_digests",
    "changes",
    "class_code",
    "digest_of",
    "function_code",
    "is_mutable",
    "is_simple",
    "step_codes",
]
