"""What is answered from elsewhere is no open question any more, and commands name the store they need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from ipywidgets import HTML

from jupyter_wfresume import durable, open_run, runs
from jupyter_wfresume.board.panel import Panel
from jupyter_wfresume.errors import RunEnded, UsageError
from jupyter_wfresume.records import QuestionView, RunView
from jupyter_wfresume.session.runs import store_hint
from jupyter_wfresume.show import look_at
from tests.people.conftest import Live
from tests.people.flows import Demanding, Once, Several, Typed
from tests.people.test_magic import shell as shell

GIVEN = {"copies": 2, "share": 0.5, "urgent": False, "size": "small", "colour": "1", "pages": [3]}


async def test_only_open_questions_are_asked(live: Live) -> None:
    """An answered question is none any more; the others keep their numbers."""
    await live(Several())
    run = open_run("it")
    run.answer("x", question=0)
    assert [one.index for one in run.questions] == [1, 2]
    run.answer("y", question=2)
    assert [one.index for one in open_run("it").questions] == [1]
    with pytest.raises(UsageError, match="is answered already"):
        run.answer("z", question=2)
    open_run("it").answer("z")
    assert open_run("it").questions == ()


async def test_the_run_says_how_many_are_answered_and_then_how_it_goes_on(live: Live) -> None:
    """Neither ``%wfshow`` nor ``%wfruns`` offers to answer what is answered."""
    await live(Several())
    run = open_run("it")
    run.answer("x", question=0)
    shown = repr(look_at("it"))
    assert "1 of 3 answered: it waits for an answer" in shown
    assert "%wfanswer it[0]" not in shown
    assert "%wfanswer it[1] VALUE" in shown
    assert "1 of 3 answered" in repr(runs())
    run.answer("y", question=1)
    run.answer("z", question=2)
    shown, how = repr(look_at("it")), f"answered: run its cell again to go on, or %wfresume {run.id[:8]}"
    assert f"{how}\n" in shown
    assert "waits for an answer" not in shown.replace("  waits for an answer", "")
    assert "%wfanswer" not in shown
    assert how in repr(runs())
    assert sorted(said[2:] for said in await live(Several())) == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("notes", "it has copies, share, .*; did you mean note\\?"),
        ("zzz", "has no field 'zzz'; it has copies"),
    ],
)
async def test_a_name_that_the_response_does_not_declare_is_refused(live: Live, name: str, said: str) -> None:
    """Nobody would look at it; the declared names are said."""
    await live(Typed())
    with pytest.raises(UsageError, match=said):
        open_run("it").answer({**GIVEN, name: "x"})
    assert len(open_run("it").questions) == 1


async def test_what_the_waiter_has_decided_may_be_said_too(live: Live) -> None:
    """A requirement is no field of the class, and an answer that repeats it fits."""
    await live(Demanding())
    run = open_run("it")
    for question in run.questions:
        run.answer({"text": "ok", "user": int(question.text[5])}, question=question)
    assert await live(Demanding()) == ["0 0 ok", "1 1 ok"]


def test_the_ended_board_says_so_once_all_are_answered() -> None:
    """The bold line counts the answers that its forms took, then says what to do."""
    asked = tuple(QuestionView(index, f"Q{index}?", key=str(index)) for index in range(2))
    view = RunView(
        "1234", "it", "It", "waiting", sentence="it waits", questions=asked, answered="answered: go"
    )
    panel = Panel("1234", lambda *_: None)
    top, first, second, tail = panel.show(view, live=False)
    button(first).click()
    assert isinstance(tail, HTML)
    assert "1 of 2 answered: it waits" in tail.value
    button(second).click()
    assert "answered: go" in tail.value
    assert "it waits" not in tail.value
    assert "Q0?" not in f"{top} {tail.value}"


def button(form: Any) -> Any:
    """The button of a form without fields."""
    return form.children[1].children[0]


async def test_commands_name_a_store_that_is_not_the_default(work_dir: Path) -> None:
    """What is printed can be typed as it stands, here and from a folder above."""
    with pytest.raises(RunEnded):
        async with durable("l2", store="other", wait=0, board="none"):
            await Once().run()
    run = open_run("l2", "other")
    assert "%wfanswer l2 VALUE --store other" in repr(look_at("l2", store="other"))
    assert store_hint(work_dir / "my store") == "my store"
    assert store_hint("/elsewhere/st") == "/elsewhere/st"
    assert store_hint(work_dir / ".wfresume") == ""
    run.answer("Ada")
    how = f"run its cell again to go on, or %wfresume {run.id[:8]} --store other"
    assert run.answered == f"answered: {how}"


async def test_tab_offers_runs_where_nobody_asks(live: Live, shell: InteractiveShell) -> None:
    """Neither Python's words nor other magics stand behind ``%wfanswer``."""
    await live(Once())
    open_run("it").answer("Ada")
    await live(Once())
    text = "%wfanswer "
    with provisionalcompleter():
        assert [one.text for one in shell.Completer.completions(text, len(text))] == ["it", "--store"]
