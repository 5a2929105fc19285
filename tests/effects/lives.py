"""Lives that are killed at a boundary, one after the other, and the person who is asked in between."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_wfresume.durable import open_run
from jupyter_wfresume.errors import UsageError
from jupyter_wfresume.session import Run
from tests.counting import counts
from tests.effects.crashing import ASKS, FAILS, NAME


@dataclass
class Lives:
    """The process that lives, one life after the other."""

    process: subprocess.Popen[str]

    def live(self, place: Path, number: int, verify: bool, **more: Any) -> int:
        """Live once; return how it ended: minus the signal's number, 0, ``ASKS`` or ``FAILS``.

        Args:
            place: the folder of store, world and result.
            number: the boundary at which it is killed; 0 for none.
            verify: whether the effects have one.
            more: what else the process understands.

        Raises:
            AssertionError: it ended in another way.
        """
        job = {name: str(place / name) for name in ("store", "counter", "refused", "result", "asked")} | {
            "number": number,
            "verify": verify,
            **more,
        }
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        said: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert said["killed"] or said["code"] in (0, ASKS, FAILS), f"a life ended with {said}"
        return int(said["code"])


@contextmanager
def opened(place: Path) -> Iterator[Run | None]:
    """The latest run, or None where no life came so far."""
    try:
        run = open_run(NAME, place / "store")
    except UsageError:
        yield None
        return
    try:
        yield run
    finally:
        run.store.close()


def in_doubt(place: Path) -> bool:
    """Whether a life died between an intent and its receipt."""
    with opened(place) as run:
        return run is not None and any(entry.state == "begun" for entry in run.effects)


def decide(place: Path, where: str) -> None:
    """A person looks whether the effect in question happened, and says so."""
    with opened(place) as run:
        assert run is not None, where
        (open_one,) = [entry for entry in run.effects if entry.state == "begun"]
        sentence = (place / "asked").read_text().splitlines()[-1]
        assert sentence.startswith(f"waiting: {open_one.name} may have happened at "), where
        command = f"`%wfresolve {NAME} {open_one.name} --store {place / 'store'} done RECEIPT | retry`"
        assert command in sentence, where
        if counts(place / "counter")[open_one.name]:
            run.resolve(open_one.effect, open_one.key, "done", f"receipt of {open_one.name}")
        else:
            run.resolve(open_one.effect, open_one.key, "retry")
