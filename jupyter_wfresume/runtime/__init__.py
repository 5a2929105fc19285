"""The write-ahead runtime: one run, driven by this process."""

from __future__ import annotations

from .drive import Drive
from .flights import CURRENT, Flight, Flights, StepInterrupt
from .worker import Workers

__all__ = ["CURRENT", "Drive", "Flight", "Flights", "StepInterrupt", "Workers"]
