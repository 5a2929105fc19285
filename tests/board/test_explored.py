"""Recorded runs as the board's section asks for them: pages, forms, replays and new runs, on any thread."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Annotated, Any

import pytest
from workflows import Context, Workflow, step
from workflows.events import Event, StartEvent, StopEvent
from workflows.resource import Resource

from jupyter_wfresume import durable, open_run, runs
from jupyter_wfresume.board import Going
from jupyter_wfresume.errors import MissingClassError, UsageError
from jupyter_wfresume.explore import Explored, explorer
from jupyter_wfresume.records import RunView
from jupyter_wfresume.session import Run
from tests.counting import bump, counts


class Item(Event):
    n: int
    text: str = "a"


class Done(Event):
    n: int
    text: str


def make_client() -> list[int]:
    return []


class Batch(Workflow):
    """A fan-out whose second item is bad, and a fan-in."""

    def __init__(self, ledger: Path, **settings: Any) -> None:
        super().__init__(timeout=None, **settings)
        self._ledger = ledger
        self._lock = asyncio.Lock()
        self._begun, self._gate = threading.Event(), threading.Event()
        self._gate.set()

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(n=n) for n in range(ev.size)]

    @step(num_workers=2)
    async def work(self, ctx: Context, ev: Item, client: Annotated[list[int], Resource(make_client)]) -> Done:
        bump(self._ledger, f"work {ev.n}")
        client.append(ev.n)
        if ev.text == "lock":
            async with self._lock:
                await asyncio.sleep(0)
        self._begun.set()
        await asyncio.to_thread(self._gate.wait)
        if ev.n == 1 and ev.text == "a":
            raise ValueError("bad document")
        return Done(n=ev.n, text=ev.text.upper())

    @step
    async def join(self, evs: list[Done]) -> StopEvent:
        return StopEvent(result="".join(ev.text for ev in sorted(evs, key=lambda ev: ev.n)))


Recorded = tuple[Batch, Explored, Path]


@pytest.fixture
async def recorded(tmp_path: Path) -> Recorded:
    """A keep-going run of four items on record, of which one has failed."""
    flow = Batch(tmp_path / "ledger")
    kept_going = durable("batch", store=tmp_path / "store", keep_going=True, board="none")
    with pytest.raises(ValueError, match="bad document"), kept_going:
        await flow.run(size=4)
    (tmp_path / "ledger").unlink()
    found = explorer(str(tmp_path / "store"))(open_run("batch", tmp_path / "store").id)
    assert isinstance(found, Explored)
    return flow, found, tmp_path


def kept(folder: Path) -> dict[str, Any]:
    """All that a store holds, by run: header bytes and record bytes."""
    store = open_run("batch", folder / "store").store
    return {run_id: (header, store.read(run_id).records) for run_id, header in store.runs()}


async def aside(call: Any, *args: Any) -> Any:
    """Call on another thread, as the board does, while this loop goes on."""
    return await asyncio.to_thread(call, *args)


NOBODY = Going(lambda view: None, lambda view: None, lambda stop: None)


async def test_the_list_is_in_the_order_of_the_graph(recorded: Recorded) -> None:
    """By step, then by number; filters and counts; a fan-in says how many events it received."""
    _, run, _ = recorded
    page = await aside(run.lines, "", "", 0, 3)
    assert [(row.step, row.index, row.status) for row in page.rows] == [
        ("split", 0, "done"),
        ("work", 0, "done"),
        ("work", 1, "failed"),
    ]
    assert (page.matching, page.whole) == (5, 5)
    assert dict(page.steps) == {"split": 1, "work": 4}
    assert dict(page.statuses) == {"done": 4, "failed": 1}
    assert page.rows[2].said == "Item(n=1, text='a')"
    failed = await aside(run.lines, "work", "failed", 0, 3)
    assert [row.index for row in failed.rows] == [1]
    beyond = await aside(run.lines, "", "", 100, 3)
    assert beyond.first == 0


async def test_a_replay_writes_nothing_and_shows_what_a_magic_shows(recorded: Recorded) -> None:
    """One execution runs, with the edit; every byte of the store is as it was."""
    _, run, folder = recorded
    before = kept(folder)
    shown = await aside(run.replay, "work", 1, {(0, "text"): "b"})
    assert "it had failed, and does not now" in shown
    assert "raised ValueError: bad document" in shown
    assert dict(counts(folder / "ledger")) == {"work 1": 1}
    assert kept(folder) == before
    again = await aside(run.replay, "work", 1, {})
    assert "Cell" in again or "test_explored.py" in again
    assert "no difference" in again


async def test_a_replay_does_not_hold_up_the_loop(recorded: Recorded) -> None:
    """While the step waits on its own loop, this one goes on; the click's thread waits alone."""
    flow, run, _ = recorded
    flow._begun.clear()
    flow._gate.clear()
    replay = asyncio.ensure_future(aside(run.replay, "work", 2, {}))
    await asyncio.to_thread(flow._begun.wait)
    assert not replay.done()
    flow._gate.set()
    assert "no difference" in await replay


