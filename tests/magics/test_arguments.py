"""What may stand behind a magic's name."""

from __future__ import annotations

import math

import pytest

from jupyter_wfresume.errors import UsageError
from jupyter_wfresume.magics.arguments import LIST_OPTIONS, REPLAY_OPTIONS, RUN_OPTIONS, parse, split
from jupyter_wfresume.records import Options


def read(line: str) -> tuple[tuple[str, ...], Options]:
    arguments = parse("%%wfrun", line, RUN_OPTIONS, 1, "NAME")
    return arguments.words, arguments.options()


@pytest.mark.parametrize(
    ("line", "words", "options"),
    [
        ("", (), Options()),
        ("enrich", ("enrich",), Options()),
        ('"two words" --fresh', ("two words",), Options(fresh=1)),
        ("--fresh enrich --fresh", ("enrich",), Options(fresh=2)),
        ("--fresh --fresh --fresh", (), Options(fresh=2)),
        ("--timeout 90 enrich", ("enrich",), Options(timeout_s=90.0)),
        ("enrich --timeout=none", ("enrich",), Options(timeout_s=math.inf)),
        ("--wait 0", (), Options(wait_s=0.0)),
        ("--wait forever", (), Options(wait_s=math.inf)),
        ("--store 'my runs' --board text", (), Options(store="my runs", board="text")),
        ("run#3", ("run#3",), Options()),
        ("enrich # it's my run", ("enrich",), Options()),
        ("enrich --fresh # --board none", ("enrich",), Options(fresh=1)),
        ("'run # 3' --fresh", ("run # 3",), Options(fresh=1)),
        ('"it\'s # 3"', ("it's # 3",), Options()),
        ("# nothing", (), Options()),
        ("7", ("7",), Options()),
    ],
)
def test_options_stand_anywhere_around_one_name(line: str, words: tuple[str, ...], options: Options) -> None:
    """A name and options are read in any order, with quotes and with = as in a shell."""
    assert read(line) == (words, options)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("--fesh", "%%wfrun has no option --fesh; did you mean --fresh?"),
        ("-f", f"%%wfrun has no option -f; it has {', '.join(option.flag for option in RUN_OPTIONS)}"),
        ("a --b", "%%wfrun has no option --b; did you mean --board?"),
        ("a b", "%%wfrun takes one NAME, but got 'a' and 'b'; put quotes around a NAME with spaces"),
        ("''", "%%wfrun: the NAME is empty; write one, or leave it out"),
        ("'a", "%%wfrun: a quote is not closed in: 'a"),
        ("--timeout", "%%wfrun: --timeout needs a value: --timeout SECONDS|none"),
        ("--timeout ten", "%%wfrun: --timeout takes a number of seconds or none, not 'ten'"),
        (
            "--timeout non",
            "%%wfrun: --timeout takes a number of seconds or none, not 'non'; did you mean none?",
        ),
        ("--timeout 0", "%%wfrun: --timeout takes more than 0 seconds, or none, not '0'"),
        ("--timeout nan", "%%wfrun: --timeout takes a number of seconds or none, not 'nan'"),
        ("--wait -1", "%%wfrun: --wait takes a number of seconds or forever, not '-1'"),
        ("--wait 1 --wait 2", "%%wfrun: --wait is given twice; give it once"),
        ("--fresh=yes", "%%wfrun: --fresh takes no value; leave out =yes"),
        ("--store ''", "%%wfrun: --store takes a folder, not ''"),
        ("--board txt", "%%wfrun: --board takes auto, widget, text or none, not 'txt'; did you mean text?"),
    ],
)
def test_a_wrong_line_is_answered_with_one_sentence_and_the_nearest_match(line: str, sentence: str) -> None:
    """What does not fit is named, and the sentence says what would."""
    with pytest.raises(UsageError) as caught:
        read(line)
    assert str(caught.value) == sentence


def test_a_magic_knows_its_own_options_only() -> None:
    """An option of another magic is unknown, and the message names what there is."""
    with pytest.raises(UsageError, match="%wfruns has no option --fresh; it has --store"):
        parse("%wfruns", "--fresh", LIST_OPTIONS, 1, "NAME")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("enrich work[17]", ("enrich", "work[17]")),
        ("enrich work[3, 17, 40:45] --continue", ("enrich", "work[3,17,40:45]")),
        ("--store there 'two words' work", ("two words", "work")),
    ],
)
def test_an_execution_is_one_word_with_spaces_in_its_brackets(line: str, words: tuple[str, ...]) -> None:
    """What stands between brackets belongs together, whatever spaces are in it."""
    assert parse("%wfreplay", line, REPLAY_OPTIONS, 2, "RUN and STEP[N]").words == words


def test_a_backslash_parts_folders_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows a path is taken as it is typed."""
    monkeypatch.setattr("jupyter_wfresume.magics.arguments.os.name", "nt")
    assert split("%%wfrun", r"--store C:\runs\a") == ["--store", r"C:\runs\a"]
