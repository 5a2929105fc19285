"""Workflows that hypothesis makes up resume at every prefix of their writes."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.engine.generated import EVERYTHING, SPECS, workflow_of
from tests.resume.lives import live, put_back


@given(spec=SPECS, seed=st.integers(0, 10_000), stride=st.integers(1, 4))
@example(spec=EVERYTHING, seed=1, stride=1)
@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
def test_resume_gives_the_undisturbed_result(spec: tuple[Any, ...], seed: int, stride: int) -> None:
    """Killed after any write, a workflow of any shape ends with the result that it has undisturbed."""
    cls = workflow_of(spec, seed)

    async def body() -> Any:
        return await cls(timeout=60).run()

    async def all_lives(folder: Path) -> None:
        whole = await live(folder / "whole", body)
        assert whole.error is None, whole.error
        for cut in range(0, len(whole.writes) + 1, stride):
            store = folder / f"cut {cut}"
            put_back(store, whole.writes[:cut])
            again = await live(store, body)
            assert again.error is None, f"killed after write {cut}: {again.error!r}"
            assert again.result == whole.result, f"killed after write {cut}"

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(all_lives(Path(folder)))
