"""``%wfskip``: what is typed, what it says, and TAB."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.error import UsageError as ShellUsageError
from IPython.core.interactiveshell import InteractiveShell
from workflows import Workflow, step
from workflows.events import StartEvent, StopEvent

from jupyter_wfresume import durable, open_run
from tests.resume.workflows import Done, Item

N = 6
BAD = {1, 4}


class Enrich(Workflow):
    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(i=i) for i in range(N)]

    @step(num_workers=2)
    async def work(self, ev: Item) -> Done:
        if ev.i in BAD:
            raise ValueError("bad document")
        return Done(i=ev.i)

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        return StopEvent(result=sorted(d.i for d in ev))


@pytest.fixture(autouse=True)
def _here(work_dir: Path) -> None:
    """Put the store into the test's own folder."""


async def live() -> Any:
    """One life that keeps going: its result, or None where it has failed."""
    try:
        async with durable("enrich", keep_going=True, board="none"):
            return await Enrich(timeout=None).run()
    except ValueError:
        return None


async def test_one_is_left_out_and_the_next_move_is_said(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says what it did, what to do, and what is in the way; with the last one, what the join gets."""
    await live()
    capsys.readouterr()
    go_on = f"run its cell again to go on, or %wfresume {open_run('enrich').id[:8]}"
    shell.run_line_magic("wfskip", "enrich work[4]")
    said = capsys.readouterr().out
    assert said == f"work[4] is left out: {go_on}; 1 more of work has failed and runs again then\n"
    shell.run_line_magic("wfskip", "enrich work[failed]")
    assert capsys.readouterr().out == f"work[1] is left out: {go_on}; `join` then gets 4 of 6\n"
    assert await live() == [0, 2, 3, 5]


async def test_several_at_once_and_back(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    """Selectors are those of %wfreplay, a second time changes nothing, and --undo takes it back."""
    await live()
    for line in ("enrich work[1,4]", "enrich work[1, 4:5]", "enrich work[skipped]"):
        capsys.readouterr()
        shell.run_line_magic("wfskip", line)
        assert capsys.readouterr().out.startswith("work[1], work[4] are left out: ")
    shell.run_line_magic("wfskip", "enrich work[skipped] --undo")
    assert capsys.readouterr().out == "work[1], work[4] taken back: they run again when the run goes on\n"
    assert [one.status for one in open_run("enrich").executions].count("failed") == 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", r"%wfskip needs RUN and STEP\[N\], as in %wfskip enrich work\[37\]; %wfruns lists runs"),
        ("enrich", r"%wfskip needs STEP\[N\] behind the run, as in work\[37\]; failed: work\[1\], work\[4\]"),
        ("nothing work[1]", "no run 'nothing'"),
        ("enrich wrk[1]", "no step 'wrk' in this run; recorded steps: split, work"),
        ("enrich work[9]", "there is no 9; recorded are 0 to 5"),
        ("enrich work", r"work\[0\] has not failed: only a failed execution can be left out"),
        ("enrich work[0,1]", r"work\[0\] has not failed"),
        ("enrich split[failed]", "none of its executions is failed"),
        ("enrich work[1] work[4]", r"takes RUN and STEP\[N\], but got"),
        ("enrich work[1] --und", r"has no option --und; did you mean --undo"),
        ("enrich work[1] --undo", r"work\[1\] is not left out: there is nothing to take back"),
    ],
)
async def test_bad_input_is_one_sentence(shell: InteractiveShell, line: str, said: str) -> None:
    """What is missing or wrong is named, with the way to write it, and nothing is left out."""
    await live()
    with pytest.raises(ShellUsageError, match=said):
        shell.run_line_magic("wfskip", line)
    assert open_run("enrich").left_out == {}


def offered(shell: InteractiveShell, text: str) -> list[str]:
    """What TAB offers at the bar."""
    at = text.index("|")
    with provisionalcompleter():
        return [one.text for one in shell.Completer.completions(text.replace("|", ""), at)]


async def test_tab_offers_runs_steps_and_what_failed(shell: InteractiveShell) -> None:
    """The name, then the steps, then failed executions first."""
    await live()
    assert offered(shell, "%wfskip enr|") == ["enrich"]
    assert offered(shell, "%wfskip enrich wo|") == ["work[failed]", "work[1]", "work[4]"]
    assert offered(shell, "%wfskip enrich work[|")[:3] == ["work[failed]", "work[1]", "work[4]"]
    assert offered(shell, "%wfskip enrich --|") == ["--undo", "--store"]


def test_help_says_what_it_is_for(shell: InteractiveShell) -> None:
    """``%wfskip?`` has the usage and an example."""
    text = shell.find_line_magic("wfskip").__doc__ or ""
    assert "%wfskip RUN STEP[N] [--undo] [--store DIR]" in text
    assert "%wfskip enrich work[37]" in text
    assert text.startswith("Leave a failed execution out, for this run;")


async def test_what_is_no_number_is_told_with_the_words_that_fit(shell: InteractiveShell) -> None:
    """The statuses stand in the sentence as words."""
    await live()
    with pytest.raises(ShellUsageError) as refused:
        shell.run_line_magic("wfskip", "enrich work[a]")
    assert str(refused.value).endswith("and none of done, failed, waiting, skipped")
