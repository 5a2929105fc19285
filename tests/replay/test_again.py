"""A recorded execution runs again, alone, with today's code.

``Recorded.replay`` proves each time that the store stays as it is.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from workflows.events import Event, HumanResponseEvent, InputRequiredEvent, StartEvent, StopEvent

from jupyter_wfresume.errors import MissingClassError, UsageError
from jupyter_wfresume.journal import StoreBlobs
from jupyter_wfresume.projection import executions
from jupyter_wfresume.replay import (
    Replayed,
    as_text,
    recorded_input,
    recorded_output,
    replay,
    replay_sync,
    state_before,
)
from jupyter_wfresume.session import list_runs
from jupyter_wfresume.store import Store
from tests.replay.flows import (
    TONE,
    Asks,
    Carries,
    Counter,
    Counts,
    Done,
    Extra,
    Fan,
    Item,
    Locked,
    Outer,
    Recorded,
    Retries,
    Sends,
    Two,
    Unkept,
    Waver,
)


@pytest.fixture(autouse=True)
def tone() -> Iterator[None]:
    """The code that tests edit is as it was after each."""
    before = dict(TONE)
    yield
    TONE.clear()
    TONE.update(before)


async def fan(path: Path, n: int = 5) -> Recorded:
    recorded = await Recorded(path / "store", Fan(timeout=None)).run(lambda workflow: workflow.run(n=n))
    assert recorded.error is None
    return recorded


def same(done: Replayed) -> bool:
    """It gave what it gave before, and could run as it had."""
    return done.differences == [] and done.notes == [] and done.new.error is None


@pytest.mark.parametrize(
    ("step", "index", "count"), [("split", 0, 5), ("work", 0, 1), ("work", 4, 1), ("join", 0, 1)]
)
async def test_unchanged_code_gives_what_it_gave(tmp_path: Path, step: str, index: int, count: int) -> None:
    """Fan-out, worker and fan-in, replayed with the same code, give their recorded output."""
    done = await (await fan(tmp_path)).replay(step, index)
    assert same(done)
    assert len(done.old_output) == len(done.new_output) == count
    assert done.old_seconds >= 0


async def test_todays_code_is_what_runs(tmp_path: Path) -> None:
    """After an edit of the code the new output stands beside the old, and the difference is named."""
    recorded = await fan(tmp_path)
    TONE["suffix"] = "?"
    done = await recorded.replay("work", 2)
    assert done.old_output == [Done(i=2, v="text 2!")]
    assert done.new_output == [Done(i=2, v="text 2?")]
    assert as_text(done.differences) == "~ v: 'text 2!' → 'text 2?'"


def drop_one(events: list[Done]) -> None:
    del events[0]


def shout(ev: Item) -> None:
    ev.text = "loud"


EDITS: list[Any] = [
    {"text": "loud"},
    shout,
    lambda ev: Item(i=ev.i, text="loud"),
    lambda ev: {"text": "loud"},
    Item(i=2, text="loud"),
]


@pytest.mark.parametrize("edit", EDITS, ids=["fields", "in place", "returned", "returned fields", "event"])
async def test_an_edit_of_the_input(tmp_path: Path, edit: Any) -> None:
    """Fields, a function that changes the event or returns another, and a whole event edit alike."""
    recorded = await fan(tmp_path)
    done = await recorded.replay("work", 2, edit=edit)
    assert done.input == [Item(i=2, text="loud")]
    assert done.new_output == [Done(i=2, v="loud!")]
    assert done.differences[0].path == ".v"
    assert same(await recorded.replay("work", 2))


async def test_an_edit_of_a_fan_ins_list(tmp_path: Path) -> None:
    """A fan-in's list may be changed in place, or given whole, an empty one too."""
    recorded = await fan(tmp_path, 3)
    done = await recorded.replay("join", 0, edit=drop_one)
    assert len(done.new_output[0].result) == 2
    assert [one.kind for one in done.differences] == ["removed"]
    done = await recorded.replay("join", 0, edit=[])
    assert done.new_output[0].result == []


