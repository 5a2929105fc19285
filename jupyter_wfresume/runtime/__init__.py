"""The write-ahead runtime: one run, driven by this process."""

from __future__ import annotations

from .asking import SETTLED, Asked
from .blocking import CALL_S
from .drive import Beginning, Drive
from .flights import CURRENT, Flight, Flights, StepInterrupt, apart, spent
from .hooks import Hooks
from .recorder import as_written
from .worker import Workers

__all__ = [
    "CALL_S",
    "CURRENT",
    "SETTLED",
    "Asked",
    "Beginning",
    "Drive",
    "Flight",
    "Flights",
    "Hooks",
    "StepInterrupt",
    "Workers",
    "apart",
    "as_written",
    "spent",
]
