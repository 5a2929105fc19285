"""A side effect is done once for a name, whoever asks for it, and however an attempt ends."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import re
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from workflows import Context, Workflow, step
from workflows.events import StartEvent, StopEvent

from jupyter_wfresume import effect
from jupyter_wfresume.effects import Doubt
from jupyter_wfresume.effects.entries import dump, load
from jupyter_wfresume.errors import RunEnded, StoreError, UsageError
from jupyter_wfresume.session import life as life_module
from jupyter_wfresume.session.interrupt import step_in
from jupyter_wfresume.store import Store, this_process
from tests.effects.shops import (
    Impatient,
    Outer,
    Paid,
    Shop,
    Stubborn,
    Threads,
    World,
    cut,
    live,
    opened,
    world,
)

ROOT = Path(__file__).resolve().parents[2]


async def test_outside_of_a_durable_run_an_effect_is_a_plain_call() -> None:
    """Without the magic nothing is kept: ``do`` is called each time, and ``verify`` never."""
    here = World()
    here.verify = lambda key: "known"
    for _ in range(2):
        assert await effect("charge", key=1, do=here.charge, verify=here.verifier) == "ch_1"
    assert here.calls[1] == 2
    assert not here.asked


@pytest.mark.parametrize("flow", [Shop, Threads])
async def test_a_receipt_belongs_to_the_name(flow: type[Workflow], store_dir: Path) -> None:
    """A second run, a fresh one and another workflow of the name get the receipts; another name does not."""
    here = World()
    first = await live(store_dir, here, lambda: flow(timeout=None).run(orders=[1, 2, 3]))
    assert first.result == [(1, "ch_1"), (2, "ch_2"), (3, "ch_3")]
    more = await live(store_dir, here, lambda: flow(timeout=None).run(orders=[2, 3, 4]))
    fresh = await live(store_dir, here, lambda: flow(timeout=None).run(orders=[1, 2, 3]), fresh=2)
    other = await live(
        store_dir, here, lambda: (Threads if flow is Shop else Shop)(timeout=None).run(orders=[4])
    )
    assert (more.result, fresh.result, other.result) == (
        [(2, "ch_2"), (3, "ch_3"), (4, "ch_4")],
        first.result,
        [(4, "ch_4")],
    )
    assert here.calls == {1: 1, 2: 1, 3: 1, 4: 1}
    await live(store_dir, here, lambda: flow(timeout=None).run(orders=[4]), name="another")
    assert here.calls[4] == 2


async def test_keys_of_another_type_are_other_effects(store_dir: Path) -> None:
    """1 and "1" are two orders."""
    here = World()
    await live(store_dir, here, lambda: Shop(timeout=None).run(orders=[1]))

    class Text(Workflow):
        @step
        async def pay(self, ev: StartEvent) -> StopEvent:
            return StopEvent(result=await effect("charge", key="1", do=world().charge))

    await live(store_dir, here, lambda: Text().run())
    assert here.calls == {1: 1, "1": 1}


@pytest.mark.parametrize("flow", [Shop, Threads])
async def test_equal_keys_at_the_same_time_are_one_effect(flow: type[Workflow], store_dir: Path) -> None:
    """Of executions that ask at once, one does it, and the others get its receipt."""

    def answer(key: Any, call: int) -> Any:
        if flow is Threads:
            time.sleep(0.05)
            return call
        return asyncio.sleep(0.05, call)

    here = World(answer)
    life = await live(store_dir, here, lambda: flow(timeout=None).run(orders=[7] * 6))
    assert life.result == [(7, 1)] * 6
    assert here.calls == {7: 1}


async def test_a_clean_failure_is_tried_again(store_dir: Path) -> None:
    """What ``do`` raises goes to the retry policy, and the next attempt calls it again."""

    def answer(key: Any, call: int) -> Any:
        if call < 3:
            raise ConnectionError("no route")
        return call

    here = World(answer)
    life = await live(store_dir, here, lambda: Stubborn().run())
    assert life.result == 3
    assert here.receipts == ["ConnectionError"] * 2
    assert len(set(here.keys)) == 1
    (entry,) = opened(store_dir).effects
    assert (entry.state, entry.calls, entry.receipt()) == ("done", 3, 3)


async def test_a_failure_for_good_leaves_its_text(store_dir: Path) -> None:
    """When the attempts are used up, the run fails with the user's own exception, and the record says why."""

    def answer(key: Any, call: int) -> Any:
        raise ConnectionError("no route")

    life = await live(store_dir, World(answer), lambda: Stubborn().run())
    assert type(life.error) is ConnectionError
    (entry,) = opened(store_dir).effects
    assert (entry.state, entry.said) == ("failed", "ConnectionError: no route")
    again = await live(store_dir, World(), lambda: Stubborn().run())
    assert again.result == "ch_81"


