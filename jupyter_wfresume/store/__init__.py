"""Bytes by key in one folder: runs, journals, values and leases."""

from .owner import is_alive, this_process
from .reading import JournalRead
from .rescue import Rescued, rescue
from .store import Store

__all__ = ["JournalRead", "Rescued", "Store", "is_alive", "rescue", "this_process"]
