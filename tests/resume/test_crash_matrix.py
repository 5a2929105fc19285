"""A process killed by SIGKILL before or after any write to the store, up to three times, ends right."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jupyter_wfresume.journal import history
from jupyter_wfresume.session import list_runs
from jupyter_wfresume.store import Store
from tests.counting import counts
from tests.resume.crashing import ITEMS, WORKERS

ROOT = Path(__file__).resolve().parents[2]
RESULT = sum(i * 10 for i in range(ITEMS))
LIFE_S = 60.0


@dataclass
class Lives:
    """The process that lives, one life after the other."""

    process: subprocess.Popen[str]

    def live(self, place: Path, number: int = 0, when: str = "") -> bool:
        """Live once; return whether that life was killed."""
        job = {
            "store": str(place / "store"),
            "counter": str(place / "counter"),
            "result": str(place / "result"),
            "number": number,
            "when": when,
        }
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        said: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert said["killed"] or said["code"] == 0, f"a life ended with {said}"
        return bool(said["killed"])


@pytest.fixture(scope="module")
def lives() -> Iterator[Lives]:
    """A process that has imported everything and forks a child for each life."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.resume.crashing"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Lives(process)
        assert process.stdin is not None
        process.stdin.close()


def recorded(store: Path) -> set[str]:
    """``STEP[item]`` of every result on record; items of a fan-out are dispatched in their order."""
    if not store.exists():
        return set()
    with Store.open(store) as opened:
        return {
            f"{record['s']}[{record['i']}]"
            for run in list_runs(opened)
            for record in history(opened, run.id).records
            if record["k"] == "R"
        }


def prepared(tmp_path: Path, name: str) -> Path:
    place = tmp_path / name
    place.mkdir(parents=True)
    return place


def check_counts(place: Path, before: Counter[str], known: set[str], where: str) -> None:
    """What was on record has not run in this life, and nothing twice."""
    ran = counts(place / "counter")
    ran.subtract(before)
    again = {label for label in known if ran[label]}
    assert not again, f"{where}: executed again although recorded: {sorted(again)}"
    twice = {label for label, times in ran.items() if times > 1}
    assert not twice, f"{where}: executed twice in one life: {sorted(twice)}"


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_at_every_write(when: str, lives: Lives, tmp_path: Path) -> None:
    """Killed at any write, then at two more by chance, each life repeats nothing that is on record, at most
    ``num_workers`` executions a step and kill run again, and the last life has the undisturbed result."""
    order = random.Random(when)
    number, finished, looked_at = 0, False, 0
    while not finished:
        number += 1
        place = prepared(tmp_path, str(number))
        kills = 0
        for life in range(4):
            known, before = recorded(place / "store"), counts(place / "counter")
            at = (number if life == 0 else order.randrange(1, 12)) if life < 3 else 0
            how = when if life == 0 else order.choice(["before", "after"])
            killed = lives.live(place, at, how)
            finished = finished or (life == 0 and not killed)
            kills += killed
            looked_at += len(known)
            check_counts(place, before, known, f"killed {when} write {number}, life {life}")
            if not killed:
                break
        assert json.loads((place / "result").read_text()) == RESULT
        _check_repeats(counts(place / "counter"), kills, f"killed {when} write {number}")
    assert number > 20, "a life makes fewer writes than it has results and values"
    assert looked_at > 3 * number


def _check_repeats(ran: Counter[str], kills: int, where: str) -> None:
    repeats: Counter[str] = Counter()
    for label, times in ran.items():
        repeats[label.split("[")[0]] += times - 1
    for step, times in repeats.items():
        assert times <= kills * (WORKERS if step == "work" else 1), f"{where}: {step} ran {times} times more"
    assert len(ran) == ITEMS + 3
