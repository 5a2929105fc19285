"""What a result depends on besides its input: code, and simple attributes."""

from .values import attribute_digests, digest_of, is_simple
from .whole import class_code, function_code

__all__ = ["attribute_digests", "class_code", "digest_of", "function_code", "is_simple"]
