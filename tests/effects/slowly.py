"""Another process that pays order 5, says ``calling`` while it is at it, and ends when it is told."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from tests.effects.shops import Shop, World, live


def answer(key: Any, call: int) -> Any:
    """Wait for a line."""
    print("calling", flush=True)
    return f"theirs {sys.stdin.readline().strip()}"


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1]), World(answer), lambda: Shop(timeout=None).run(orders=[5])))
