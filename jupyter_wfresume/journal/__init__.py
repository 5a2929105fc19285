"""One run's gap-free log, and the way back from it.

Each record is one JSON object. ``k`` is its kind, ``q`` the count of ticks
reduced before it, ``t`` the loop's time in seconds since the epoch:

=====  =====================================================================
``O``  opens a journal: format, engine, start event, state, snapshot of ``ctx=``
``L``  a life begins: when the life before it gave its last sign, workers by step, and what
       migrations did before it: steps' new names, changes of the state
``S``  the engine's session start
``A``  an event from outside the loop: the start event, a send, an answer
``R``  the result of an execution
``F``  the failure that ended a life; not folded, the execution runs again
``W``  a wakeup for a delayed retry
``T``  the time budget was looked at and not used up
``V``  a waiter's timeout
``N``  a tick that changes nothing
``B``  a change of the state made by the body
``E``  a life ends: status, sentence, seconds alive so far, and for a finished run its last snapshot
=====  =====================================================================

What a record says of cost, where there is something to say: in ``R`` and ``F`` the seconds ``d``, the
tokens that calls of language models reported, prompt, completion and total (``tk``), and those of runs that
the execution ran itself (``tb``); where it was answered from another run, what it took there (``ud``,
``ut``). ``E`` has what a stop cut off: executions, seconds, tokens (``cut``).

An execution's input is where its events were written (``in``). The events themselves (``ie``) are there where
a fork's edit was in their place, and beside ``in`` where a migration had made them: another one may come.
"""

from __future__ import annotations

from .blobs import StoreBlobs
from .costs import Tally, cost_for_header, cost_in_header, saved_for_record, tally_of, tokens_in
from .ending import Final, final
from .evidence import Evidence, Inputs, Proof, inputs_of
from .headers import dump as dump_header
from .headers import load as load_header
from .log import FORMAT, Journal, history, with_names
from .questions import Question, Questions
from .restore import overwrite, restore
from .restored import Restored
from .state import LostValue, StateLog, apply_ops, changed_paths, content_at
from .streams import has_replies, streamed
from .ticks import FindClass, Record, TickReader, TickWriter, Unkept

__all__ = [
    "FORMAT",
    "Evidence",
    "Final",
    "FindClass",
    "Inputs",
    "Journal",
    "LostValue",
    "Proof",
    "Question",
    "Questions",
    "Record",
    "Restored",
    "StateLog",
    "StoreBlobs",
    "Tally",
    "TickReader",
    "TickWriter",
    "Unkept",
    "apply_ops",
    "changed_paths",
    "content_at",
    "cost_for_header",
    "cost_in_header",
    "dump_header",
    "final",
    "has_replies",
    "history",
    "inputs_of",
    "load_header",
    "overwrite",
    "restore",
    "saved_for_record",
    "streamed",
    "tally_of",
    "tokens_in",
    "with_names",
]
