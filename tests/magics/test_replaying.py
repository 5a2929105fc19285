"""``%wfreplay`` and ``%%wfreplay``: a recorded execution again, edited, several, and a new run from there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from IPython.core.error import UsageError as ShellUsageError
from IPython.core.interactiveshell import InteractiveShell

from jupyter_wfresume import migrate, open_run, runs
from jupyter_wfresume.replay import Replayed, Replays
from tests.counting import counts
from tests.kernels import Kernel, plain

from .conftest import RunCell
from .test_kernel import DEFINE, executed

RUN = "%%wfrun batch --board none\nawait Batch(timeout=None).run(size=6)"


@pytest.fixture
def cell(run_cell: RunCell, shell: InteractiveShell, work_dir: Path) -> Callable[[str], Any]:
    """Return what runs a cell and gives its value; a run of six items is on record."""

    def run(source: str) -> Any:
        result = run_cell(source)
        result.raise_error()
        return result.result

    run(DEFINE.partition("\n")[2])
    assert run(RUN) == 15
    (work_dir / "executed").unlink()
    return run


def kept(run_id: str) -> Any:
    """Return all that the store holds of a run, as bytes."""
    store = open_run(run_id).store
    return [data for name, data in store.runs() if name == run_id], [str(r) for r in open_run(run_id).records]


def test_one_execution_runs_again_alone(cell: Callable[[str], Any], work_dir: Path) -> None:
    """The value is the replay; only that execution ran, and the run is as it was."""
    before = kept(open_run("batch").id)
    done = cell("%wfreplay batch work[3]")
    assert isinstance(done, Replayed)
    assert done.differences == []
    assert "no difference" in repr(done)
    assert executed(work_dir) == [3]
    assert kept(open_run("batch").id) == before


def test_a_body_edits_a_copy_of_the_input(cell: Callable[[str], Any], shell: InteractiveShell) -> None:
    """``ev`` may be changed in place; the difference is shown, and a replay without edit has none."""
    done = cell("%%wfreplay batch work[3]\nev.n = 40")
    assert [event.n for event in done.input] == [40]
    assert "edited input" in repr(done)
    assert "~ n: 3 → 40" in repr(done)
    assert "+ 40" in done._repr_html_()
    assert cell("%wfreplay batch work[3]").differences == []


def test_a_body_may_await_and_assign_another_event(cell: Callable[[str], Any]) -> None:
    """The body is notebook code: ``await`` works, and what ``ev`` names at the end is the input."""
    done = cell("%%wfreplay batch work[3]\nimport asyncio\nev = await asyncio.sleep(0, Item(n=50))")
    assert done.new_output[0].n == 50


def test_a_fan_ins_list_is_called_events(cell: Callable[[str], Any]) -> None:
    """The list of a step that takes several events can be changed in place."""
    done = cell("%%wfreplay batch join[0]\nevents.pop()\nevents[0].n = 100")
    assert done.new_output[0].result == 110


def test_a_body_leaves_the_namespace_clean(cell: Callable[[str], Any], shell: InteractiveShell) -> None:
    """The user's own ``ev`` is out of sight meanwhile and back afterwards; other names are kept."""
    shell.user_ns["ev"] = "mine"
    cell("%%wfreplay batch join[0]\nseen = 'ev' in globals()\nev = 1")
    assert shell.user_ns["ev"] == "mine"
    assert shell.user_ns["seen"] is False
    assert "events" not in shell.user_ns


