"""The fingerprint is taken at each run, so it costs little."""

from __future__ import annotations

import time

from jupyter_wfresume.fingerprint import sources
from tests.fingerprint.cells import IMPORTS, codes, notebook

STEPS, HELPERS = 10, 30


def cells() -> list[str]:
    """A workflow of ten steps and thirty helpers of six lines, each in a cell of its own."""
    found = [IMPORTS, "PROMPT = 'Number {n}'"]
    for n in range(HELPERS):
        after = f"helper{n + 1}" if n + 1 < HELPERS else "len"
        lines = [
            "    words = [word.strip() for word in str(x).split() if word]",
            f"    if len(words) > {n}:",
            f"        words = sorted(words, key=len)[:{n}]",
            f"    x = ', '.join(words) + PROMPT.format(n={n})",
        ]
        found.append(f"def helper{n}(x):\n{chr(10).join(lines)}\n    return {after}(x)\n")
    names = [f"E{n}" for n in range(STEPS)]
    found += [f"class {name}(Event):\n    n: int = 0\n" for name in names[1:]]
    steps = []
    for n in range(STEPS):
        takes = names[n] if n else "StartEvent"
        gives = names[n + 1] if n + 1 < STEPS else "StopEvent"
        steps.append(
            f"    @step\n    async def step{n}(self, ev: {takes}) -> {gives}:\n"
            f"        return {gives}(n=helper{n * 3}(1))\n"
        )
    found.append("class Flow(Workflow):\n" + "\n".join(steps))
    return found


def test_ten_steps_and_thirty_helpers_take_few_milliseconds() -> None:
    """Read for the first time and read again: the quickest of five stays under what a person notices."""
    space = notebook(*cells())
    flow = space.Flow()
    first, again = [], []
    for _ in range(5):
        sources._text.cache_clear()
        for times in (first, again):
            start = time.perf_counter()
            found = codes(space, flow)
            times.append(time.perf_counter() - start)
    assert len(found) == STEPS
    assert len(found["step0"].parts) > HELPERS
    print(f"first {min(first) * 1000:.1f} ms, again {min(again) * 1000:.1f} ms")
    # Measured 15 ms and 3 ms; the bound leaves room for a slow and busy machine.
    assert min(first) < 0.2
    assert min(again) < 0.05