REFUSED: list[tuple[str, Any, str]] = [
    ("work", {"txt": "x"}, "work[0]: Item has no field 'txt'; its fields are i, text"),
    ("work", {"i": []}, "work[0]: Item.i cannot be []: Input should be a valid integer"),
    ("work", Done(i=1, v=""), "work does not take a Done; it takes Item"),
    ("work", 7, "work[0] cannot be edited with a int: give a function, a dict of fields, or an event"),
    ("work", [Item(i=1), Item(i=2)], "work takes 1 event at a time, not 2"),
    ("join", {"i": 1}, "join[0] takes a list of events: edit them with a function, not with fields"),
    ("join", Done(i=1, v=""), "join[0] takes a list of events: give all of them, not one Done"),
    ("join", lambda events: print, "the edit of join[0] returned a function; an event belongs there"),
]


@pytest.mark.parametrize(("step", "edit", "sentence"), REFUSED, ids=[case[2] for case in REFUSED])
async def test_an_edit_that_does_not_fit_is_refused(
    tmp_path: Path, step: str, edit: Any, sentence: str
) -> None:
    """An edit that does not fit the step or the event is refused in one sentence, and nothing runs."""
    recorded = await fan(tmp_path, 1)
    with pytest.raises(UsageError) as refused:
        await recorded.replay(step, 0, edit=edit)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("step", "index", "sentence"),
    [
        ("works", 0, "no step 'works' in this run; recorded steps: join, split, work"),
        (
            "work",
            9,
            "no work[9] in this run: recorded are 0 to 4, and an execution that has not ended cannot be "
            "replayed",
        ),
    ],
)
async def test_an_execution_that_is_not_there(tmp_path: Path, step: str, index: int, sentence: str) -> None:
    """A step or an index that is not on record is refused with what is."""
    with pytest.raises(UsageError) as refused:
        await (await fan(tmp_path)).replay(step, index)
    assert str(refused.value) == sentence


async def test_a_step_that_is_gone_is_refused(tmp_path: Path) -> None:
    """A recorded step that the workflow no longer has is refused with the steps that it has."""
    recorded = await fan(tmp_path)
    recorded.workflow = Two()
    with pytest.raises(UsageError, match="Two has no step 'work' now; it has both, left, right"):
        await recorded.replay("work", 0)


async def test_a_recorded_failure_can_be_replayed(tmp_path: Path) -> None:
    """A failed execution fails again with the user's lines; with repaired code it shows what it gives."""
    TONE["fails"] = (2,)
    recorded = await Recorded(tmp_path / "store", Fan(timeout=None)).run(lambda w: w.run(n=4))
    assert isinstance(recorded.error, ValueError)
    again = await recorded.replay("work", 2)
    assert again.differences == []
    assert str(again.old_error) == str(again.new.error) == "bad document 2"
    assert again.new.error is not None
    assert traceback.extract_tb(again.new.error.__traceback__)[-1].name == "work"
    TONE["fails"] = ()
    repaired = await recorded.replay("work", 2)
    assert repaired.new_output == [Done(i=2, v="text 2!")]
    (one,) = repaired.differences
    assert one.text == "raised ValueError: bad document 2 → Done(i=2, v='text 2!')"


async def test_a_success_that_now_fails(tmp_path: Path) -> None:
    """Where today's code raises, the difference is what it raises."""
    recorded = await fan(tmp_path)
    TONE["fails"] = (1,)
    (one,) = (await recorded.replay("work", 1)).differences
    assert one.text == "Done(i=1, v='text 1!') → raised ValueError: bad document 1"


async def test_each_step_sees_the_state_as_it_was(tmp_path: Path) -> None:
    """A typed state is for each execution as it was when it began, not as the run left it."""
    recorded = await Recorded(tmp_path / "store", Counts(timeout=None)).run(lambda w: w.run())
    assert recorded.result == [11, "one"]
    with Store.open(recorded.path, create=False) as store:
        records, reader = recorded.records(store), recorded.reader(store)
        states = [
            state_before(records, step, 0, reader, Counter(count=70)) for step in ("one", "two", "three")
        ]
    assert states == [Counter(), Counter(count=1, seen=["one"]), Counter(count=11, seen=["one"])]
    for step in ("one", "two", "three"):
        assert same(await recorded.replay(step, 0))


async def test_state_that_others_changed_meanwhile_is_as_it_was_read(tmp_path: Path) -> None:
    """A value that another execution wrote after this one began is what this one read, and reads again."""
    Waver.begun, Waver.written = asyncio.Event(), asyncio.Event()
    recorded = await Recorded(tmp_path / "store", Waver(timeout=None)).run(lambda w: w.run())
    assert recorded.error is None
    assert recorded.result == "writes"
    done = await recorded.replay("reads", 0)
    assert done.new_output[0].result == "writes"
    assert same(done)
    assert (await recorded.replay("writes", 0)).new.state._data == {"k": "writes"}


