"""One recorded execution again, alone; and what differs from what it gave before."""

from __future__ import annotations

from .again import Replayed, replay, replay_sync
from .diff import Difference, as_html, as_text, differences
from .edits import Edit
from .recorded import NotKept, recorded_input, recorded_output, state_before

__all__ = [
    "Difference",
    "Edit",
    "NotKept",
    "Replayed",
    "as_html",
    "as_text",
    "differences",
    "recorded_input",
    "recorded_output",
    "replay",
    "replay_sync",
    "state_before",
]
