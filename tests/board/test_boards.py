"""How often boards draw, what they leave behind, and who may call them."""

from __future__ import annotations

import asyncio
import io
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from jupyter_wfresume.board import Board, make_board
from jupyter_wfresume.board.boards import NullBoard, StaticBoard, TextBoard
from jupyter_wfresume.board.widget import StopButton, WidgetBoard
from jupyter_wfresume.records import RunView

from .samples import DONE, FAILED, RUNNING, Clock, Display

VIEW = "application/vnd.jupyter.widget-view+json"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Run:
    """A run whose view is made when it is asked for."""

    def __init__(self, view: RunView = RUNNING) -> None:
        self.now = view
        self.asked = 0

    def view(self) -> RunView:
        self.asked += 1
        return self.now


def live(clock: Clock, display: Display, on_stop: Callable[[], None] | None = None) -> Board:
    return make_board("auto", display=display, has_front_end=True, on_stop=on_stop, clock=clock, timer=clock)


def opened(clock: Clock, display: Display, run: Run, on_stop: Callable[[], None] | None = None) -> Any:
    """A widget board that shows a run."""
    board = live(clock, display, on_stop)
    board.update(run.view)
    clock.advance(1.5)
    board.update(run.view)
    return board


def box(board: Any) -> Any:
    return board._frame._box


def test_the_kind_follows_from_where_the_process_runs() -> None:
    """A front end gets a widget, a headless kernel a replaced output, a script text, `none` nothing."""

    def kind(name: Any, display: Any, front: bool) -> type:
        board = make_board(name, display=display, has_front_end=front, on_stop=None, stream=io.StringIO())
        return type(board)

    assert kind("auto", Display(), True) is WidgetBoard
    assert kind("auto", Display(), False) is StaticBoard
    assert kind("auto", None, False) is TextBoard
    assert kind("widget", None, False) is TextBoard
    assert kind("widget", Display(), False) is WidgetBoard
    assert kind("text", Display(), True) is StaticBoard
    assert kind("none", Display(), True) is NullBoard


def test_many_updates_are_few_drawings_and_the_last_is_drawn() -> None:
    """Five thousand updates in five seconds ask for at most ten views a second, and end on the last."""
    clock, display, run = Clock(), Display(), Run()
    board = opened(clock, display, run)
    run.asked = 0
    for number in range(5_000):
        run.now = replace(RUNNING, elapsed_s=1000 + number)
        board.update(run.view)
        clock.advance(0.001)
    assert 40 <= run.asked <= 51
    clock.advance(0.1)
    assert "1 h 40 min" in box(board).children[1].value


def test_a_clock_on_show_goes_on_without_updates() -> None:
    """While nothing happens the board asks for the view once a second, until the run is closed."""
    clock, display, run = Clock(), Display(), Run()
    board = opened(clock, display, run)
    run.asked = 0
    clock.advance(10)
    assert 9 <= run.asked <= 11
    board.close(DONE)
    run.asked = 0
    clock.advance(10)
    assert run.asked == 0


def test_a_slow_drawing_is_followed_by_a_long_pause() -> None:
    """Drawing takes at most one part in 25 of the time, however slow a view is to make."""
    clock, display = Clock(), Display()
    board = live(clock, display)
    made: list[float] = []

    class Slow:
        def view(self) -> RunView:
            made.append(clock.now_s)
            clock.now_s += 0.04
            return RUNNING

    slow = Slow()
    for _ in range(3_000):
        board.update(slow.view)
        clock.advance(0.001)
    assert len(made) <= 4


def test_an_update_that_is_too_early_costs_next_to_nothing() -> None:
    """Thousands of early updates take less than 20 µs each and make no view."""
    clock, run = Clock(), Run()
    board = opened(clock, Display(), run)
    run.asked = 0
    best_s = float("inf")
    for _ in range(5):
        started = time.perf_counter()
        for _ in range(1_000):
            board.update(run.view)
        best_s = min(best_s, (time.perf_counter() - started) / 1_000)
    assert best_s < 20e-6
    assert run.asked <= 1


def test_the_widget_comes_with_a_picture_that_is_refreshed_every_two_seconds() -> None:
    """The picture stands first, the widget right after it, and the picture is never older than about 2 s."""
    clock, display, run = Clock(), Display(), Run()
    board = opened(clock, display, run)
    picture, widget = display.last()
    assert set(picture) == {"text/html", "text/plain"}
    assert set(widget) == {VIEW, "text/html", "text/plain"}
    assert widget[VIEW]["model_id"] == box(board).model_id
    pictures = next(iter(display.outputs.values()))
    before = len(pictures)
    for _ in range(1_000):
        board.update(run.view)
        clock.advance(0.01)
    assert 4 <= len(pictures) - before <= 6
    assert "if its kernel has stopped, run this cell again" in str(pictures[-1]["text/plain"])
    assert [len(bundles) for bundles in display.outputs.values()][1] == 2


