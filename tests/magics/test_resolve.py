"""``%wfresolve``: a person's word on a side effect, typed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.error import UsageError as ShellUsageError
from IPython.core.interactiveshell import InteractiveShell

from jupyter_wfresume import open_run
from jupyter_wfresume.effects import Doubt
from jupyter_wfresume.errors import UsageError
from jupyter_wfresume.magics.resolve import Word, read, value_of
from tests.effects.shops import Shop, World, cut, live


async def in_doubt(store: Path, *keys: Any, name: str = "shop") -> None:
    """Leave a run with side effects whose outcome nobody knows."""
    for key in keys:
        await live(store, World(cut), lambda key=key: Shop(timeout=None).run(orders=[key]), name=name)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("shop charge[81] retry", Word("shop", "charge[81]", "retry")),
        ("shop charge[81] done ch_1", Word("shop", "charge[81]", "done", "ch_1")),
        (
            "shop charge[81] done {'id': 3, 'b': \"x\"} ",
            Word("shop", "charge[81]", "done", "{'id': 3, 'b': \"x\"}"),
        ),
        ("shop charge[order 81 -b] undone", Word("shop", "charge[order 81 -b]", "undone")),
        ("'my shop' \"charge[it's 81]\" retry", Word("my shop", "charge[it's 81]", "retry")),
        ("--store here shop charge[a[1]] retry", Word("shop", "charge[a[1]]", "retry", "", "here")),
        ("shop charge[81] retry --store=here", Word("shop", "charge[81]", "retry", "", "here")),
        (
            "shop charge[81] --store here done --store x",
            Word("shop", "charge[81]", "done", "--store x", "here"),
        ),
        ("shop", Word("shop")),
    ],
)
def test_a_line_is_read(line: str, word: Word) -> None:
    """Keys with blanks and quotes are read, and all behind ``done`` is the receipt as it stands."""
    assert read(line) == word


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "needs a run"),
        ("shop charge[81]", r"needs a decision behind charge\[81\]"),
        ("shop charge[81] done", "done needs the receipt"),
        ("shop charge[81] retri", "not 'retri'; did you mean retry"),
        ("shop charge retry", r"EFFECT\[KEY\], as in charge\[81\], not 'charge'"),
        ("shop charge[81] retry now", "nothing stands behind retry, but got 'now'"),
        ("shop --stor x charge[81] retry", "has no option --stor; did you mean --store"),
        ("shop charge[81] retry --store", "needs a value"),
        ('shop "charge[81] retry', "a quote is not closed"),
    ],
)
def test_a_line_that_does_not_fit_is_named(line: str, said: str) -> None:
    """Each slip gets one sentence that says how to write it."""
    with pytest.raises(UsageError, match=said):
        read(line)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ch_1", "ch_1"),
        ("17", 17),
        ('"0017"', "0017"),
        ("{'a': (1, 2)}", {"a": (1, 2)}),
        ('{"paid": true, "by": null}', {"paid": True, "by": None}),
        ("None", None),
        ("two words", "two words"),
    ],
)
def test_a_receipt_is_a_value_or_a_text(text: str, value: object) -> None:
    """Python and JSON values are read; anything else is the text itself, and nothing is evaluated."""
    assert value_of(text) == value


async def test_the_command_that_the_sentence_shows_works(
    shell: InteractiveShell, store_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a stopped run tells the user to type is what settles it, braces and dollars left as they are."""
    key = "it's order {81}"
    await in_doubt(store_dir, key, name="my shop")
    here = World()
    life = await live(store_dir, here, lambda: Shop(timeout=None).run(orders=[key]), name="my shop")
    assert isinstance(life.error, Doubt)
    command = life.error.sentence.partition("`%wfresolve ")[2].partition(" done RECEIPT")[0]
    shell.user_ns["x"] = "expanded"
    shell.run_line_magic("wfresolve", f'--store {store_dir} {command} done {{"id": "$x {{x}}"}}')
    said = capsys.readouterr().out
    receipt = {"id": "$x {x}"}
    assert said == f"charge[{key}] is done, with the receipt {receipt}: run the cell again to go on\n"
    last = await live(store_dir, here, lambda: Shop(timeout=None).run(orders=[key]), name="my shop")
    assert last.result == [(key, receipt)]
    assert not here.calls


