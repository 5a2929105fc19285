"""Killed in fresh runs, in forks and while several ask for one effect: it still happens once."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.counting import counts
from tests.effects.crashing import ASKS, EFFECTS, FAILS, RESULT
from tests.effects.lives import Lives, decide, in_doubt

MOST_LIVES = 8
EVERY = 5
"""The whole matrix is in the module beside this one; here every fifth boundary will do."""


def end(lives: Lives, place: Path, verify: bool, where: str, **more: Any) -> Any:
    """Live on, answering as a person, to the end; return the result.

    Raises:
        AssertionError: it asks without need, or comes to no end.
    """
    for _ in range(MOST_LIVES):
        doubt = in_doubt(place)
        ended = lives.live(place, 0, verify, **more)
        assert ended in (0, ASKS), where
        assert (ended == ASKS) <= (doubt and not verify), where
        if ended == 0:
            return json.loads((place / "result").read_text())
        decide(place, where)
    raise AssertionError(f"{where}: it comes to no end")


@pytest.mark.parametrize("verify", [True, False], ids=["verify", "no verify"])
def test_a_fresh_run_after_a_kill_does_nothing_again(verify: bool, lives: Lives, tmp_path: Path) -> None:
    """Killed at any fifth boundary, then thrown away with --fresh --fresh and killed again, the last run gets
    every receipt that there is, and an outcome that nobody knows is as much in doubt as in the first."""
    order = random.Random(str(verify))
    number, ended = 1, -1
    while ended != 0:
        where = f"killed at boundary {number}"
        place = tmp_path / str(number)
        place.mkdir()
        ended = lives.live(place, number, verify)
        lives.live(place, order.randrange(1, 30), verify, fresh=2)
        if in_doubt(place) and not verify:
            lives.live(place, 0, verify, fresh=2)
            decide(place, where)
        assert end(lives, place, verify, where, fresh=1) == RESULT, where
        assert dict(counts(place / "counter")) == dict.fromkeys(EFFECTS, 1), where
        number += EVERY
    assert number > 40, "there are fewer boundaries than writes and calls"


@pytest.mark.parametrize("verify", [True, False], ids=["verify", "no verify"])
def test_a_killed_fork_and_its_run_share_each_effect(verify: bool, lives: Lives, tmp_path: Path) -> None:
    """A run fails before its third effect; a fork of it does the rest and is killed at any fifth boundary;
    another fork, and then the run itself, get the receipts."""
    number, ended = 1, -1
    while ended != 0:
        where = f"killed at boundary {number} of a fork"
        place = tmp_path / str(number)
        place.mkdir()
        assert lives.live(place, 0, verify, closed=True) == FAILS
        assert set(counts(place / "counter")) == set(EFFECTS[:2])
        ended = lives.live(place, number, verify, what="fork")
        forked = end(lives, place, verify, where, what="fork")
        assert forked == ["edited", *RESULT[1:]], where
        assert end(lives, place, verify, where) == RESULT, where
        assert dict(counts(place / "counter")) == dict.fromkeys(EFFECTS, 1), where
        number += EVERY
    assert number > 20, "there are fewer boundaries than writes and calls"


@pytest.mark.parametrize("verify", [True, False], ids=["verify", "no verify"])
def test_equal_keys_at_the_same_time_are_one_effect_over_kills(
    verify: bool, lives: Lives, tmp_path: Path
) -> None:
    """Four executions ask at once, and the process is killed at any fifth boundary: it happens once."""
    number, ended = 1, -1
    while ended != 0:
        where = f"killed at boundary {number}"
        place = tmp_path / str(number)
        place.mkdir()
        ended = lives.live(place, number, verify, what="twins")
        assert end(lives, place, verify, where, what="twins") == [RESULT[:1]] * 4, where
        assert dict(counts(place / "counter")) == {EFFECTS[0]: 1}, where
        number += EVERY
    assert number > 15, "there are fewer boundaries than writes and calls"
