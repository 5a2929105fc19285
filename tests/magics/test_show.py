"""What ``%wfshow`` and the shell show of recorded runs."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest
from workflows import Context, Workflow, step
from workflows.events import Event, StartEvent, StopEvent
from workflows.retry_policy import retry_policy, stop_after_attempt, wait_fixed

from jupyter_wfresume import durable, open_run, runs
from jupyter_wfresume.cli import main
from jupyter_wfresume.session import list_runs, open_store
from jupyter_wfresume.show import ROWS, look_at, show_difference, show_executions, show_run

from .flows import Batch


@pytest.fixture
def store(store_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make this test's store the default one."""
    monkeypatch.setenv("JUPYTER_WFRESUME_STORE", str(store_dir))
    return store_dir


def record(name: str, workflow: Workflow, **start: Any) -> Any:
    """Run a workflow in the store; give its result, or the exception that it ended with."""

    async def run() -> Any:
        return await workflow.run(**start)

    try:
        with durable(name, board="none"):
            return asyncio.run(run())
    except Exception as error:  # noqa: BLE001  # what a workflow raises is what some of these tests look at
        return error


def lines_of(shown: object, word: str) -> list[str]:
    """Return the lines of what is shown that begin with a word."""
    return [line.strip() for line in repr(shown).splitlines() if line.strip().startswith(word)]


def test_a_run_is_shown_with_its_steps_facts_and_executions(store: Path, tmp_path: Path) -> None:
    """Steps, id, lives, the flow of events, and a line for each execution, in text and in HTML."""
    assert record("sum", Batch(tmp_path), size=4) == 6
    shown = show_run(open_run("sum"))
    assert lines_of(shown, "sum · Batch · ✓ done")
    assert lines_of(shown, "work   4 / 4")
    assert lines_of(shown, "flow") == ["flow      start → split · split → work 4 · work → join 4"]
    assert open_run("sum").id in repr(shown)
    assert len(lines_of(shown, "work[")) == 4
    assert lines_of(shown, "join[0]")[0].endswith("StopEvent(result=6)")
    html = shown._repr_html_()
    assert html.count('<div class="wfr-lane">') == 6
    assert "split → work 4" in html
    assert shown.value.id == open_run("sum").id


def test_failures_have_a_line_and_the_rest_is_counted(store: Path, tmp_path: Path) -> None:
    """Of many executions the failed one has a line in its step's order; those without a line are counted."""
    (tmp_path / "bad60").touch()
    assert isinstance(record("many", Batch(tmp_path), size=62), ValueError)
    shown = show_run(open_run("many"))
    table = repr(shown).partition("execution ")[2].splitlines()
    listed = [line.split()[0] for line in table[1 : ROWS + 1]]
    assert listed == ["split[0]", *(f"work[{n}]" for n in range(ROWS - 2)), "work[60]"]
    assert "ValueError: document 60 is bad" in table[ROWS]
    assert len([line for line in table if "[" in line]) == ROWS
    counted = int(table[ROWS + 1].split()[2])
    assert table[ROWS + 1] == f"… and {counted} more: {counted} done"
    assert counted + ROWS == len(open_run("many").executions)
    assert len(show_executions(open_run("many"), "work[failed]").value.input.model_dump()) == 1


def test_one_execution_is_shown_whole(store: Path, tmp_path: Path) -> None:
    """Input and output stand there in full, and a failure has its line of code."""
    (tmp_path / "bad2").touch()
    record("sum", Batch(tmp_path), size=4)
    shown = show_executions(open_run("sum"), "work[1]")
    assert lines_of(shown, "work[1] · run ")[0].count("✓ done") == 1
    assert lines_of(shown, "input") == ["input     Item(n=1)"]
    assert lines_of(shown, "output") == ["output    Done(n=1)"]
    failed = look_at("sum", "work[failed]")
    assert lines_of(failed, "raised") == ["raised    ValueError: document 2 is bad"]
    assert 'raise ValueError(f"document {ev.n} is bad")' in lines_of(failed, "at ")[0]
    assert "<pre>Item(n=2)</pre>" in failed._repr_html_()


class Numbers(Event):
    """A value without bounds."""

    text: str = ""
    more: dict[str, Any] = {}


class Tries(Workflow):
    """Fails once, writes into the state, and runs another workflow."""

    failed = 0

    @step(retry_policy=retry_policy(wait=wait_fixed(0), stop=stop_after_attempt(2)))
    async def first(self, ctx: Context, ev: StartEvent) -> Numbers:
        Tries.failed += 1
        if Tries.failed == 1:
            raise KeyError("not yet")
        await ctx.store.set("seen.how", 1)
        return Numbers(text="<b>a & b</b> " * 30, more={"x": math.nan})

    @step
    async def second(self, ev: Numbers) -> StopEvent:
        return StopEvent(result=await Inner(timeout=None).run())