async def test_after_a_failure_verify_may_know_better(store_dir: Path) -> None:
    """A call that raised and yet arrived is not made again, where ``verify`` has its receipt."""

    def answer(key: Any, call: int) -> Any:
        raise TimeoutError("no answer")

    here = World(answer)
    here.verify = lambda key: "arrived"
    life = await live(store_dir, here, lambda: Stubborn().run())
    assert (life.result, here.calls[81], here.asked[81]) == ("arrived", 1, 1)
    assert opened(store_dir).effects[0].by == "verify"


async def test_after_a_failure_a_verify_that_raises_is_one_more_failure(store_dir: Path) -> None:
    """While the service is away nothing is done twice, and the retry policy decides."""

    def answer(key: Any, call: int) -> Any:
        raise TimeoutError("no answer")

    here = World(answer)
    outcomes = iter([OSError("down"), None])

    def verify(key: Any) -> Any:
        said = next(outcomes)
        if said is not None:
            raise said
        here.answer = lambda key, call: call
        return None

    here.verify = verify
    life = await live(store_dir, here, lambda: Stubborn().run())
    assert (life.result, here.receipts) == (2, ["TimeoutError", "OSError"])


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
        "say what is so with `%wfresolve shop charge[81] done RECEIPT | retry`, then run this cell again"
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


@dataclasses.dataclass
class Bill:
    """A receipt of a class of the user's."""

    number: int
    lines: list[Decimal]


RECEIPTS: dict[str, Any] = {
    "nothing": None,
    "text": "ch_1",
    "a class": Bill(3, [Decimal("1.10")]),
    "large": b"x" * 100_000,
    "an array": np.arange(5000.0),
}


@pytest.mark.parametrize("receipt", RECEIPTS.values(), ids=RECEIPTS.keys())
async def test_a_receipt_comes_back_as_it_was(receipt: Any, store_dir: Path) -> None:
    """Whoever gets a receipt from the record gets the value that ``do`` returned, also where that is None."""
    here = World(lambda key, call: receipt)
    for _ in range(2):
        await live(store_dir, here, lambda: Shop(timeout=None).run(orders=[1]), fresh=2)
    first, second = here.receipts
    assert here.calls[1] == 1
    assert first is receipt
    assert type(second) is type(receipt)
    np.testing.assert_equal(second, receipt)


async def test_a_receipt_that_cannot_be_kept_is_named_at_once(store_dir: Path) -> None:
    """The run that has it goes on; the next one does not do it again, and asks a person for a receipt."""
    here = World(lambda key, call: lambda: 3)
    body = lambda: Stubborn().run()  # noqa: E731  # the same call in each life
    life = await live(store_dir, here, body)
    assert life.result() == 3
    (note,) = [note for note in life.views[-1].notes if "charge[81]" in note]
    assert note.startswith("the receipt of charge[81] cannot be kept: it (function): ")
    (entry,) = opened(store_dir).effects
    assert (entry.state, entry.kept, "lambda" in entry.said) == ("done", False, True)
    again = await live(store_dir, here, body, fresh=2)
    assert isinstance(again.error, Doubt)
    assert "but its receipt <function" in again.error.sentence
    here.verify = lambda key: "a text"
    last = await live(store_dir, here, body)
    assert (last.result, here.calls[81]) == ("a text", 1)


