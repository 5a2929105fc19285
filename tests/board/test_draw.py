"""A view drawn as text and as HTML."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_wfresume.board import (
    ExecutionRow,
    RunRow,
    block,
    costs,
    figures,
    one_line,
    render,
    rows_html,
    rows_text,
    runs_html,
    runs_text,
)
from jupyter_wfresume.records import Cost, FailureView, RunView, Saved, Status, StepView, Tokens

from .samples import ALL, DONE, EMPTY, ERROR, FAILED, HOSTILE, MILLION, RUNNING, STOPPING, WAITING

VOID = {"br", "col"}


class Outline(HTMLParser):
    """Checks that tags are balanced and collects what a test asks about."""

    def __init__(self, fragment: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str | None]] = []
        self.feed(fragment)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0.0 s"), (0.02, "20 ms"), (0.1, "0.1 s"), (9.94, "9.9 s"), (12.4, "12 s"), (59.7, "1 min 00 s"),
     (64, "1 min 04 s"), (7512, "2 h 05 min"), (86399, "1 d 00 h"), (float("inf"), "?"), (-1, "0.0 s")],
)  # fmt: skip
def test_durations_read_as_people_write_them(seconds: float, words: str) -> None:
    """A duration is given in one or two units, and never as 60 of the smaller one."""
    assert figures.duration(seconds) == words


@pytest.mark.parametrize(
    ("size_bytes", "words"), [(812, "812 B"), (1234, "1.2 kB"), (999_600, "1.0 MB"), (34_000_000, "34 MB")]
)
def test_sizes_are_powers_of_ten(size_bytes: int, words: str) -> None:
    """A size is given in the unit that leaves the fewest digits."""
    assert figures.size(size_bytes) == words


@given(st.lists(st.integers(0, 10**6), min_size=5, max_size=5), st.integers(0, 10**6))
def test_a_bar_is_full_only_when_all_is_accounted_for(amounts: list[int], missing: int) -> None:
    """Every state that exists gets a cell, and unknown work keeps one free."""
    whole = sum(amounts) + missing
    cells = figures.fill(amounts, whole, 20)
    assert sum(cells) <= (20 if missing == 0 else 19)
    assert [bool(cell) for cell in cells] == [bool(amount) for amount in amounts]
    if missing == 0 and whole:
        assert sum(cells) == 20


def test_one_line_says_status_progress_and_time_left() -> None:
    """The terminal's line holds the name, the status, the counts and the times."""
    assert one_line(RUNNING) == (
        "enrich · running · 68 of 100 · work 8 running · 1 min 04 s, about 40 s left"
    )


@pytest.mark.parametrize("view", ALL.values(), ids=ALL.keys())
@pytest.mark.parametrize("width", [10, 40, 100])
def test_one_line_keeps_to_its_width(view: RunView, width: int) -> None:
    """A terminal's line never wraps and holds no control characters."""
    line = one_line(view, width)
    assert figures.cells(line) <= width
    assert line.isprintable()


def test_wide_characters_count_twice() -> None:
    """A line of wide characters still fits the terminal."""
    assert figures.cells(one_line(replace(RUNNING, name="文書" * 30), 30)) <= 30


def test_block_lines_up_steps_in_graph_order() -> None:
    """Each step has one line, in the given order, with bars that start in one column."""
    lines = [line for line in block(RUNNING).splitlines() if " / " in line]
    assert [line.split()[0] for line in lines] == ["split", "work", "join"]
    assert len({line.index("/") for line in lines}) == 1
    assert len({len(re.split("[▓█·░]", line)[0]) for line in lines}) == 1
    assert "saved by resume: 60 executions, 4 min 10 s" in block(RUNNING)


