"""What is typed behind ``%wfanswer``: RUN, K, VALUE, TAB and help, without a kernel."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from jupyter_wfresume import open_run
from jupyter_wfresume.errors import UsageError
from jupyter_wfresume.magics import answer, load, unload
from jupyter_wfresume.records import FieldView, QuestionView
from tests.people.conftest import Live
from tests.people.flows import Once, Several, Typed, everything


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    """Make an IPython shell with the magics loaded."""
    config = Config()
    config.HistoryManager.enabled = False
    made = InteractiveShell.instance(config=config)
    load(made)
    yield made
    unload(made)
    made.restore_sys_module_state()
    InteractiveShell.clear_instance()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ask yes", ("ask", None, "yes", None)),
        ("ask  it's  $5 {x}, isn't it? ", ("ask", None, "it's  $5 {x}, isn't it?", None)),
        ("ask[12] 3", ("ask", "12", "3", None)),
        ('"my run"[1] yes', ("my run", "1", "yes", None)),
        ("ask", ("ask", None, "", None)),
        ("--store st ask yes", ("ask", None, "yes", "st")),
        ("ask yes --store 'my store'", ("ask", None, "yes", "my store")),
        ('ask "yes --store st"', ("ask", None, '"yes --store st"', None)),
    ],
)
def test_the_value_is_all_that_stands_behind_the_run(line: str, said: tuple[str | None, ...]) -> None:
    """Text is kept as typed; ``--store`` may stand first or last, and quotes keep it in the text."""
    assert answer.read(line) == said


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "needs a RUN: %wfanswer RUN VALUE"),
        ("--fresh ask yes", "%wfanswer has no option --fresh; it has --store"),
        ("ask[one] yes", r"\[one\] is no number of a question"),
    ],
)
def test_a_line_that_does_not_fit_is_told_in_a_sentence(line: str, said: str) -> None:
    """What is missing or wrong is named with the way to write it."""
    with pytest.raises(UsageError, match=said):
        answer.read(line)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("any", "yes", "yes"),
        ("any", '"quoted text"', "quoted text"),
        ("any", '"half', '"half'),
        ("text", "{braces}", "{braces}"),
        ("text", '{"said": "a dict of the field"}', {"said": "a dict of the field"}),
        ("text", '{"other": 1}', '{"other": 1}'),
        ("int", "3", "3"),
        ("json", "{'a': 1}", {"a": 1}),
        ("json", "[1, 2]", "[1, 2]"),
    ],
)
def test_typed_text_is_text_unless_it_is_a_dict_of_the_fields(kind: str, text: str, value: object) -> None:
    """Quotes around a whole text are taken off, others stay."""
    assert answer.value_of(QuestionView(0, "?", fields=(FieldView("said", kind),)), text) == value


async def test_a_wrong_value_is_one_sentence_and_nothing_is_kept(live: Live, shell: InteractiveShell) -> None:
    """The magic answers bad input as a usage error, and good input with what happens next."""
    await live(Typed())
    for line in ("it", "it 3", "it[4] x", "nobody x", 'it {"copies": "many"}'):
        shown = shell.run_cell(f"%wfanswer {line}")
        assert type(shown.error_in_exec).__name__ == "UsageError", line
    run = open_run("it")
    assert run.store.notes(run.id, "answer.") == {}
    shell.user_ns["copies"] = "expanded"
    assert shell.run_cell(f"%wfanswer it {everything()}").error_in_exec is None
    assert (await live(Typed())).copies == 3


async def test_it_says_who_takes_the_answer_and_what_is_left(
    live: Live, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    """No kernel drives the run: its cell has to run again; two questions are left."""
    await live(Several())
    shell.run_cell("%wfanswer it[0] Ada")
    said = capsys.readouterr().out
    assert "': run its cell again to go on, or %wfresume " in said
    assert said.endswith("; 2 more questions wait\n")


async def test_tab_offers_runs_that_wait(live: Live, shell: InteractiveShell) -> None:
    """A run with one question by its name, one with several by each; no run that waits for nobody."""
    await live(Several())
    assert answer.candidates(" ") == ("", ["it[0]", "it[1]", "it[2]"])
    for n in range(3):
        open_run("it").answer("x", question=n)
    await live(Several())
    assert answer.candidates(" i") == ("i", [])
    await live(Once())
    assert answer.candidates(" it ") == ("", ["--store"])
    with provisionalcompleter():
        assert [found.text for found in shell.Completer.completions("%wfanswer i", 11)] == ["it"]


def test_tab_offers_choices() -> None:
    """Where an answer is one of a few words, those are offered."""
    yes = QuestionView(0, "?", fields=(FieldView("ok", "bool"),))
    assert answer.choices(yes) == ["yes", "no"]
    assert answer.choices(QuestionView(0, "?", fields=(FieldView("size", "choice", ("s", "m")),))) == [
        "s",
        "m",
    ]
    assert answer.choices(QuestionView(0, "?", fields=(FieldView("a"), FieldView("b")))) == []


def test_help_is_there(shell: InteractiveShell) -> None:
    """``%wfanswer?`` shows how it is used, with examples."""
    magic = shell.find_line_magic("wfanswer")
    assert "%wfanswer RUN[K] VALUE" in str(magic.__doc__)
    with provisionalcompleter():
        assert "%wfanswer" in [found.text for found in shell.Completer.completions("%wfansw", 7)]