async def test_a_state_key_that_was_not_kept_is_named(tmp_path: Path) -> None:
    """Of a state that could not be written down in part, the part is named and the rest is as it was."""
    recorded = await Recorded(tmp_path / "store", Locked(timeout=None)).run(lambda w: w.run())
    done = await recorded.replay("end", 0)
    assert done.new_output[0].result == [1]
    assert done.notes == ["state key 'lock' was not kept: the step sees a stand-in for it"]


async def test_collected_events_are_there_again(tmp_path: Path) -> None:
    """An execution that completed a ``collect_events`` finds the events that were collected before it."""
    recorded = await Recorded(tmp_path / "store", Sends(timeout=None)).run(lambda w: w.run())
    assert recorded.result == 3
    outputs = []
    for index in range(3):
        done = await recorded.replay("gather", index)
        assert same(done)
        outputs.append(len(done.new_output))
    assert outputs == [0, 0, 1]
    sender = await recorded.replay("begin", 0)
    assert same(sender)
    assert [one.i for one in sender.new.sends] == [0, 1, 2]


async def answered(path: Path) -> Recorded:
    async def body(workflow: Any) -> Any:
        handler = workflow.run()
        async for event in handler.stream_events():
            if isinstance(event, InputRequiredEvent):
                handler.ctx.send_event(HumanResponseEvent(response="yes"))
        return await handler

    recorded = await Recorded(path / "store", Asks(timeout=None)).run(body)
    assert recorded.result == "yes!"
    return recorded


async def test_an_answer_is_there_again(tmp_path: Path) -> None:
    """An execution that had waited for a person finds the recorded answer, with today's code."""
    recorded = await answered(tmp_path)
    assert same(await recorded.replay("ask", 0))
    TONE["suffix"] = "?"
    assert (await recorded.replay("ask", 0)).new_output[0].result == "yes?"


async def test_an_execution_that_waits_waits_again(tmp_path: Path) -> None:
    """An execution that still waits for a person waits again, which is no difference."""
    recorded = await Recorded(tmp_path / "store", Asks(timeout=None)).run(lambda w: w.run(), wait_s=0.0)
    done = await recorded.replay("ask", 0)
    assert done.new.waits
    assert same(done)


async def test_a_graph_that_changed_is_said(tmp_path: Path) -> None:
    """Where today's workflow cannot fold the journal, the step runs without its answer; a note says so."""
    recorded = await answered(tmp_path)

    with Store.open(recorded.path, create=False) as store:
        records = recorded.records(store)
        start = next(record for record in records if record.get("o") == "start")
        start["s"] = "gone"
        done = await replay(
            recorded.workflow, records, "ask", 0, blobs=StoreBlobs(store), find_class=recorded.find_class
        )
    assert done.new.waits
    assert "runs without the events that it had collected or waited for" in done.notes[0]
    assert done.differences[0].text == "StopEvent(result='yes!') → waits for an event"


async def test_the_last_attempt_is_replayed(tmp_path: Path) -> None:
    """Of several attempts the last runs again: its number, the failure before it, its input."""
    recorded = await Recorded(tmp_path / "store", Retries(timeout=None)).run(lambda w: w.run())
    assert recorded.result == [1, "at first", "once"]
    assert same(await recorded.replay("begin", 0))


async def test_several_parameters(tmp_path: Path) -> None:
    """A fan-in of several parameters gets each of its events in its place."""
    recorded = await Recorded(tmp_path / "store", Two(timeout=None)).run(lambda w: w.run())
    done = await recorded.replay("both", 0)
    assert same(done)
    assert done.new_output[0].result == 21


async def test_an_empty_fan_in(tmp_path: Path) -> None:
    """A fan-in that fired on nothing is on record and fires on nothing again."""
    recorded = await fan(tmp_path, 0)
    with Store.open(recorded.path, create=False) as store:
        assert [(row.step, row.inputs) for row in executions(recorded.records(store))][1] == ("join", [])
    done = await recorded.replay("join", 0)
    assert same(done)
    assert done.input == []


