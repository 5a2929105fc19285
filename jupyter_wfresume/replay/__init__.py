"""One recorded execution again, alone; and what differs from what it gave before."""

from __future__ import annotations

from .again import Replayed, Replays, edited_input, replay, replay_sync
from .diff import Difference, as_html, as_text, differences
from .edits import Edit
from .outcome import NotKept
from .pretty import brief, pretty
from .recorded import find as recorded_at
from .recorded import recorded_input, recorded_output, state_before
from .several import Pair, choose, compare_runs

__all__ = [
    "Difference",
    "Edit",
    "NotKept",
    "Pair",
    "Replayed",
    "Replays",
    "as_html",
    "as_text",
    "brief",
    "choose",
    "compare_runs",
    "differences",
    "edited_input",
    "pretty",
    "recorded_at",
    "recorded_input",
    "recorded_output",
    "replay",
    "replay_sync",
    "state_before",
]
