"""Values to JSON-able trees and back, exact in type and value, with no code in the data."""

from .api import FORMAT, decode, digest, encode, forget, references
from .blobs import Blobs, MemoryBlobs, content_digest
from .core import Node
from .migrating import Migrating, Migration, call_migration, fault_of, fitted
from .outline import Outline, outline

__all__ = [
    "FORMAT",
    "Blobs",
    "MemoryBlobs",
    "Migrating",
    "Migration",
    "Node",
    "Outline",
    "call_migration",
    "content_digest",
    "decode",
    "digest",
    "encode",
    "fault_of",
    "fitted",
    "forget",
    "outline",
    "references",
]