async def test_with_a_run_alone_the_effects_are_listed(
    shell: InteractiveShell, store_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those that wait for a person come first."""
    await in_doubt(store_dir, 1)
    await live(store_dir, World(), lambda: Shop(timeout=None).run(orders=[20]))
    shell.run_line_magic("wfresolve", f"shop --store {store_dir}")
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("charge[1]   begun at ")
    assert first.endswith("outcome unknown")
    assert second.startswith("charge[20]  done at ")
    assert second.endswith(": 'ch_20'")


async def test_each_decision_says_what_follows(
    shell: InteractiveShell, store_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The answer names the next move."""
    await in_doubt(store_dir, 1)
    shell.run_line_magic("wfresolve", f"shop charge[1] undone --store {store_dir}")
    assert capsys.readouterr().out.startswith("charge[1] is undone: a step that asks for it again stops")
    shell.run_line_magic("wfresolve", f"shop charge[1] retry --store {store_dir}")
    assert capsys.readouterr().out.startswith("charge[1] is done again when a step next asks for it")
    assert open_run("shop", store_dir).effects[0].state == "retry"


async def test_for_a_finished_run_the_next_move_is_another_one(
    shell: InteractiveShell, store_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its cell gives the recorded result, so that only another run asks again."""
    await live(store_dir, World(), lambda: Shop(timeout=None).run(orders=[1]))
    again = "shop is finished, and its cell asks again only with --fresh, or with a changed input\n"
    for decision, said in (
        ("undone", again),
        ("retry", again),
        ("done ch_2", "receipt 'ch_2': shop is finished, so that nothing more is needed\n"),
    ):
        shell.run_line_magic("wfresolve", f"--store {store_dir} shop charge[1] {decision}")
        assert capsys.readouterr().out.endswith(said)


async def test_effects_that_look_alike_are_listed_by_what_tells_them_apart(
    shell: InteractiveShell, store_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each line begins with what a decision takes."""
    await live(store_dir, World(), lambda: Shop(timeout=None).run(orders=[1]))
    await live(store_dir, World(), lambda: Shop(timeout=None).run(orders=["1"]))
    shell.run_line_magic("wfresolve", f"shop --store {store_dir}")
    lines = capsys.readouterr().out.splitlines()
    assert all(" charge[1] done at " in line for line in lines)
    for line in lines:
        shell.run_line_magic("wfresolve", f"--store {store_dir} shop {line.split()[0]} retry")
    assert [entry.state for entry in open_run("shop", store_dir).effects] == ["retry", "retry"]


async def test_a_wrong_effect_is_one_sentence(shell: InteractiveShell, store_dir: Path) -> None:
    """No traceback: what is missing, and what there is."""
    await in_doubt(store_dir, 1)
    with pytest.raises(ShellUsageError, match=r"has no side effect refund\[1\]; it has charge\[1\]"):
        shell.run_line_magic("wfresolve", f"shop refund[1] retry --store {store_dir}")


async def test_tab_offers_runs_then_effects_then_decisions(shell: InteractiveShell, work_dir: Path) -> None:
    """Each place of the line is completed with what fits there."""
    await in_doubt(work_dir / ".wfresume", 1, "a b")

    def offered(text: str) -> list[str]:
        with provisionalcompleter():
            return [each.text for each in shell.Completer.completions(text, len(text))]

    assert offered("%wfresolve s")[0] == "shop"
    assert offered("%wfresolve shop ") == ["'charge[a b]'", "charge[1]", "--store"]
    assert offered("%wfresolve shop charge[1] ")[:3] == ["done", "retry", "undone"]
    assert offered("%wfresolve shop charge[1] un") == ["undone"]
