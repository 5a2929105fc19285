"""One process at a time decides what a call does."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from ..errors import LeaseError
from ..store import Store, is_alive, this_process

PATIENCE_S = 10.0
"""How long to wait for another process that decides on the same call, in seconds."""


@contextlib.contextmanager
def deciding(store: Store, call: str) -> Iterator[None]:
    """Let nobody else look for runs of a call until the run it becomes is on disk.

    Two kernels that start the same call at once would otherwise both find no
    run of it, and both pay.

    Args:
        store: the store.
        call: digest of the call.

    Raises:
        LeaseError: another process has been deciding for too long.
    """
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            lease = store.acquire(f"call-{call}", this_process(), now=time.time(), alive=is_alive)
            break
        except LeaseError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
    try:
        yield
    finally:
        store.release(lease)
