"""``python -m tests.bench``: each figure beside its bound; ends with 1 where a bound is missed.

``python -m tests.bench quick`` leaves out the plain engine, whose cost grows
with the square of the items (about a minute at 3,000).
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from jupyter_wfresume.session import list_runs, open_store

from .flows import Fan, answered_run, durable_run

STEPS = 3_000


def timed(n: int, folder: Path, *, board: bool = False) -> float:
    """Seconds of one durable run of ``n`` items."""
    began = time.perf_counter()
    joined = asyncio.run(durable_run(folder / f"store-{n}-{board}", n, board=board))
    took = time.perf_counter() - began
    if joined != n:
        raise SystemExit(f"joined {joined} of {n}")
    return took


def plain(n: int) -> float:
    """Seconds of the plain engine for ``n`` items."""

    async def run() -> None:
        await Fan(timeout=None).run(n=n)

    began = time.perf_counter()
    asyncio.run(run())
    return time.perf_counter() - began


def bytes_on_disk(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


DRIVER = """
import asyncio, os, signal, sys, time
from pathlib import Path
from tests.bench.flows import Fan, durable_run
store, mode = Path(sys.argv[1]), sys.argv[2]
began = time.perf_counter()
def on_item(i):
    if mode == "die" and i == 6000:
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "resume":
        print(time.perf_counter() - began, flush=True)
        os._exit(0)
Fan.on_item = staticmethod(on_item)
asyncio.run(durable_run(store, 10000))
"""


def resume_s(folder: Path) -> float:
    """Seconds from the call to the first new item, 6,000 of 10,000 being finished."""
    store = str(folder / "resumed")
    subprocess.run([sys.executable, "-c", DRIVER, store, "die"], check=False)
    resumed = subprocess.run(
        [sys.executable, "-c", DRIVER, store, "resume"], check=True, capture_output=True, text=True
    )
    return float(resumed.stdout.split()[-1])


def listing_s(folder: Path) -> float:
    """Seconds to open a store with 1,000 runs and list them."""
    path = folder / "many"
    asyncio.run(durable_run(path, 5))
    with open_store(str(path)) as store:
        _, data = store.runs()[0]
        header = json.loads(data)
        for number in range(1000):
            run_id = f"{number:032x}"
            store.put_run(run_id, json.dumps({**header, "run_id": run_id}).encode())
    began = time.perf_counter()
    with open_store(str(path)) as store:
        found = list_runs(store)
    took = time.perf_counter() - began
    if len(found) != 1001:
        raise SystemExit(f"listed {len(found)} of 1,001")
    return took


class Table:
    """Figures beside their bounds."""

    def __init__(self) -> None:
        self.missed = 0

    def row(self, what: str, figure: float, bound: float, unit: str) -> None:
        """Print one figure; at most ``bound`` is right."""
        kept = figure <= bound
        self.missed += not kept
        print(
            f"{what:<66} {figure:>9.3g} {unit:<9} at most {bound:g} {'' if kept else '  MISSED'}", flush=True
        )


def main() -> int:
    """Measure everything."""
    table = Table()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        timed(200, folder)
        small, middle, large = timed(1000, folder), timed(STEPS, folder), timed(10000, folder)
        table.row("10,000 items against 1,000 (a ratio)", large / small, 12.0, "times")
        table.row(f"{STEPS:,} items, journal on, an item", middle / STEPS * 1000, 1.0, "ms")
        size = bytes_on_disk(folder / "store-10000-False")
        table.row("10,000 items, bytes on disk an item, payloads included", size / 10000, 600.0, "B")
        table.row("first new item, 6,000 of 10,000 finished", resume_s(folder), 5.0, "s")
        plan_s, answers_s = asyncio.run(answered_run(folder / "store-10000-False", 10000))
        table.row("plan of a run that 10,000 recorded executions answer", plan_s, 2.0, "s")
        table.row("the same, an execution that is answered", answers_s / 10000 * 1000, 1.0, "ms")
        table.row("open a store with 1,000 runs and list them", listing_s(folder), 0.3, "s")
        with_board = min(timed(STEPS, folder / str(i), board=True) for i in range(2))
        table.row("a run with a board against one without (a ratio)", with_board / middle, 1.1, "times")
        if "quick" not in sys.argv:
            took = plain(STEPS)
            table.row(f"{STEPS:,} items against the plain engine (a ratio)", middle / took, 0.1, "times")
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
