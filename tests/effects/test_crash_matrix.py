"""Killed at every boundary around intents, calls, receipts and records, each effect happens once."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.counting import counts
from tests.effects.crashing import ASKS, EFFECTS, RESULT
from tests.effects.lives import Lives, decide, in_doubt, opened
from tests.kernels import ROOT

MOST_LIVES = 12


def check_budgets(place: Path, where: str) -> None:
    """Each step of the recorded run was tried as often as its retry policy and the world have it."""
    with opened(place) as run:
        assert run is not None
        cost = {one.step: (one.attempts, one.failures) for one in run.cost.steps}
    assert cost["reserve"] == (1, 0), where
    assert cost["charge"] == (2, 1), where
    # A kill after the refusal and before it is on record leaves no failure behind.
    assert cost["ship"] in ((2, 1), (1, 0)), where
    assert cost["mail"] == (1, 0), where


@pytest.mark.parametrize("verify", [True, False], ids=["verify", "no verify"])
def test_killed_at_every_boundary(verify: bool, lives: Lives, tmp_path: Path) -> None:
    """Killed at any boundary, and every other time once more by chance, each effect happens once, budgets
    hold and the result is a clean run's; without ``verify`` the run asks a person, only where it has to."""
    order = random.Random(str(verify))
    number, finished, asked, doubts, amiss, others = 0, False, 0, 0, 0, 0
    while not finished:
        number += 1
        where = f"killed at boundary {number}"
        place = tmp_path / str(number)
        place.mkdir()
        numbers = [number, order.randrange(1, 30) if number % 2 else 0]
        for life in range(MOST_LIVES):
            doubt = in_doubt(place)
            ended = lives.live(place, numbers[life] if life < len(numbers) else 0, verify)
            finished = finished or (life == 0 and ended == 0)
            if ended >= 0:
                doubts += doubt
                assert (ended == ASKS) == (doubt and not verify), where
            if ended == 0:
                break
            if ended == ASKS:
                asked += 1
                decide(place, where)
        others += json.loads((place / "result").read_text()) != RESULT
        amiss += dict(counts(place / "counter")) != dict.fromkeys(EFFECTS, 1)
        check_budgets(place, where)
    assert number > 40, "there are fewer boundaries than writes and calls"
    assert doubts > 8, "fewer lives ended between intent and receipt than there are such boundaries"
    those = "those killed between intent and receipt, and no others"
    row = f"| {'with `verify`' if verify else 'without'} | {amiss} | {others} | "
    row += f"{those if 0 < asked == doubts else asked} |"
    assert row in (ROOT / "README.md").read_text(encoding="utf-8")
