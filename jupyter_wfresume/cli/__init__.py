"""``jupyter wfresume``: the same store, without a notebook open."""

from __future__ import annotations

from .commands import main

__all__ = ["main"]
