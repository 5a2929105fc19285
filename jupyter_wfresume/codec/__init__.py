"""Values to JSON-able trees and back, exact in type and value, with no code in the data."""

from .api import FORMAT, decode, digest, encode, forget, references
from .blobs import Blobs, MemoryBlobs, content_digest
from .core import Node
from .fitting import fault, fault_of, faults_inside, names_fault
from .memories import is_memory, take_over
from .migrating import Migrating, Migration, call_migration, fitted, missing_names, unknown_names
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
    "fault",
    "fault_of",
    "faults_inside",
    "fitted",
    "forget",
    "is_memory",
    "missing_names",
    "names_fault",
    "outline",
    "references",
    "take_over",
    "unknown_names",
]