def test_the_live_board_hides_its_picture_and_nothing_else() -> None:
    """The widget's style names the picture's own class, which the picture wears."""
    clock, display = Clock(), Display()
    board = opened(clock, display, Run())
    name = next(iter(display.outputs))
    assert f'<div class="{name}">' in str(display.last()[0]["text/html"])
    assert f".{name}{{display:none}}" in box(board).children[0].value
    assert f"{name}-live" in box(board)._dom_classes


def test_close_leaves_static_html_and_text_only() -> None:
    """After the last run has ended no output holds a widget, and the picture shows the end."""
    clock, display, run = Clock(), Display(), Run()
    board = opened(clock, display, run)
    board.close(FAILED)
    picture, rest = display.last()
    assert rest == {}
    assert set(picture) == {"text/html", "text/plain"}
    assert "fix `work` and run this cell again" in str(picture["text/plain"])
    assert "seen running" not in str(picture["text/html"])
    clock.advance(5)
    assert display.last() == [picture, {}]
    assert "failed" in box(board).children[1].value, "a page that was reloaded still shows the widget"


def test_a_run_that_ends_at_once_opens_no_widget() -> None:
    """A recorded result leaves a picture and never a widget that comes and goes."""
    clock, display = Clock(), Display()
    board = live(clock, display)
    board.update(RUNNING)
    clock.advance(0.05)
    board.close(DONE)
    clock.advance(5)
    assert not [bundle for bundles in display.outputs.values() for bundle in bundles if VIEW in bundle]
    assert "done: 100 of 100" in str(display.last()[0]["text/plain"])


def test_runs_of_one_cell_share_a_board_and_the_widget_stays_until_the_last_ends() -> None:
    """Each run has its panel in first-seen order, and one that ends leaves the other live."""
    clock, display = Clock(), Display()
    first, second = Run(RUNNING), Run(replace(RUNNING, run_id="b", name="second"))
    board = opened(clock, display, first)
    board.update(second.view)
    clock.advance(0.2)
    board.close(DONE)
    assert VIEW in display.last()[1]
    shown = [child.value for child in box(board).children if hasattr(child, "value")]
    assert "100 of 100" in shown[1] + shown[2]
    assert "second" in shown[3]
    board.close(replace(second.now, status="paused", sentence="paused: run this cell again"))
    assert display.last()[1] == {}
    text = str(display.last()[0]["text/plain"])
    assert text.index("enrich") < text.index("second")


def test_many_runs_of_one_cell_are_lines_and_a_sum() -> None:
    """Of 50 finished runs the last twelve get a line and the others are counted."""
    clock, display = Clock(), Display()
    board = live(clock, display)
    for number in range(50):
        board.close(replace(DONE, run_id=f"r{number}", name=f"run{number}"))
    text = str(display.last()[0]["text/plain"])
    assert "run49" in text
    assert "run37" not in text
    assert "and 38 more: 38 done" in text


def test_a_straggler_does_not_reopen_an_ended_run() -> None:
    """An update that was on its way when the run ended changes nothing."""
    clock, display = Clock(), Display()
    ended = Run(DONE)
    board = opened(clock, display, Run())
    board.close(DONE)
    board.update(ended.view)
    clock.advance(5)
    assert display.last()[1] == {}


def test_stop_is_called_once_a_click_and_the_second_click_means_now() -> None:
    """The first click stops, the second stops at once, further ones do nothing."""
    calls: list[str] = []
    clock = Clock()
    board = opened(clock, Display(), Run(), lambda: calls.append("stop"))
    button = box(board).children[-1]
    assert button.description == "Stop"
    button.click()
    assert calls == ["stop"]
    assert button.description == "Stopping…"
    assert not button.disabled
    button.click()
    button.click()
    assert calls == ["stop", "stop"]
    assert button.disabled


def test_no_button_where_it_would_not_work() -> None:
    """A run that cannot be stopped by a message has no button, and says what does stop it."""
    clock = Clock()
    board = opened(clock, Display(), Run(replace(RUNNING, can_stop=False)), lambda: None)
    children = box(board).children
    assert not [child for child in children if hasattr(child, "description") and child.description == "Stop"]
    assert "interrupt the kernel to stop" in children[2].value
    assert StopButton(lambda: None).widget.description == "Stop"


def test_an_opened_traceback_is_not_drawn_anew_while_figures_move() -> None:
    """The part that holds the failure is sent again only when it changes."""
    clock, display = Clock(), Display()
    run = Run(replace(RUNNING, error=FAILED.error))
    board = opened(clock, display, run)
    changes: list[object] = []
    box(board).children[2].observe(changes.append, "value")
    for second in range(5):
        run.now = replace(run.now, elapsed_s=200.0 + second)
        board.update(run.view)
        clock.advance(0.5)
    assert changes == []