class Inner(Workflow):
    """A workflow that a step runs."""

    @step
    async def only(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result="in")


def test_attempts_state_and_inner_runs_are_told(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A retried execution lists its attempts; what it wrote into the state and what it ran are named."""
    monkeypatch.setattr(Tries, "failed", 0)
    assert record("tries", Tries(timeout=None)) == "in"
    first, second = look_at("tries", "first[0]"), look_at("tries", "second[0]")
    assert "2 attempts" in repr(first)
    assert "raised KeyError: 'not yet'" in lines_of(first, "attempts")[0]
    assert lines_of(first, "state") == ["state     wrote seen"]
    (inner,) = [run for run in _all(store) if run.header.parent]
    assert lines_of(second, "ran") == [f"ran       {inner.name}, run {inner.id[:4]}, done"]
    assert lines_of(show_run(inner), "run by") == [f"run by    second[0]#0 of run {open_run('tries').id[:4]}"]
    assert "↳" in repr(look_at("tries"))


def _all(store: Path) -> list[Any]:
    return list_runs(open_store(str(store)), nested=True)


def test_what_a_value_holds_is_no_markup(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's text with tags in it is shown as text, long ones on several lines."""
    monkeypatch.setattr(Tries, "failed", 5)
    record("tries", Tries(timeout=None))
    for shown in (look_at("tries"), look_at("tries", "first[0]"), look_at("tries", "second")):
        assert "<b>a" not in shown._repr_html_()
    assert "&lt;b&gt;a &amp; b&lt;/b&gt;" in look_at("tries", "first[0]")._repr_html_()
    assert repr(look_at("tries", "first[0]")).count("<b>a & b</b>") == 30


def test_an_answered_execution_says_where_it_is_from(store: Path, tmp_path: Path) -> None:
    """An execution that was answered from another run names the run and the execution there."""
    record("sum", Batch(tmp_path), size=3)
    old = open_run("sum").id
    record("sum", Batch(tmp_path), size=4)
    assert open_run("sum").id != old
    assert lines_of(look_at("sum", "work[2]"), "reused")[0].startswith(
        f"reused    from work[2] of run {old[:4]}"
    )
    assert lines_of(look_at("sum", "work"), "work[2]")[0].split()[1:3] == ["↺", "reused"]


def test_the_difference_of_two_runs(store: Path, tmp_path: Path) -> None:
    """Executions that differ are listed with how; equal ones are not, and a step can be chosen."""
    record("sum", Batch(tmp_path), size=3)
    record("other", Batch(tmp_path), size=4)
    shown = look_at("sum", other="other")
    assert repr(shown).splitlines()[0].endswith(" · 2 differ, 1 in the second only")
    assert lines_of(shown, "work[") == ["work[3]  in the second only"]
    assert lines_of(shown, "~ result") == ["~ result: 3 → 6 (+3, +100 %)"]
    assert "+ 6" in shown._repr_html_()
    assert [pair.step for pair in look_at("sum", "join", other="other").value] == ["join"]
    run = open_run("sum")
    assert repr(show_difference(run, run)).endswith(" · no execution differs")


def test_without_the_classes_a_value_is_still_shown(store: Path, tmp_path: Path) -> None:
    """A shell that has none of the notebook's classes shows names and fields all the same."""
    record("sum", Batch(tmp_path), size=2)
    run = open_run("sum")
    records = [_renamed(one) for one in run.records]
    shown = show_executions(_Read(run, records), "work[1]")  # type: ignore[arg-type]  # a run for reading
    assert lines_of(shown, "input") == ["input     Gone(n=1)"]
    assert lines_of(show_executions(_Read(run, records), "split[0]"), "output")  # type: ignore[arg-type]  # as above


class _Read:
    """A run whose records are given."""

    def __init__(self, run: Any, records: list[Any]) -> None:
        self.records, self.store, self.header, self.id, self.name = (
            records,
            run.store,
            run.header,
            run.id,
            run.name,
        )
        self.left_out = run.left_out
        self.executions = run.executions
        self.execution = run.execution


def _renamed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_renamed(item) for item in value]
    return value.replace(":Item", ":Gone") if isinstance(value, str) else value


def test_the_shell_shows_the_same(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``jupyter wfresume show`` takes a run, an execution, another run; else it says one sentence."""
    record("sum", Batch(tmp_path), size=3)
    record("other", Batch(tmp_path), size=4)
    assert main(["show", "sum"]) == 0
    assert "work → join 3" in capsys.readouterr().out
    assert main(["show", "sum", "work[1]"]) == 0
    assert "Item(n=1)" in capsys.readouterr().out
    assert main(["show", "sum", "--diff", "other"]) == 0
    assert "1 in the second only" in capsys.readouterr().out
    assert main(["show", "sum", "work[7]"]) == 2
    assert capsys.readouterr().err == "jupyter wfresume: work[7]: there is no 7; recorded are 0 to 2\n"
    assert len(runs()) == 2