def test_what_is_left_out_is_no_part_of_what_is_done() -> None:
    """A left-out execution has its own count, block and place in the key, and there alone."""
    step = StepView("read", done=5, restored=94, skipped=1, total=100)
    view = replace(DONE, steps=(StepView("split", restored=1, total=1), step))
    text, html = block(view), render(view)
    line = next(line for line in text.splitlines() if line.startswith("  read"))
    assert re.search(r" 99 / 100 +▓+█–  1 left out$", line)
    assert "  ▓ restored 95  █ done 5  – left out 1" in text
    assert '<i class="wfr-left-out" style="flex-grow:1"></i>' in html
    assert "99 of 100 finished: 94 restored, 5 done, 1 left out" in html
    assert re.search(r"left out <b [^>]*>1</b>", html)
    for drawn in (block(RUNNING), render(RUNNING).partition("</style>")[2]):
        assert "left out" not in drawn
        assert "reused" not in drawn
    assert figures.percent(replace(view, status="running")) == 99
    assert one_line(view) == "enrich · done · 99 of 100 · 1 left out · 1 min 04 s"


def test_what_is_saved_names_resume_and_reuse() -> None:
    """Each by its own name, both where both saved something, in the key too."""
    reused = replace(
        RUNNING,
        reused_executions=60,
        steps=(StepView("work", done=8, restored=60, reused=60, total=100),),
    )
    both = replace(RUNNING, reused_executions=20, steps=(StepView("work", restored=60, reused=20, total=60),))
    assert "saved by reuse: 60 executions, 4 min 10 s" in block(reused)
    assert "saved: 40 executions by resume, 20 by reuse, 4 min 10 s" in block(both)
    assert "  ▚ reused 60  █ done 8" in block(reused)
    assert "  ▓ restored 40  ▚ reused 20" in block(both)
    assert re.findall(r"(\w+) <b", render(reused)) == ["reused", "done", "failed", "running", "queued"]
    assert "resume" not in render(reused).partition("</style>")[2].replace(RUNNING.headline, "")


def test_a_group_with_several_texts_has_type_and_line_as_its_title() -> None:
    """The type stands alone above, and each row says its own message, or nothing where there is none."""
    errors = (
        replace(ERROR, index=1, summary="ValueError: no date"),
        replace(ERROR, index=2, summary="ValueError"),
    )
    view = replace(FAILED, failures=(FailureView(errors, 7, "ValueError"),))
    lines = block(view).splitlines()
    head = lines.index("✕ ValueError · 7 executions")
    assert lines[head + 1].startswith("  in     work: Cell In[3], line 7")
    assert lines[head + 2 : head + 4] == [
        "  work[1]  no date · ItemEvent(item_id='doc-0037')",
        "  work[2]  ItemEvent(item_id='doc-0037')",
    ]
    html = render(view)
    assert "✕ <b>ValueError</b>" in html
    assert ">no date</span>" in html


def test_backticks_are_code_in_html_alone() -> None:
    """A name between backticks is drawn as code; in text it keeps them, and markup stays inert."""
    view = replace(FAILED, notes=("2 are of an earlier `<b>work</b>`",))
    assert "`<b>work</b>`" in block(view)
    assert "earlier <code>&lt;b&gt;work&lt;/b&gt;</code>" in render(view)
    row = RunRow("7f3a99b0c1", "enrich", "Enrich", "done", note="an earlier version of `work`")
    assert "version of <code>work</code>" in runs_html([row])


def test_a_failure_shows_the_users_line_before_everything_else_about_it() -> None:
    """Error, place and input come before the next move, and the traceback is folded away."""
    text, html = block(FAILED), render(FAILED)
    for drawn, move in ((text, "fix `work`"), (html, "fix <code>work</code>")):
        wanted = ("ValueError: bad document", "line 7", "doc-0037", move)
        order = [drawn.index(word) for word in wanted]
        assert order == sorted(order)
    assert "<details><summary>traceback</summary>" in html
    assert "Traceback (most" not in text


@pytest.mark.parametrize("status", ["paused", "waiting", "stuck", "failed", "timed out"])
def test_every_end_without_a_result_names_the_next_move(status: Status) -> None:
    """A state that a person must act on says how, even when no sentence was given."""
    view = replace(RUNNING, status=status)
    assert "run this cell again" in block(view)
    assert "run this cell again" in render(view)