async def test_nothing_is_done_without_the_right_to_write(
    store_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that was taken over meanwhile does no side effect."""
    here = World()

    class Late(Workflow):
        @step
        async def pay(self, ev: StartEvent) -> StopEvent:
            with Store.open(store_dir) as store:
                (run_id,) = [run_id for run_id, _ in store.runs()]
                store.acquire(run_id, this_process(), now=time.time(), alive=lambda owner: False)
            return StopEvent(result=await effect("charge", key=81, do=world().charge))

    life = await live(store_dir, here, lambda: Late().run())
    assert life.error is not None
    assert "no longer drives" in str(life.error)
    assert not here.calls


async def test_a_receipt_that_is_not_on_disk_is_in_the_sentence(
    store_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk after the call loses neither the receipt's text nor the doubt."""
    swap = Store.swap_note

    def full(self: Store, run_id: str, slot: str, data: bytes, **more: Any) -> bool:
        if json.loads(data)["state"] == "done":
            raise StoreError("the disk is full")
        return swap(self, run_id, slot, data, **more)

    monkeypatch.setattr(Store, "swap_note", full)
    here = World()
    life = await live(store_dir, here, lambda: Shop(timeout=None).run(orders=[1]))
    assert isinstance(life.error, StoreError)
    assert str(life.error) == (
        "charge[1] happened, but its receipt 'ch_1' could not be written down: the disk is full"
    )
    monkeypatch.undo()
    again = await live(store_dir, here, lambda: Shop(timeout=None).run(orders=[1]))
    assert isinstance(again.error, Doubt)
    assert here.calls == {1: 1}


async def test_somebody_who_was_quicker_is_not_written_over(
    store_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another process wrote between look and intent is looked at again, and its receipt is given."""
    here = World()
    swap, beaten = Store.swap_note, []

    def late(self: Store, run_id: str, slot: str, data: bytes, **more: Any) -> bool:
        if not beaten:
            beaten.append(slot)
            theirs = load(data).done("theirs", "do", time.time())
            swap(self, run_id, slot, dump(theirs), seen=None)
        return swap(self, run_id, slot, data, **more)

    monkeypatch.setattr(Store, "swap_note", late)
    life = await live(store_dir, here, lambda: Shop(timeout=None).run(orders=[1]))
    assert life.result == [(1, "theirs")]
    assert not here.calls


async def test_an_effect_cannot_ask_for_itself(store_dir: Path) -> None:
    """A ``do`` that asks for its own effect would wait for itself without end."""

    class Round(Workflow):
        @step
        async def pay(self, ev: StartEvent) -> StopEvent:
            async def again(key: int) -> Any:
                return await effect("charge", key=key, do=again)

            return StopEvent(result=await effect("charge", key=1, do=again))

    life = await live(store_dir, World(), lambda: Round().run())
    assert isinstance(life.error, UsageError)
    assert "asks for itself" in str(life.error)


async def test_one_effect_within_another(store_dir: Path) -> None:
    """A ``do`` may use other effects, and each has its own idempotency key."""
    here = World()

    class Both(Workflow):
        @step
        async def pay(self, ev: StartEvent) -> StopEvent:
            async def both(key: int) -> Any:
                here.charge(key)
                return [await effect("fee", key=key, do=here.charge), here.charge(key)]

            return StopEvent(result=await effect("charge", key=1, do=both))

    life = await live(store_dir, here, lambda: Both().run())
    assert life.result == ["ch_1", "ch_1"]
    assert here.keys[0] == here.keys[2] != here.keys[1]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no key": ({"key": None}, "charge has the key None"),
    "empty key": ({"key": ""}, "charge has the key ''"),
    "a key that is no value": ({"key": lambda: 1}, "the key of charge cannot be used"),
    "no function": ({"do": "charge"}, "do is a function of the key"),
    "no verify": ({"verify": 3}, "verify is a function of the key"),
    "brackets": ({"effect": "charge[1]"}, "one word without brackets"),
    "blanks": ({"effect": "charge card"}, "one word without brackets"),
    "long": ({"effect": "c" * 81}, "short text"),
    "no name": ({"effect": ""}, "short text"),
}


@pytest.mark.parametrize(("given", "said"), WRONG.values(), ids=WRONG.keys())
async def test_what_cannot_be_an_effect_is_named(given: dict[str, Any], said: str) -> None:
    """A name, key or function that does not fit is refused before anything happens, durable or not."""
    here = World()
    wanted: dict[str, Any] = {"effect": "charge", "key": 1, "do": here.charge} | given
    name = wanted.pop("effect")
    with pytest.raises(UsageError, match=re.escape(said)):
        await effect(name, **wanted)
    assert not here.calls


async def test_in_an_async_step_the_plain_way_is_refused() -> None:
    """``effect.sync`` would block the loop, so it says what to write instead."""
    with pytest.raises(UsageError, match=r'write `await effect\("charge", ...\)` here'):
        effect.sync("charge", key=1, do=str)


async def test_a_plain_function_may_have_a_coroutine_for_do(store_dir: Path) -> None:
    """In a thread, an ``async`` client runs to its end on a loop of its own."""

    async def answer(key: Any) -> Any:
        await asyncio.sleep(0)
        return key

    here = World(lambda key, call: answer(key))
    life = await live(store_dir, here, lambda: Threads(timeout=None).run(orders=[1]))
    assert life.result == [(1, 1)]


async def test_a_step_that_blocks_in_do_can_be_interrupted(store_dir: Path) -> None:
    """The interrupt's handler may raise in the user's ``do``, and never in what writes intent and receipt."""
    found: list[Any] = []

    def look(key: Any, call: int) -> Any:
        found.append(step_in(sys._getframe()))
        return "ch"

    here = World(look)
    swap = Store.swap_note

    def write(self: Store, *args: Any, **more: Any) -> bool:
        found.append(step_in(sys._getframe()))
        return swap(self, *args, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "swap_note", write)
        await live(store_dir, here, lambda: Shop(timeout=None).run(orders=[1]))
    intent, call, receipt = found
    assert (intent, receipt) == (None, None)
    assert call is not None
    assert call.label == "pay[0]"


async def test_an_input_that_is_made_again_does_nothing_again(store_dir: Path) -> None:
    """An execution that runs again only for what it had returned gets its receipts, and does nothing."""
    here = World(lambda key, call: f"{key} {call}")

    class Unkept(Workflow):
        @step
        async def make(self, ev: StartEvent) -> Paid:
            receipt = await effect("charge", key=1, do=world().charge)
            return Paid(i=1, receipt=lambda: receipt)

        @step
        async def use(self, ctx: Context, ev: Paid) -> StopEvent:
            if not here.seen:
                here.seen[1] = True
                raise KeyboardInterrupt
            return StopEvent(result=ev.receipt())

    first = await live(store_dir, here, lambda: Unkept().run())
    assert isinstance(first.error, RunEnded)
    second = await live(store_dir, here, lambda: Unkept().run())
    assert (second.result, here.calls) == ("1 1", {1: 1})
