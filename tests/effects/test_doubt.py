"""Where nobody knows whether a side effect happened, it is asked about and not done again."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from jupyter_wfresume.effects import Doubt
from jupyter_wfresume.errors import RunEnded, UsageError
from jupyter_wfresume.session import life as life_module
from tests.effects.shops import (
    Impatient,
    Outer,
    Shop,
    World,
    cut,
    live,
    opened,
)

ROOT = Path(__file__).resolve().parents[2]


async def test_an_effect_that_was_cancelled_is_in_doubt(store_dir: Path) -> None:
    """A step that gives up waiting does not know what happened: the next attempt asks ``verify``."""
    here = World()
    here.verify = lambda key: "arrived"
    life = await live(store_dir, here, lambda: Impatient().run())
    assert (life.result, here.calls[81]) == ("arrived", 1)
    not_there = World()
    not_there.verify = lambda key: None
    second = await live(store_dir, not_there, lambda: Impatient().run(), name="second")
    assert (second.result, not_there.calls[81]) == ("ch_81", 2)
    assert len(set(not_there.keys)) == 1


async def test_without_verify_the_run_waits_for_a_person(store_dir: Path) -> None:
    """The sentence says what may have happened, when, and what to type; after that the run goes on."""
    here = World()
    life = await live(store_dir, here, lambda: Impatient().run())
    assert isinstance(life.error, Doubt)
    began = time.localtime(life.error.doubts[0].entry.began)
    assert life.error.sentence == (
        f"charge[81] may have happened at {time.strftime('%H:%M:%S', began)}: "
        f"say what is so with `%wfresolve shop charge[81] --store {store_dir} done RECEIPT | retry`, "
        "then run this cell again"
    )
    run = opened(store_dir)
    assert (run.status, run.header.sentence) == ("waiting", life.error.sentence)
    again = await live(store_dir, here, lambda: Impatient().run())
    assert again.error is not None
    assert again.error.args == life.error.args
    run.resolve("charge", 81, "done", {"id": 4})
    last = await live(store_dir, here, lambda: Impatient().run())
    assert (last.result, here.calls[81], opened(store_dir).id) == ({"id": 4}, 1, run.id)


@pytest.mark.parametrize("said", [RuntimeError("no such page"), False])
async def test_a_verify_that_cannot_tell_asks_a_person(said: Any, store_dir: Path) -> None:
    """What ``verify`` raised is in the sentence; False is no answer, since it may be meant as either."""

    def verify(key: Any) -> Any:
        if said is False:
            return said
        raise said

    here = World()
    here.verify = verify
    life = await live(store_dir, here, lambda: Impatient().run())
    assert isinstance(life.error, Doubt)
    assert "verify cannot tell (" in life.error.sentence
    assert ("no such page" if said else "verify returned False") in life.error.sentence
    here.verify = lambda key: "known by now"
    again = await live(store_dir, here, lambda: Impatient().run())
    assert again.result == "known by now"


async def test_all_that_earlier_lives_left_in_doubt_is_said_at_once(
    store_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person is asked once for all of them, not once a resume; what ``verify`` can tell is left to it."""
    monkeypatch.setattr(life_module, "STOP_GRACE_S", 0.1)

    async def hang(key: Any) -> Any:
        await asyncio.Event().wait()

    def answer(key: Any, call: int) -> Any:
        if call > 1:
            return f"ch_{key}"
        if key == 2:
            raise KeyboardInterrupt
        return hang(key)

    here = World(answer)

    def body() -> Any:
        return Shop(timeout=None).run(orders=[0, 1, 2])

    await live(store_dir, here, body)
    assert here.calls == {0: 1, 1: 1, 2: 1}
    second = await live(store_dir, here, body)
    assert isinstance(second.error, Doubt)
    assert second.error.sentence.startswith(
        "3 side effects wait for a person: charge[0] may have happened at "
    )
    assert "; charge[1] may have happened at " in second.error.sentence
    for key in range(3):
        opened(store_dir).resolve("charge", key, "retry")
    last = await live(store_dir, here, body)
    assert last.result == [(i, f"ch_{i}") for i in range(3)]


async def test_executions_beside_one_in_doubt_finish(store_dir: Path) -> None:
    """What is under way when a doubt stops the run is done and recorded before the run ends."""
    started = asyncio.Event()

    async def slow(key: Any) -> Any:
        started.set()
        await asyncio.sleep(0.1)
        return f"ch_{key}"

    def answer(key: Any, call: int) -> Any:
        return cut(key, call) if key == 0 else slow(key)

    async def verify(key: Any) -> Any:
        await started.wait()
        raise LookupError("no such page")

    here = World(answer)
    here.verify = verify

    def body() -> Any:
        return Shop(timeout=None).run(orders=[0, 1])

    await live(store_dir, here, body)
    life = await live(store_dir, here, body)
    assert isinstance(life.error, Doubt)
    assert [one.entry.name for one in life.error.doubts] == ["charge[0]"]
    done = {one.index for one in opened(store_dir).executions if one.step == "pay" and one.status == "done"}
    assert (done, opened(store_dir).status) == ({1}, "waiting")


async def test_a_doubt_in_a_nested_run_is_said_by_the_cell(store_dir: Path) -> None:
    """A workflow that a step runs shares the name; its doubt ends the outer run, with the same sentence."""
    here = World(cut)
    await live(store_dir, here, lambda: Outer(timeout=None).run())
    life = await live(store_dir, here, lambda: Outer(timeout=None).run())
    assert isinstance(life.error, Doubt)
    assert life.error.sentence.startswith("charge[81] may have happened at ")
    run = opened(store_dir)
    assert (run.status, run.header.workflow) == ("waiting", "Outer")
    run.resolve("charge", 81, "retry")
    last = await live(store_dir, here, lambda: Outer(timeout=None).run())
    assert (last.result, here.calls[81]) == ([(81, "ch_81")], 2)


def slowly(store: Path) -> subprocess.Popen[str]:
    """Another process that pays order 5 until it is told to end."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.effects.slowly", str(store)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("dies", [False, True])
async def test_an_effect_of_another_living_process_is_waited_for(dies: bool, store_dir: Path) -> None:
    """While another process is at it nobody else does it, and the sentence says who; its receipt is ours,
    and if it dies the effect is in doubt."""
    here = World()
    with slowly(store_dir) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "calling\n"
        life = await live(store_dir, here, lambda: Shop(timeout=None).run(orders=[5, 6]))
        assert isinstance(life.error, RunEnded)
        assert life.error.status == "paused"
        assert life.error.sentence.startswith(f"charge[5] is being done by process {process.pid} on ")
        with pytest.raises(UsageError, match="is being done by process"):
            opened(store_dir).resolve("charge", 5, "retry")
        if dies:
            process.kill()
        process.communicate(None if dies else "receipt\n")
    again = await live(store_dir, here, lambda: Shop(timeout=None).run(orders=[5, 6]))
    if dies:
        assert isinstance(again.error, Doubt)
    else:
        assert again.result == [(5, "theirs receipt"), (6, "ch_6")]
    assert not here.calls[5]