async def test_a_replay_has_resources_of_its_own(recorded: Recorded) -> None:
    """A client that was made on the notebook's loop is not used on another one, nor the other way round."""
    flow, run, _ = recorded
    (before,) = flow._resource_manager.get_all().values()
    seen = list(before)
    await aside(run.replay, "work", 2, {})
    assert before == seen
    assert list(flow._resource_manager.get_all().values()) == [before]


async def test_a_step_that_needs_the_notebooks_loop_says_how_to_run_it(recorded: Recorded) -> None:
    """An object that belongs to another loop is named as the cause, with the magic that works."""
    flow, run, _ = recorded
    async with flow._lock:
        waiting = asyncio.ensure_future(flow._lock.acquire())
        await asyncio.sleep(0)  # a lock belongs to a loop from the first time that somebody waits for it
        shown = await aside(run.replay, "work", 2, {(0, "text"): "lock"})
    await waiting
    assert "belongs to the notebook&#x27;s event loop" in shown
    assert f"%wfreplay {open_run('batch', recorded[2] / 'store').id[:8]} work[2]" in shown


async def test_going_on_makes_a_new_run_and_leaves_the_old_one(recorded: Recorded) -> None:
    """What the edit does not reach is reused, the point of the fork recorded, the old run as it was."""
    _, run, folder = recorded
    before = kept(folder)
    views: list[RunView] = []
    stops: list[Any] = []
    going = Going(lambda make: views.append(make()), views.append, stops.append)
    said = await aside(run.go_on, "work", 1, {(0, "text"): "b"}, going)
    new = runs("batch", folder / "store")[0]
    (old,) = before
    assert said.startswith(f"run {new.id[:8]} left run {old[:8]} at work[1]; run {old[:8]} is as it was")
    assert f"%wfshow {new.id[:8]}" in said
    assert new.result == "ABAA"
    assert dict(counts(folder / "ledger")) == {"work 1": 1}
    assert views[-1].status == "done"
    assert len(stops) == 1
    assert new.header.extra["fork"]["at"] == "work[1]"
    assert new.cell == f"%%wfreplay {old[:8]} work[1] --continue\n# edited on the board: text"
    after = kept(folder)
    assert after[old] == before[old]
    assert open_run("batch", folder / "store").id == old


async def test_a_new_run_that_fails_says_so_on_its_board(recorded: Recorded) -> None:
    """The step's own error is for the new run's view; the sentence names the run."""
    _, run, _ = recorded
    views: list[RunView] = []
    going = Going(lambda make: None, views.append, lambda stop: None)
    said = await aside(run.go_on, "work", 2, {(0, "text"): "c"}, going)
    assert views[-1].status == "failed"
    assert views[-1].run_id[:8] in said


async def test_an_edit_that_cannot_be_made_starts_nothing(recorded: Recorded) -> None:
    """What does not fit is named by field, and no run is begun."""
    _, run, folder = recorded
    before = kept(folder)
    faults = await aside(run.misfits, "work", 1, {(0, "n"): "x", (0, "text"): "b"})
    assert faults == {(0, "n"): "n is not a number: 'x'"}
    with pytest.raises(UsageError):
        await aside(run.go_on, "work", 1, {(0, "n"): "x"}, NOBODY)
    assert kept(folder) == before


async def test_a_class_that_is_gone_leaves_the_record_to_look_at(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the classes there is no form, but a sentence that says which cell to run."""

    def gone(name: str, given: object = None) -> Any:
        raise MissingClassError("__main__", name)

    _, run, _ = recorded
    monkeypatch.setattr("jupyter_wfresume.session.again.instance_of", gone)
    sheet = await aside(run.sheet, "work", 1, 0)
    assert sheet.fields == ()
    assert sheet.refused.startswith("cannot find Batch: run the cell that defines it")
    assert ("raised", "ValueError: bad document") in sheet.page.facts


async def test_an_open_run_is_read_anew_and_a_closed_one_once(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Turning the pages of ten thousand executions does not read them each time."""
    read: list[str] = []
    real = Run.records.fget
    assert real is not None

    def counted(run: Run) -> Any:
        read.append(run.id)
        return real(run)

    monkeypatch.setattr(Run, "records", property(counted))
    _, run, folder = recorded
    for first in range(3):
        await aside(run.lines, "", "", first, 2)
    await aside(run.sheet, "work", 1, 0)
    assert len(read) == 1
    open_run("batch", folder / "store").skip("work", 1)
    read.clear()
    assert dict((await aside(run.lines, "", "", 0, 5)).statuses)["skipped"] == 1
