"""Values to JSON-able trees and back, exact in type and value, with no code in the data."""

from .api import FORMAT, decode, digest, encode, forget, references
from .blobs import Blobs, MemoryBlobs, content_digest
from .core import Node
from .outline import Outline, outline

__all__ = [
    "FORMAT",
    "Blobs",
    "MemoryBlobs",
    "Node",
    "Outline",
    "content_digest",
    "decode",
    "digest",
    "encode",
    "forget",
    "outline",
    "references",
]
