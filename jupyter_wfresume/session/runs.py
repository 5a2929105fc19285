"""Runs in a store, from outside a cell."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import DamagedError, UsageError
from ..journal import load_header
from ..records import Lease, RunHeader, Status
from ..store import Store, is_alive
from . import words

STORE_VARIABLE = "JUPYTER_WFRESUME_STORE"
DEFAULT_STORE = ".wfresume"


def store_path(path: str | None) -> Path:
    """Where the store is: as given, by the environment, or in the working folder."""
    return Path(path or os.environ.get(STORE_VARIABLE) or DEFAULT_STORE).expanduser()


def open_store(path: str | None = None, *, create: bool = True) -> Store:
    """Open the store.

    Args:
        path: its folder; None asks ``JUPYTER_WFRESUME_STORE``, then ``.wfresume`` here.
        create: make it where there is none.

    Raises:
        StoreError: it cannot be opened.
    """
    return Store.open(store_path(path), create=create)


def headers_of(rows: Sequence[tuple[str, bytes]], store: Store) -> list[RunHeader]:
    """Headers, newest first, with the status they have now.

    Args:
        rows: run ids and header bytes.
        store: asked whether a running run's process lives.
    """
    headers: list[RunHeader] = []
    for _, data in rows:
        try:
            headers.append(load_header(data))
        except DamagedError:
            # One damaged header must not hide the other runs; the store tells of it.
            continue
    roots = {header.run_id: header for header in headers}
    return sorted((with_status(h, store, roots) for h in headers), key=lambda h: h.created, reverse=True)


def with_status(header: RunHeader, store: Store, roots: dict[str, RunHeader]) -> RunHeader:
    """The header, with ``paused`` for a run whose process died."""
    if header.status not in ("running", "waiting", "stuck"):
        return header
    root = header
    while root.parent and root.parent in roots:
        root = roots[root.parent]
    lease = store.lease_of(root.run_id)
    if lease is None or is_alive(lease.owner) is False:
        return header if header.status != "running" else replace(header, extra={**header.extra, "died": True})
    return header


class Run:
    """One recorded run.

    Args:
        store: where it is.
        header: its header.
    """

    def __init__(self, store: Store, header: RunHeader) -> None:
        self.store = store
        self.header = header

    @property
    def id(self) -> str:
        """The run's id."""
        return self.header.run_id

    @property
    def name(self) -> str:
        """NAME."""
        return self.header.name

    @property
    def status(self) -> Status:
        """One of the contract's words."""
        return "paused" if self.header.extra.get("died") else self.header.status

    @property
    def driver(self) -> Lease | None:
        """Who drives it now."""
        return self.store.lease_of(self.header.run_id)

    @property
    def size_bytes(self) -> int:
        """Bytes of the run's records, without large values that runs may share."""
        return self.store.size_bytes(self.header.run_id)

    @property
    def cell(self) -> str:
        """The source of the cell that ran it."""
        return self.header.cell

    def __repr__(self) -> str:
        return f"<Run {words.short(self.id)} {self.name} {self.status} {words.counted(self.header.steps)}>"


def list_runs(store: Store, name: str | None = None, *, nested: bool = False) -> list[Run]:
    """The runs of a store, newest first.

    Args:
        store: the store.
        name: only this name.
        nested: runs that steps ran too.
    """
    return [
        Run(store, header)
        for header in headers_of(store.runs(), store)
        if (name is None or header.name == name) and (nested or not header.parent)
    ]


def open_run(run: str, store: Store | str | None = None) -> Run:
    """One run, by its name (the latest), its id, or a unique beginning of its id.

    Args:
        run: name or id.
        store: the store, or its folder.

    Raises:
        UsageError: there is none, or several begin so.
    """
    opened = store if isinstance(store, Store) else open_store(store, create=False)
    everything = list_runs(opened, nested=True)
    for one in everything:
        if one.name == run and not one.header.parent and one.header.extra.get("fork") is None:
            return one
    found = [one for one in everything if one.id.startswith(run)] if run else []
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{len(found)} runs begin with '{run}': {', '.join(one.id[:8] for one in found[:5])}")
    names = sorted({one.name for one in everything})
    known = f"; known names: {', '.join(names[:8])}" if names else "; the store holds no runs"
    raise UsageError(f"no run '{run}' in {opened.path.name}{known}")