def test_questions_say_how_they_are_answered() -> None:
    """Several questions are answered by number, a single one by the run's name alone."""
    assert "%wfanswer enrich[1] VALUE" in block(WAITING)
    assert "%wfanswer enrich[1] VALUE" in render(WAITING)
    assert "%wfanswer enrich VALUE" in block(replace(WAITING, questions=WAITING.questions[:1]))
    assert "%wfanswer 7f3a99b0[0] VALUE" in block(replace(WAITING, name="two words"))


def test_a_stop_counts_down() -> None:
    """After a Stop the board says how long, for how many, and how to cut it short."""
    assert "8 running executions have  9 s to finish · stop again to cancel at once" in block(STOPPING)
    assert "stopping, at most 9 s" in render(STOPPING, live=True)


def test_a_picture_of_a_running_run_tells_its_time() -> None:
    """A picture that may outlive its kernel says when it was taken and what to do."""
    assert "seen running at 14:02:31; if its kernel has stopped, run this cell again" in render(
        RUNNING, as_of="14:02:31"
    )


def test_percent_is_whole_only_at_the_end() -> None:
    """Nearly finished is 99 %, and so is a stuck run; a run without steps has no share."""
    nearly = replace(RUNNING, steps=(StepView("work", done=9_999, running=1, total=10_000),))
    assert figures.percent(nearly) == 99
    assert figures.percent(DONE) == 100
    assert figures.percent(EMPTY) is None
    stuck = replace(RUNNING, status="stuck", steps=(StepView("work", done=3, total=3),))
    assert figures.percent(stuck) == 99


def test_where_no_button_works_the_board_names_the_interrupt() -> None:
    """A live board without a Stop button says what stops the run instead."""
    assert "interrupt the kernel to stop" in render(replace(RUNNING, can_stop=False), live=True)
    assert "interrupt the kernel to stop" not in render(RUNNING, live=True)


@pytest.mark.parametrize("view", ALL.values(), ids=ALL.keys())
@pytest.mark.parametrize("live", [False, True])
def test_html_is_balanced_self_contained_and_inert(view: RunView, live: bool) -> None:
    """The fragment fetches nothing, runs nothing, and closes what it opens, whatever a name holds."""
    drawn = render(view, live=live)
    outline = Outline(drawn)
    expected = "b br code col colgroup details div i pre span style summary table tbody td tr"
    assert outline.tags <= set(expected.split())
    names = {name for _, name, _ in outline.attributes}
    assert not names & {"src", "href", "srcset", "action"}
    assert not [name for name in names if name.startswith("on")]
    style = drawn.partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
    assert "\x1b" not in drawn
    assert "\u202e" not in drawn


def test_every_css_rule_is_below_the_boards_class() -> None:
    """The stylesheet touches nothing of the page that shows it."""
    style = re.sub(
        r"@(media|container)[^{]*{", "", render(EMPTY).partition("</style>")[0].removeprefix("<style>")
    )
    selectors = [part for rule in re.findall(r"([^{}]+){[^{}]*}", style) for part in rule.split(",")]
    assert selectors
    assert all(part.strip().startswith(".wfr") for part in selectors)


def test_bars_are_told_to_those_who_cannot_see_them() -> None:
    """A bar is a progressbar with its values, its counts in words and its step's name."""
    drawn = render(RUNNING)
    assert (
        'role="progressbar" aria-label="work" aria-valuemin="0" aria-valuemax="100" aria-valuenow="68" '
        'aria-valuetext="68 of 100 finished: 60 restored, 8 done, 8 running, 24 queued"'
    ) in drawn


def test_big_counts_have_their_thousands_apart() -> None:
    """A million reads as 1,000,000 in both forms."""
    assert "683,456 / 1,000,000" in block(MILLION)
    assert "683,456 / " in render(MILLION)


def test_long_text_is_cut_with_the_whole_in_the_title() -> None:
    """What is too long to show ends in an ellipsis and can be read in the title."""
    name = "n" * 300
    drawn = render(replace(RUNNING, name=name))
    assert f'title="{name}"' in drawn
    assert "n" * 119 + "…</b>" in drawn


