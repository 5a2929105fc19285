"""What a run has cost over all its lives, and what resume and reuse saved."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest
from workflows import Workflow, step
from workflows.events import StartEvent, StopEvent
from workflows.retry_policy import retry_policy, stop_after_attempt, wait_fixed

from jupyter_wfresume import open_run, runs
from jupyter_wfresume.board import block
from jupyter_wfresume.durable import view_of
from jupyter_wfresume.records import Cost, Saved
from jupyter_wfresume.session.costs import costs_of
from jupyter_wfresume.session.runs import headers_of
from jupyter_wfresume.show import look_at
from tests.resume.lives import _DRIVER, Life, live, put_back, ran, records_of
from tests.resume.workflows import Done, Item

N = 4
# Context variables, so that the step's code is the same in each life.
_BAD: ContextVar[bool] = ContextVar("bad", default=False)
_HELD: ContextVar[bool] = ContextVar("held", default=False)


@pytest.fixture
def bad() -> Iterator[None]:
    """One of four documents is bad."""
    token = _BAD.set(True)
    yield
    _BAD.reset(token)


class Enrich(Workflow):
    note = ""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        ran("split")
        return [Item(i=i) for i in range(N)]

    @step(num_workers=2, retry_policy=retry_policy(wait=wait_fixed(0), stop=stop_after_attempt(3)))
    async def work(self, ev: Item) -> Done:
        ran(f"work {ev.i}")
        if ev.i == 1 and _BAD.get():
            raise ValueError("bad document")
        if ev.i == 3 and _HELD.get():
            await asyncio.Event().wait()
        return Done(i=ev.i)

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        ran("join")
        return StopEvent(result=len(ev))


def body(note: str = "") -> Any:
    """Four documents."""
    flow = Enrich(timeout=None)
    flow.note = note
    return flow.run()


async def life(store: Path, note: str = "", **options: Any) -> Life:
    """One life that keeps going."""
    return await live(store, lambda: body(note), keep_going=True, **options)


def cost(store: Path) -> Cost:
    """The latest run's."""
    return open_run("Enrich", str(store)).cost


async def test_attempts_and_time_are_summed_over_lives(tmp_path: Path, bad: None) -> None:
    """Failed attempts count as good ones do, in each life, and the time is that of all records."""
    store = tmp_path / "s"
    await life(store)
    first = cost(store)
    assert (first.lives, first.attempts) == (1, 1 + 3 + 3)
    assert first.saved_by_resume == Saved()
    _BAD.set(False)
    await life(store)
    second = cost(store)
    assert (second.lives, second.attempts) == (2, first.attempts + 1 + 1)
    steps = {one.step: (one.executions, one.attempts, one.failures) for one in second.steps}
    assert steps == {"split": (1, 1, 0), "work": (4, 7, 3), "join": (1, 1, 0)}
    run = open_run("Enrich", str(store))
    assert second.time_s == pytest.approx(sum(r["d"] for r in run.records if r["k"] in "RF"), abs=1e-6)
    assert second.alive_s == run.header.elapsed_s > first.alive_s > 0
    assert second.saved_by_resume.executions == 1 + 3
    assert second.saved_by_reuse == Saved()


async def test_what_is_saved_is_counted_once(tmp_path: Path, bad: None) -> None:
    """However often a run is taken up, what it had finished counts as saved one time."""
    store = tmp_path / "s"
    for _ in range(4):
        await life(store)
    assert (cost(store).lives, cost(store).saved_by_resume.executions) == (4, 1 + 3)


async def test_reuse_is_told_from_resume(tmp_path: Path) -> None:
    """Another call is answered from the first: it costs no attempt, and saves what that had cost."""
    store = tmp_path / "s"
    await life(store)
    made = cost(store)
    again = await life(store, "another call")
    assert dict(again.ran) == {}
    answered = cost(store)
    assert (answered.attempts, answered.time_s) == (0, 0)
    assert answered.saved_by_resume == Saved()
    assert answered.saved_by_reuse.executions == made.attempts == N + 2
    assert answered.saved_by_reuse.time_s == pytest.approx(made.time_s, abs=1e-6)


async def test_the_board_says_the_same(tmp_path: Path, bad: None) -> None:
    """What the board counts as saved is what the account says: by resume, by reuse, and by both."""
    store = tmp_path / "s"
    for note, before, bad_now in (
        ("", 0, True),
        ("", 4, True),
        ("another call", 4, True),
        ("another call", 4, False),
    ):
        _BAD.set(bad_now)
        view = (await life(store, note)).views[-1]
        resumed, reused = cost(store).saved_by_resume, cost(store).saved_by_reuse
        assert view.reused_executions == reused.executions == sum(step.reused for step in view.steps)
        assert view.saved_executions == resumed.executions + reused.executions == before
        assert view.saved_executions == sum(step.restored for step in view.steps)
        assert view.saved_s == pytest.approx(resumed.time_s + reused.time_s, abs=1e-6)
        word = "" if not before else "saved by reuse" if reused.executions else "saved by resume"
        assert word in block(view)
        assert word in block(view_of(open_run("Enrich", str(store))))


