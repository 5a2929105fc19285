"""The write-ahead runtime: one run, driven by this process."""

from __future__ import annotations

from .asking import Asked
from .drive import Beginning, Drive
from .flights import CURRENT, Flight, Flights, StepInterrupt, apart
from .hooks import Hooks
from .worker import Workers

__all__ = [
    "CURRENT",
    "Asked",
    "Beginning",
    "Drive",
    "Flight",
    "Flights",
    "Hooks",
    "StepInterrupt",
    "Workers",
    "apart",
]