def test_a_headless_kernel_gets_one_output_that_is_replaced_every_two_seconds() -> None:
    """Without a front end the output holds HTML and text, changes seldom, and ends static."""
    clock, display, run = Clock(), Display(), Run()
    board = make_board("auto", display=display, has_front_end=False, on_stop=None, clock=clock, timer=clock)
    for _ in range(1_000):
        board.update(run.view)
        clock.advance(0.01)
    board.close(DONE)
    (bundles,) = display.outputs.values()
    assert 5 <= len(bundles) <= 7
    assert all(set(bundle) == {"text/html", "text/plain"} for bundle in bundles)
    assert "done: 100 of 100" in str(bundles[-1]["text/plain"])


def test_a_log_gets_a_line_when_the_status_changes_and_else_every_ten_seconds() -> None:
    """A stream that is no terminal holds few lines, then the summary."""
    clock, stream, run = Clock(), io.StringIO(), Run()
    board = make_board(
        "auto", display=None, has_front_end=False, on_stop=None, stream=stream, clock=clock, timer=clock
    )
    for _ in range(2_500):
        board.update(run.view)
        clock.advance(0.01)
    assert len(stream.getvalue().splitlines()) == 3
    run.now = replace(RUNNING, status="waiting")
    board.update(run.view)
    clock.advance(1.1)
    assert "waiting" in stream.getvalue().splitlines()[-1]
    board.close(DONE)
    assert "\r" not in stream.getvalue()
    assert "done: 100 of 100" in stream.getvalue()


def test_a_terminal_gets_one_line_that_is_rewritten() -> None:
    """On a terminal progress stays in one line, which is wiped before the summary."""
    clock, stream, run = Clock(), Terminal(), Run()
    board = make_board(
        "auto", display=None, has_front_end=False, on_stop=None, stream=stream, clock=clock, timer=clock
    )
    for second in range(20):
        run.now = replace(RUNNING, elapsed_s=64.0 + second)
        board.update(run.view)
        clock.advance(1)
    assert "\n" not in stream.getvalue()
    assert stream.getvalue().count("\r") >= 20
    board.close(DONE)
    progress, summary = stream.getvalue().rsplit("\r", 1)
    assert progress.endswith(" ")
    assert summary.startswith("enrich")


def test_a_stream_that_knows_only_ascii_gets_plain_signs() -> None:
    """An encoding without blocks and dots does not end a run."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    board = TextBoard(stream, clock=Clock(), timer=Clock())
    board.close(FAILED)
    assert "work  36 / 100  #######x" in raw.getvalue().decode("ascii")


def test_none_draws_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """`--board none` leaves no trace, not even at the end."""
    display = Display()
    board = make_board("none", display=display, has_front_end=True, on_stop=None)
    board.update(RUNNING)
    board.close(DONE)
    assert display.outputs == {}
    assert capsys.readouterr().out == ""


def test_a_board_that_cannot_draw_says_so_once_and_the_run_goes_on() -> None:
    """A closed stream costs the picture, never the paid work."""
    stream = io.StringIO()
    clock = Clock()
    board = make_board(
        "auto", display=None, has_front_end=False, on_stop=None, stream=stream, clock=clock, timer=clock
    )
    stream.close()
    with pytest.warns(UserWarning, match="the run goes on"):
        board.update(RUNNING)
    board.update(RUNNING)
    clock.advance(20)
    board.close(DONE)


def test_updates_from_other_threads_are_drawn_on_the_cells_loop() -> None:
    """Views are made where the run changes, whichever thread reports."""
    made_in: list[int] = []

    async def cell() -> None:
        drawn = asyncio.Event()

        class Source:
            def view(self) -> RunView:
                made_in.append(threading.get_ident())
                drawn.set()
                return RUNNING

        source = Source()
        board = make_board("auto", display=Display(), has_front_end=False, on_stop=None)
        board.update(source.view)
        drawn.clear()
        await asyncio.to_thread(board.update, source.view)
        await drawn.wait()
        board.close(DONE)

    asyncio.run(cell())
    assert len(made_in) >= 2
    assert set(made_in) == {threading.get_ident()}


def test_a_script_without_a_loop_still_gets_the_last_update() -> None:
    """Where no loop runs, a short-lived thread draws what came too early."""
    drawn = threading.Event()

    class Stream(io.StringIO):
        def write(self, words: str) -> int:
            if "waiting" in words:
                drawn.set()
            return super().write(words)

    board = make_board("auto", display=None, has_front_end=False, on_stop=None, stream=Stream())
    board.update(RUNNING)
    board.update(replace(RUNNING, status="waiting"))
    assert drawn.wait(30)
    board.close(DONE)