def test_a_body_that_raises_gives_the_names_back(
    run_cell: RunCell,
    cell: Callable[[str], Any],
    shell: InteractiveShell,
    work_dir: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The error is shown with the cell's own lines, nothing runs, and ``ev`` is gone."""
    result = run_cell("%%wfreplay batch work[3]\n\n1 / 0")
    shown = plain(capsys.readouterr().out)
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert ", line 3" in shown
    assert "jupyter_wfresume" not in shown
    assert not (work_dir / "executed").exists()
    assert "ev" not in shell.user_ns


def test_several_executions_are_a_table(cell: Callable[[str], Any], work_dir: Path) -> None:
    """``work[1,3:5]`` replays three, the body once for each, and the value is a list that shows a table."""
    found = cell("%%wfreplay batch work[1, 3:5]\nev.n += 10 * (ev.n == 3)")
    assert isinstance(found, Replays)
    assert [done.label for done in found] == ["work[1]", "work[3]", "work[4]"]
    lines = repr(found).splitlines()
    assert lines[2].split() == [
        "work[3]",
        *lines[2].split()[1:5],
        "~",
        "n:",
        "3",
        "→",
        "13",
        "(+10,",
        "+333",
        "%)",
    ]
    assert lines[-1] == "3 replayed alone, nothing was written: 2 as recorded, 1 otherwise"
    assert executed(work_dir) == [1, 4, 13]


def test_what_cannot_be_replayed_has_its_line(cell: Callable[[str], Any]) -> None:
    """One execution that an edit does not fit costs the others nothing."""
    found = cell("%%wfreplay batch work[1:3]\nif ev.n == 1:\n    ev = 7")
    assert [done.label for done in found] == ["work[2]"]
    assert "work[1]: work[1] cannot be edited with a int" in repr(found)
    assert "work[1] cannot be edited" in found._repr_html_()


def test_a_recorded_failure_is_replayed_with_todays_code(
    cell: Callable[[str], Any], run_cell: RunCell, work_dir: Path
) -> None:
    """A failure fails again with the user's line, and mended it says that it does not fail now."""
    (work_dir / "bad2").touch()
    run_cell("%%wfrun bad --board none\nawait Batch(timeout=None).run(size=4, more=1)")
    done = cell("%wfreplay bad work[failed]")
    assert 'raise ValueError(f"document {ev.n} is bad")' in repr(done)
    assert "site-packages" not in repr(done)
    (work_dir / "bad2").unlink()
    mended = cell("%wfreplay bad work[failed]")
    assert "it had failed, and does not now" in repr(mended)
    assert "raised ValueError: document 2 is bad" in mended._repr_html_()


def test_a_step_that_raises_now_is_no_error_of_the_cell(cell: Callable[[str], Any], work_dir: Path) -> None:
    """The cell ends well, and shows what was raised beside what is on record."""
    (work_dir / "bad3").touch()
    done = cell("%wfreplay batch work[3]")
    assert "it raises now" in repr(done)
    assert "raised ValueError: document 3 is bad" in repr(done)
    assert "Done(n=3)" in repr(done)


def test_in_the_midst_of_a_cell_it_is_shown_too(
    cell: Callable[[str], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """A line that is not the last is displayed, one in a loop each time, an assigned one not at all."""
    capsys.readouterr()
    found = cell(
        "for n in range(2):\n    %wfreplay batch work[{n}]\nkept = %wfreplay batch work[2]\n"
        "%wfshow batch work[4]\nkept.label"
    )
    shown = capsys.readouterr().out
    assert found == "work[2]"
    times = {label: shown.count(f"{label} · ") for label in ("work[0]", "work[1]", "work[2]", "work[4]")}
    assert times == {"work[0]": 1, "work[1]": 1, "work[2]": 0, "work[4]": 1}


def test_continue_is_a_new_run_from_there(
    cell: Callable[[str], Any], work_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The edited execution and the join run, all else is reused; the old run is unchanged byte for byte."""
    old = open_run("batch").id
    before = kept(old)
    capsys.readouterr()
    assert cell("%%wfreplay batch work[3] --continue --board none\nev.n = 40") == 52
    said = capsys.readouterr().out
    assert executed(work_dir) == [40]
    assert kept(old) == before
    new = runs()[0]
    assert new.id != old
    assert f"(leaves run {old[:4]} at work[3])" in said
    assert "work   5 reused, 1 to run (the fork)" in said
    assert f"run {new.id[:8]} left run {old[:8]} at work[3]; run {old[:8]} is as it was" in said
    assert f"left run {old[:8]} at work[3]" in repr(runs())


def test_a_fork_is_not_the_names_latest_and_answers_no_cell(
    cell: Callable[[str], Any], work_dir: Path
) -> None:
    """NAME still means the run that a cell made, and that cell gets its own result."""
    old = open_run("batch").id
    cell("%%wfreplay batch work[3] --continue --board none\nev.n = 40")
    assert open_run("batch").id == old
    assert cell(RUN) == 15
    assert executed(work_dir) == [40]


def test_a_fork_that_fails_shows_the_users_lines_and_how_to_go_on(
    run_cell: RunCell, cell: Callable[[str], Any], work_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a step raises in the new run ends the cell with the user's traceback and one sentence."""
    (work_dir / "bad3").touch()
    capsys.readouterr()
    result = run_cell("%wfreplay batch work[3] --continue --board none")
    shown = plain(capsys.readouterr().out)
    assert isinstance(result.error_in_exec, ValueError)
    assert "jupyter_wfresume" not in shown
    assert "work[3] failed at " in shown.splitlines()[-1]
    (work_dir / "bad3").unlink()
    assert cell("%wfreplay batch work[3] --continue --board none") == 15


def test_a_fork_is_resumed_by_its_own_cell(
    cell: Callable[[str], Any], run_cell: RunCell, work_dir: Path
) -> None:
    """``%wfresume`` of a fork goes on with it, whatever its name means by now; nothing runs twice."""
    left = open_run("batch").id
    fork = "%%wfreplay batch work[3] --continue --board none\nev.n = 40"
    trap = work_dir / "bad40"
    trap.touch()
    assert run_cell(fork).error_in_exec is not None
    failed = runs("batch")[0]
    assert (failed.status, executed(work_dir)) == ("failed", [40])
    assert cell("%%wfrun batch --board none\nawait Batch(timeout=None).run(size=2)") == 1
    trap.unlink()
    (work_dir / "executed").unlink()
    cell(f"%wfresume {failed.id} --board none")
    assert (open_run(failed.id).status, open_run(failed.id).result) == ("done", 52)
    assert executed(work_dir) == [40]
    # Once more: done is done, and only its cell makes another one.
    cell(f"%wfresume {failed.id} --board none")
    assert executed(work_dir) == [40]
    assert cell(fork.replace("batch", left)) == 52
    assert runs("batch")[0].id != failed.id


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("%wfreplay", "%wfreplay needs RUN and STEP[N], as in %wfreplay enrich work[17]"),
        (
            "%wfreplay batch",
            "needs STEP[N] behind the run, as in work[17]; recorded steps: join, split, work",
        ),
        ("%wfreplay nobody work[1]", "no run 'nobody' in .wfresume; known names: batch"),
        ("%wfreplay batch wrk[1]", "no step 'wrk' in this run; recorded steps: join, split, work"),
        ("%wfreplay batch work[9]", "work[9]: there is no 9; recorded are 0 to 5"),
        ("%wfreplay batch work[failed]", "work[failed]: none of its executions is failed"),
        ("%wfreplay batch work]1", "names no execution: write work[17]"),
        ("%wfreplay a b c", "%wfreplay takes RUN and STEP[N], but got 'a' and 'b' and 'c'"),
        ("%wfreplay batch work[1] --edit", "%wfreplay has no option --edit; it has --continue"),
        ("%wfreplay batch work[1,2] --continue", "goes on from one execution, and work[1,2] names 2"),
        ("%%wfreplay batch work[1]\nev = Done(n=1)", "work does not take a Done; it takes Item"),
        ("%%wfreplay batch work[1]\ndel ev", "the cell has deleted ev, the input of work[1]"),
        ("%%wfreplay batch work[1] --continue\nev = Done(n=1)", "has to keep its events' classes and number"),
        ("%%time\n%%wfreplay batch work[1]\nev", "%%time cannot wrap %%wfreplay"),
        ("%%wfrun\n%wfreplay batch work[1]", "%wfreplay stands alone on its line"),
        ("%wfshow", "%wfshow needs a RUN"),
        ("%wfshow nobody", "no run 'nobody'"),
        ("%wfshow batch work[9]", "there is no 9"),
        ("%wfshow batch --diff", "%wfshow: --diff needs a value: --diff OTHER"),
        ("%wfshow batch --diff nobody", "no run 'nobody'"),
    ],
)
def test_misuse_is_one_sentence(
    source: str,
    sentence: str,
    run_cell: RunCell,
    cell: Callable[[str], Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What is not on record or does not fit is named without a traceback."""
    result = run_cell(source)
    assert isinstance(result.error_in_exec, ShellUsageError)
    assert sentence in str(result.error_in_exec)
    assert "Traceback" not in plain(capsys.readouterr().out)


def test_a_cell_without_a_body_replays_the_recorded_input(cell: Callable[[str], Any]) -> None:
    """A body of comments edits nothing."""
    done = cell("%%wfreplay batch work[1]\n# ev.n = 2")
    assert (done.edited, done.differences) == (False, [])


def test_help_says_what_a_body_may_do(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    """``?`` shows the syntax of the line and of the cell."""
    shell.run_cell("%wfreplay?")
    shell.run_cell("%wfshow?")
    shown = plain(capsys.readouterr().out)
    assert "%%wfreplay RUN STEP[N] [--continue]" in shown
    assert "%wfshow RUN [STEP[N]] [--diff OTHER]" in shown


def test_in_a_kernel_it_runs_on_the_kernels_loop_and_is_drawn_once(tmp_path: Path) -> None:
    """An object bound to the notebook's loop works in a replay; the output is one Out with text and HTML."""
    define = DEFINE.replace(
        "        while os", "        async with gate:\n            pass\n        while os"
    )
    with Kernel(tmp_path) as kernel:
        kernel.run(define)
        kernel.run("gate = asyncio.Condition()\nasync with gate:\n    gate.notify_all()")
        assert kernel.run("%%wfrun batch\nawait Batch(timeout=None).run(size=3)").status == "ok"
        shown = kernel.run("%%wfreplay batch work[2]\nev.n = 5")
        assert shown.status == "ok", shown.text
        assert shown.displays == []
        assert shown.stdout == ""
        assert shown.result is not None
        assert {"text/plain", "text/html"} == set(shown.result)
        (tmp_path / "hold2").touch()
        pending = kernel.start("%wfreplay batch work[2]")
        kernel.wait_for(lambda: counts(tmp_path / "executed")["2"] == 2, pending)
        kernel.interrupt()
        assert pending.wait().text.strip() == "the replay of work[2] was interrupted; nothing was written"
        forked = kernel.run("%%wfreplay batch work[2] --continue\nev.n = 5")
        assert forked.result == {"text/plain": "6"}
        assert len(forked.displays) == 1
        kernel.restart()
        kernel.run("%load_ext jupyter_wfresume")
        shown = kernel.run("%wfreplay batch work[2]")
        assert (shown.status, shown.ename) == ("error", "UsageError")
        assert shown.evalue.startswith("cannot find Batch: run the cell that defines it")
        shown = kernel.run("%wfshow batch work[2]")
        assert "Item(n=2)" in shown.text
    assert counts(tmp_path / "executed") == {"0": 1, "1": 1, "2": 2, "5": 2}


@pytest.mark.parametrize("option", ["", " --continue --board none"])
@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("ev = None", "the cell has set ev to None"),
        ("ev.n = 'many'", "work[3]: Item.n cannot be 'many': Input should be a valid integer"),
        ("ev.m = 4", "work[3]: Item has no field 'm'; its fields are n"),
    ],
)
def test_a_wrong_edit_is_refused_before_anything_runs(
    cell: Callable[[str], Any], option: str, body: str, sentence: str, work_dir: Path
) -> None:
    """A body that takes the input away, misspells a field or sets it to what it cannot be costs nothing."""
    before = len(runs())
    with pytest.raises(ShellUsageError) as refused:
        cell(f"%%wfreplay batch work[3]{option}\n{body}")
    assert sentence in str(refused.value)
    assert not (work_dir / "executed").exists()
    assert len(runs()) == before


@pytest.mark.parametrize("option", ["", " --continue --board none"])
def test_an_input_that_no_longer_fits_its_class(
    cell: Callable[[str], Any], shell: InteractiveShell, option: str, work_dir: Path
) -> None:
    """It is refused before the step starts, and shown with the fields that its class no longer has."""
    define = DEFINE.partition("\n")[2]
    cell(define.replace("class Item(Event):\n    n: int", "class Item(Event):\n    m: int"))
    with pytest.raises(ShellUsageError) as refused:
        cell(f"%wfreplay batch work[3]{option}")
    assert "its input Item does not fit the class as it is now (it has no 'm')" in str(refused.value)
    assert "Item(n=3)" in repr(cell("%wfshow batch work[3]"))
    assert not (work_dir / "executed").exists()


def test_a_whole_input_or_a_migration_makes_it_fit(cell: Callable[[str], Any], work_dir: Path) -> None:
    """What the cell gives in the input's place, and what a registered function makes of it, is replayed."""
    define = DEFINE.partition("\n")[2]
    cell(define.replace("class Item(Event):\n    n: int", "class Item(Event):\n    n: int\n    k: str"))
    with pytest.raises(ShellUsageError, match="it has no 'k'"):
        cell("%%wfreplay batch work[3]\nev.n = 4")
    assert cell("%%wfreplay batch work[3]\nev = Item(n=40, k='')").new_output[0].n == 40
    assert cell("%%wfreplay batch work[3]\nev.k = 'x'").input[0].k == "x"
    migrate("Item")(lambda fields: {**fields, "k": "made"})
    try:
        assert cell("%wfreplay batch work[3]").input[0].k == "made"
    finally:
        migrate.forget()
    assert executed(work_dir) == [3, 3, 40]


def test_several_in_a_real_kernel(tmp_path: Path) -> None:
    """Several replays run beside each other; those that had ended are shown when an interrupt comes."""
    with Kernel(tmp_path) as kernel:
        kernel.run(DEFINE)
        assert kernel.run("%%wfrun batch\nawait Batch(timeout=None).run(size=6)").status == "ok"
        for number in (2, 3):
            (tmp_path / f"hold{number}").touch()
        pending = kernel.start("%wfreplay batch work")
        # Two at once, as the step says: both are held, so what stands behind them waits.
        kernel.wait_for(lambda: all(counts(tmp_path / "executed")[n] == 2 for n in "0123"), pending)
        kernel.interrupt()
        ended = pending.wait()
        assert "interrupted: 2 of 6 were replayed, as shown above; nothing was written" in ended.text
        (table,) = ended.displays
        assert "2 replayed alone" in str(table.data["text/plain"])
        for number in (2, 3):
            (tmp_path / f"hold{number}").unlink()
        shown = kernel.run("%wfreplay batch work")
        assert shown.result is not None
        assert "6 replayed alone, nothing was written: 6 as recorded" in shown.result["text/plain"]
    assert counts(tmp_path / "executed") == {"0": 3, "1": 3, "2": 3, "3": 3, "4": 2, "5": 2}