async def test_a_run_inside_the_step(tmp_path: Path) -> None:
    """A workflow that the step runs itself runs plainly: it leaves no run in the store."""
    recorded = await Recorded(tmp_path / "store", Outer(timeout=None)).run(lambda w: w.run(x=4))
    assert same(await recorded.replay("call", 0))
    with Store.open(recorded.path, create=False) as store:
        assert len(list_runs(store, nested=True)) == 2


async def test_an_input_that_was_not_kept(tmp_path: Path) -> None:
    """An input that was not written down is refused with the reason; a whole event is taken in its place."""
    recorded = await Recorded(tmp_path / "store", Unkept(timeout=None)).run(lambda w: w.run())
    assert recorded.result == 40
    with pytest.raises(UsageError) as refused:
        await recorded.replay("end", 0)
    assert str(refused.value) == (
        "end[0] cannot be replayed as it was: its input Carries.call (function) was not kept; "
        "give the whole event as the edited input"
    )
    done = await recorded.replay("end", 0, edit=Carries(call=lambda: 3))
    assert done.new_output[0].result == 3


async def test_an_output_that_was_not_kept_is_not_compared(tmp_path: Path) -> None:
    """A recorded output that was not written down is no difference from its like, and the note says so."""
    recorded = await Recorded(tmp_path / "store", Unkept(timeout=None)).run(lambda w: w.run())
    done = await recorded.replay("begin", 0)
    assert repr(done.old_output) == "[<Carries that could not be kept: .call is a function>]"
    assert done.differences == []
    assert done.notes == ["its recorded Carries.call (function) was not kept, so it is not compared"]


async def test_a_missing_class_is_named(tmp_path: Path) -> None:
    """An event class that is not defined in this kernel is named."""
    recorded = await fan(tmp_path)
    with Store.open(recorded.path, create=False) as store:
        records = [_renamed(record) for record in recorded.records(store)]
        with pytest.raises(MissingClassError, match="cannot find"):
            await replay(
                recorded.workflow, records, "work", 0, blobs=StoreBlobs(store), find_class=lambda m, q: None
            )


def _renamed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_renamed(item) for item in value]
    return value.replace("Item", "Gone") if isinstance(value, str) else value


async def test_the_records_can_be_asked(tmp_path: Path) -> None:
    """Input and output of an execution are read without running it."""
    recorded = await fan(tmp_path, 2)
    with Store.open(recorded.path, create=False) as store:
        records, reader = recorded.records(store), recorded.reader(store)
        assert recorded_input(records, "work", 1, reader) == [Item(i=1, text="text 1")]
        assert recorded_output(records, "work", 1, reader) == [Done(i=1, v="text 1!")]
        assert recorded_input(records, "split", 0, reader) == [StartEvent(n=2)]
        (stop,) = recorded_output(records, "join", 0, reader)
        assert isinstance(stop, StopEvent)
        assert len(recorded_input(records, "join", 0, reader)) == 2


async def test_what_is_streamed_and_timed(tmp_path: Path) -> None:
    """What the step streams is in what is returned, and a step that takes too long is cut off."""
    recorded = await fan(tmp_path, 1)
    done = await recorded.replay("work", 0)
    assert done.new.published == [Extra(i=0)]
    Waver.begun, Waver.written = asyncio.Event(), asyncio.Event()
    Waver.written.set()
    waver = await Recorded(tmp_path / "other", Waver(timeout=None)).run(lambda w: w.run())
    Waver.written = asyncio.Event()
    cut = await waver.replay("reads", 0, timeout_s=0.05)
    assert as_text(cut.differences).endswith("→ raised TimeoutError: reads took longer than 0.05 s")


async def test_from_plain_code_inside_a_running_loop(tmp_path: Path) -> None:
    """Plain code in a notebook replays too."""
    recorded = await fan(tmp_path, 1)
    with Store.open(recorded.path, create=False) as store:
        done = replay_sync(
            recorded.workflow,
            recorded.records(store),
            "work",
            0,
            blobs=StoreBlobs(store),
            find_class=recorded.find_class,
        )
    assert same(done)


async def test_edits_of_dynamic_fields_and_results(tmp_path: Path) -> None:
    """An event without declared fields takes any field, and a plain one gets its default."""
    recorded = await fan(tmp_path, 1)
    done = await recorded.replay("split", 0, edit={"n": 3})
    assert len(done.new_output) == 3
    assert isinstance(done.input[0], Event)
