"""A person's word on a side effect, from Python."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from workflows import Workflow, step
from workflows.events import StartEvent, StopEvent

from jupyter_wfresume import effect
from jupyter_wfresume.effects import Doubt
from jupyter_wfresume.errors import CannotKeepError, UsageError
from tests.effects.shops import Shop, World, cut, live, opened, world


class Buys(Workflow):
    """One charge, for the key that it is given."""

    @step
    async def pay(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=await effect("charge", key=ev.key, do=world().charge))


def refused(key: Any, call: int) -> Any:
    if call == 1:
        raise ConnectionError("no route")
    return f"ch_{key}"


STATES = {"begun": cut, "failed": refused, "done": None}


@pytest.mark.parametrize(
    ("state", "decision", "then", "calls"),
    [
        ("begun", "done", "mine", 1),
        ("begun", "retry", "ch_81", 2),
        ("begun", "undone", Doubt, 1),
        ("failed", "done", "mine", 1),
        ("failed", "retry", "ch_81", 2),
        ("failed", "undone", UsageError, 1),
        ("done", "done", UsageError, 1),
        ("done", "retry", "ch_81", 2),
        ("done", "undone", Doubt, 1),
    ],
)
async def test_each_decision_on_each_state(
    state: str, decision: Any, then: Any, calls: int, store_dir: Path
) -> None:
    """What a person says is what the next execution gets; what does not fit is refused."""
    here = World(STATES[state])
    await live(store_dir, here, lambda: Buys().run(key=81))
    run = opened(store_dir)
    assert [entry.state for entry in run.effects] == [state]
    if then is UsageError:
        with pytest.raises(UsageError, match=r"charge\[81\] is (done|failed) at .*: "):
            run.resolve("charge", 81, decision, "mine")
        assert here.calls[81] == calls
        return
    entry = run.resolve("charge", 81, decision, "mine")
    assert entry.state == decision
    last = await live(store_dir, here, lambda: Buys().run(key=81), fresh=2)
    if then is Doubt:
        assert isinstance(last.error, Doubt)
        assert last.error.sentence.startswith("charge[81] was undone by hand at ")
    else:
        assert last.result == then
    assert here.calls[81] == calls


async def test_a_slip_of_the_pen_can_be_mended(store_dir: Path) -> None:
    """A receipt that a person gave may be given again; one that ``do`` gave stays."""
    await live(store_dir, World(cut), lambda: Buys().run(key=81))
    run = opened(store_dir)
    run.resolve("charge", 81, "done", "ch_wrong")
    assert run.resolve("charge", 81, "done", "ch_right").receipt() == "ch_right"
    with pytest.raises(CannotKeepError, match=r"as the receipt of charge\[81\]"):
        run.resolve("charge", 81, "done", lambda: 1)
    assert run.effects[0].receipt() == "ch_right"


@pytest.mark.parametrize("key", [81, "order 81", ("eu", 81), "line\nbreak", "x" * 100])
async def test_an_effect_is_found_by_its_key_and_by_its_text(key: Any, store_dir: Path) -> None:
    """From Python its key names it, on a magic's line the text that every sentence shows."""
    await live(store_dir, World(cut), lambda: Buys().run(key=key))
    run = opened(store_dir)
    (entry,) = run.effects
    assert run.resolve("charge", key, "retry").state == "retry"
    assert run.resolve("charge", entry.key, "done", 1).state == "done"
    assert entry.key.isprintable()


async def test_a_text_that_fits_two_keys_is_asked_back(store_dir: Path) -> None:
    """81 and "81" look alike: the sentence offers what tells them apart, and that is understood."""
    here = World(cut)
    await live(store_dir, here, lambda: Buys().run(key=81))
    await live(store_dir, here, lambda: Buys().run(key="81"))
    run = opened(store_dir)
    with pytest.raises(UsageError, match=r"is 2 side effects, say which: charge\[#") as caught:
        run.resolve("charge", "81", "retry")
    first = str(caught.value).partition("charge[#")[2].partition("]")[0]
    resolved = run.resolve("charge", f"#{first}", "retry")
    assert resolved.digest.startswith(first)
    assert sorted(entry.state for entry in run.effects) == ["begun", "retry"]


async def test_where_two_keys_look_alike_the_sentence_has_what_tells_them_apart(store_dir: Path) -> None:
    """What a run that waits tells a person to type works, also where 81 and "81" are both in doubt."""
    here = World(cut)
    for key in (81, "81"):
        await live(store_dir, here, lambda key=key: Buys().run(key=key))
    run = opened(store_dir)
    life = await live(store_dir, here, lambda: Buys().run(key=81))
    assert isinstance(life.error, Doubt)
    typed = life.error.sentence.partition("charge[#")[2].partition("]")[0]
    resolved = run.resolve("charge", f"#{typed}", "retry")
    assert resolved.digest == life.error.doubts[0].entry.digest
    last = await live(store_dir, here, lambda: Buys().run(key=81))
    assert (last.result, here.calls) == ("ch_81", {81: 2, "81": 1})
    with pytest.raises(UsageError, match=r"it has charge\[#.{8}\], charge\[#.{8}\]$"):
        run.resolve("charge", 7, "retry")


async def test_what_is_not_there_is_named(store_dir: Path) -> None:
    """An unknown key, effect or decision is answered with what there is."""
    await live(store_dir, World(), lambda: Shop(timeout=None).run(orders=[1, 2]))
    run = opened(store_dir)
    with pytest.raises(UsageError, match=r"shop has no side effect charge\[7\]; it has charge\["):
        run.resolve("charge", 7, "retry")
    with pytest.raises(UsageError, match=r"no side effect refund\[1\]"):
        run.resolve("refund", 1, "retry")
    with pytest.raises(UsageError, match="done, retry or undone, not 'again'"):
        run.resolve("charge", 1, "again")  # type: ignore[arg-type]  # what a user may type
    await live(store_dir, World(), lambda: Shop(timeout=None).run(orders=[]), name="none")
    with pytest.raises(UsageError, match="none has no side effects on record"):
        opened(store_dir, "none").resolve("charge", 1, "retry")


async def test_what_is_under_way_here_is_left_alone(store_dir: Path) -> None:
    """While an execution of this kernel is at it, a decision would come too early."""
    going, go = asyncio.Event(), asyncio.Event()

    async def slow(key: Any) -> str:
        going.set()
        await go.wait()
        return "ch"

    here = World(lambda key, call: slow(key))
    task = asyncio.ensure_future(live(store_dir, here, lambda: Buys().run(key=81)))
    await going.wait()
    with pytest.raises(UsageError, match=r"charge\[81\] is being done by process"):
        opened(store_dir).resolve("charge", 81, "retry")
    go.set()
    assert (await task).result == "ch"
