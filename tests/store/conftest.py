"""Fixtures of the store's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_wfresume.records import Lease
from jupyter_wfresume.store import Store
from tests.store.helpers import fill


@pytest.fixture
def store(store_dir: Path) -> Iterator[Store]:
    """Return an open store that waits shortly for locks."""
    with Store.open(store_dir, timeout_s=0.2) as opened:
        yield opened


@pytest.fixture
def lease(store: Store) -> Lease:
    """Return the lease of the one run in the store."""
    return fill(store)