async def test_the_line_names_what_it_counts(tmp_path: Path, bad: None) -> None:
    """Three of four documents are not the four executions that are restored: the step is named."""
    store = tmp_path / "s"
    await life(store)
    again = await life(store)
    assert "at 3 of 4 executions of work;" in again.told[0]
    assert again.views[-1].headline.startswith("resumed at 3 of 4 executions of work · ")


async def test_the_header_keeps_the_same_sums(tmp_path: Path, bad: None) -> None:
    """What a list of runs shows is what the records say, without reading them."""
    store = tmp_path / "s"
    await life(store)
    _BAD.set(False)
    await life(store)
    await life(store, "another call")
    for run in runs(store=store):
        listed = costs_of(headers_of(run.store.runs(), run.store))(run.header)
        own = run.cost
        assert listed == Cost(**{**vars(own), "steps": ()})
    table = repr(runs(store=store)).splitlines()
    assert table[0].split() == [
        *("id", "name", "status", "progress", "step", "time", "attempts", "lives", "saved", "age", "size")
    ]


async def test_a_header_without_sums_is_read(tmp_path: Path) -> None:
    """A store of an earlier version has none; it lists, and the records still tell."""
    store = tmp_path / "s"
    await life(store)
    run = open_run("Enrich", str(store))
    del run.header.extra["cost"]
    assert costs_of([run.header])(run.header).attempts == 0
    assert run.cost.attempts == N + 2


async def test_what_a_stop_cuts_off_is_counted(tmp_path: Path) -> None:
    """An execution that was cancelled has cost its time: the life's end says so, and later lives keep it."""
    store = tmp_path / "s"
    token = _HELD.set(True)

    async def stopped() -> None:
        handler = body()
        while not any(e.step == "work" and e.index == 2 for e in executions()):  # noqa: ASYNC110  # the store is no event
            await asyncio.sleep(0.02)
        for _ in range(2):
            _DRIVER.get().request_stop()
        await handler

    def executions() -> list[Any]:
        found = runs(store=store)
        return found[0].executions if found else []

    await live(store, stopped, keep_going=True)
    _HELD.reset(token)
    cut = cost(store).cut_off
    assert (cut.executions, cost(store).attempts) == (1, 1 + 3 + 1)
    assert cut.time_s > 0
    await life(store)
    assert cost(store).cut_off == cut
    assert cost(store).attempts == 1 + 3 + 1 + 1 + 1


async def test_the_sums_are_right_after_any_kill(tmp_path: Path, bad: None) -> None:
    """Cut off after any fourth write, the next life's sums are those of all records, header and all."""
    first = await life(tmp_path / "s")
    _BAD.set(False)
    for end in range(4, len(first.writes), 4):
        store = tmp_path / f"cut{end}"
        put_back(store, first.writes[:end])
        await life(store)
        run = open_run("Enrich", str(store))
        executed = [r for r in records_of(store, run.id) if r["k"] in "RF"]
        listed = costs_of([run.header])(run.header)
        assert listed.attempts == run.cost.attempts == len(executed)
        assert listed.time_s == pytest.approx(sum(r["d"] for r in executed), abs=1e-6)
        lives = [number for number, r in enumerate(run.records) if r["k"] == "L"]
        earlier = {
            (r["s"], r["i"]) for r in run.records[: lives[-1]] if r["k"] == "R" and r["r"][0][0] == "r"
        }
        assert listed.saved_by_resume.executions == len(earlier)


async def test_a_run_shows_its_account(tmp_path: Path, bad: None) -> None:
    """%wfshow says attempts, lives and time, what was saved, and the same by step."""
    store = tmp_path / "s"
    await life(store)
    _BAD.set(False)
    await life(store)
    shown = repr(look_at("Enrich", store=str(store))).splitlines()
    assert any(line.split()[:6] == ["cost", "9", "attempts", "in", "2", "lives,"] for line in shown)
    assert any(line.split()[:4] == ["resume", "saved", "4", "executions,"] for line in shown)
    head = next(number for number, line in enumerate(shown) if line.startswith("step "))
    assert shown[head].split() == ["step", "executed", "attempts", "failed", "step", "time", "saved"]
    assert shown[head + 2].split()[:4] == ["work", "4", "7", "3"]
    page = look_at("Enrich", store=str(store))._repr_html_()
    assert '<td>work</td><td class="wfr-num">4</td><td class="wfr-num">7</td>' in page


async def test_a_frame_has_the_costs(tmp_path: Path) -> None:
    """Seconds and counts are numbers there."""
    store = tmp_path / "s"
    await life(store)
    await life(store, "another call")
    frame = runs(store=store).to_frame()
    assert list(frame["attempts"]) == [0, N + 2]
    assert list(frame["reused"]) == [N + 2, 0]
    assert {"time_s", "alive_s", "lives", "total_tokens", "resumed_s", "reused_s"} <= set(frame.columns)
