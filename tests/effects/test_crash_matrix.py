"""Killed at every boundary around intents, calls, receipts and records, each effect happens once."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jupyter_wfresume.durable import open_run
from tests.counting import counts
from tests.effects.crashing import ASKS, EFFECTS, NAME, RESULT

ROOT = Path(__file__).resolve().parents[2]
MOST_LIVES = 12


@dataclass
class Lives:
    """The process that lives, one life after the other."""

    process: subprocess.Popen[str]

    def live(self, place: Path, number: int, verify: bool) -> int:
        """Live once; return how it ended: minus the signal's number, 0, or ``ASKS``."""
        job = {name: str(place / name) for name in ("store", "counter", "refused", "result", "asked")} | {
            "number": number,
            "verify": verify,
        }
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        said: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert said["killed"] or said["code"] in (0, ASKS), f"a life ended with {said}"
        return int(said["code"])


@pytest.fixture(scope="module")
def lives() -> Iterator[Lives]:
    """A process that has imported everything and forks a child for each life."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.effects.crashing"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Lives(process)
        assert process.stdin is not None
        process.stdin.close()


def decide(place: Path, where: str) -> None:
    """A person looks whether the effect in question happened, and says so."""
    run = open_run(NAME, place / "store")
    (open_one,) = [entry for entry in run.effects if entry.state == "begun"]
    sentence = (place / "asked").read_text().splitlines()[-1]
    assert run.status == "waiting", where
    assert sentence.startswith(f"waiting: {open_one.name} may have happened at "), where
    assert f"`%wfresolve {NAME} {open_one.name} done RECEIPT | retry`" in sentence, where
    if counts(place / "counter")[open_one.name]:
        run.resolve(open_one.effect, open_one.key, "done", f"receipt of {open_one.name}")
    else:
        run.resolve(open_one.effect, open_one.key, "retry")
    run.store.close()


@pytest.mark.parametrize("verify", [True, False], ids=["verify", "no verify"])
def test_killed_at_every_boundary(verify: bool, lives: Lives, tmp_path: Path) -> None:
    """Killed at any boundary, and every other time once more by chance, each effect happens once and the
    result is a clean run's, or the run stops and asks a person; with ``verify`` it never asks."""
    order = random.Random(str(verify))
    number, finished, asked = 0, False, 0
    while not finished:
        number += 1
        where = f"killed at boundary {number}"
        place = tmp_path / str(number)
        place.mkdir()
        numbers = [number, order.randrange(1, 30) if number % 2 else 0]
        for life in range(MOST_LIVES):
            ended = lives.live(place, numbers[life] if life < len(numbers) else 0, verify)
            finished = finished or (life == 0 and ended == 0)
            if ended == 0:
                break
            if ended == ASKS:
                asked += 1
                decide(place, where)
        assert json.loads((place / "result").read_text()) == RESULT, where
        assert dict(counts(place / "counter")) == dict.fromkeys(EFFECTS, 1), where
    assert number > 40, "there are fewer boundaries than writes and calls"
    assert asked == 0 if verify else asked > 8