def test_inner_runs_are_a_few_lines_and_a_sum() -> None:
    """Of 17 inner runs five get a line, those in trouble first, and the rest are counted."""
    inner = tuple(replace(DONE, run_id=str(i), name=f"inner{i}", children=()) for i in range(17))
    inner = (*inner[:16], replace(inner[16], status="failed", error=ERROR))
    for drawn in (block(replace(RUNNING, children=inner)), render(replace(RUNNING, children=inner))):
        assert "inner16" in drawn
        assert "inner4" not in drawn
        assert "and 12 more: 12 done" in drawn


def test_the_table_of_runs_lines_up_and_escapes() -> None:
    """A list of runs has one line a run, with its note below, and is safe as HTML."""
    rows = [
        RunRow("7f3a99b0c1", "enrich", "EnrichBatch", "paused", "60 of 100", 240, 123_456),
        RunRow("8f3a99b0c1", "<script>", "Other", "timed out", "1 of 2", 5, None, "cannot be resumed"),
    ]
    lines = runs_text(rows).splitlines()
    assert lines[0].split() == ["id", "name", "status", "progress", "age", "size"]
    assert lines[1].split()[:2] == ["7f3a99b0", "enrich"]
    assert lines[1].endswith("60 of 100  4 min ago  123 kB")
    assert lines[3] == "  note: cannot be resumed"
    outline = Outline(runs_html(rows))
    assert "script" not in outline.tags
    assert runs_text([]) == "no runs"
    assert "no runs" in runs_html([])


def test_the_table_of_runs_has_the_columns_that_say_something() -> None:
    """A cost gets a column where some run has it, and a class where a name stands for several."""
    spent = Cost(
        lives=3,
        attempts=105,
        failures=5,
        time_s=250,
        tokens=Tokens(10_000, 2_345, 12_345),
        saved_by_resume=Saved(60, 120),
        saved_by_reuse=Saved(3, 3),
    )
    plain = RunRow("7f3a99b0c1", "enrich", "Enrich", "done", "100 of 100", 240, 123_456)
    rows = [replace(plain, cost=spent), replace(plain, workflow="Other", cost=Cost(lives=1, attempts=1))]
    for shown in (
        re.split("  +", runs_text(rows).splitlines()[0]),
        re.findall(r"<th [^>]*>([\w ]+)</th>", runs_html(rows)),
    ):
        assert shown == [
            *("id", "name", "workflow", "status", "progress"),
            *("step time", "attempts", "lives", "tokens", "saved", "age", "size"),
        ]
    line = runs_text(rows).splitlines()[1]
    assert re.search(r"4 min 10 s +105 +3 +12\.3 k +63 executions · 2 min 03 s +4 min ago +123 kB$", line)
    assert "step time" not in runs_text([plain])


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, "0"),
        (9_999, "9,999"),
        (10_000, "10.0 k"),
        (999_499, "999 k"),
        (999_500, "1.0 M"),
        (10**9, "1,000 M"),
    ],
)
def test_large_amounts_are_short(number: int, said: str) -> None:
    """A number of tokens takes a few places, whatever its size."""
    assert costs.amount(number) == said


def test_hostile_text_cannot_move_the_terminals_cursor() -> None:
    """The block holds only printable characters and line ends."""
    assert all(line.isprintable() for line in block(HOSTILE).split("\n"))


def test_only_an_outcome_is_ever_cut() -> None:
    """A long reason is whole in text and wraps in HTML; names, ids and counts have no ellipsis."""
    why = "ValueError: " + "could not convert string to float " * 4
    rows = [
        ExecutionRow("summarize_documents[100]", "failed", 0, 1, said=why),
        ExecutionRow("summarize_documents[101]", "done", 0, 1, said="Amount(" + "9" * 100 + ")"),
    ]
    assert why.strip() in rows_text(rows, ())
    drawn = rows_html(rows, ()).partition("</style>")[2]
    assert re.findall(r'class="([^"]*)" title', drawn) == ["wfr-soft wfr-why", "wfr-soft wfr-cut"]
    assert "<td>summarize_documents[100]</td>" in drawn
    listed = runs_html([RunRow("7f3a99b0c1", "enrich", "Enrich", "done", "115 of 1,000")])
    assert "wfr-cut" not in listed.partition("</style>")[2]
