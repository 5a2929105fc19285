"""A prompt in a terminal: for a script and for IPython, while somebody sits there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from jupyter_wfresume import open_run

if sys.platform == "win32":
    pytest.skip("platform: there are no pseudo-terminals", allow_module_level=True)

from tests.people.terminal import Terminal

SCRIPT = """\
import asyncio
from jupyter_wfresume import durable
from tests.people.flows import *

async def main():
    with durable("it"):
        print("RESULT", await {flow}().run())
    print("typed next:", input())

asyncio.run(main())
"""


def script(folder: Path, flow: str) -> Terminal:
    """Start a script that runs a workflow, then reads one line by itself."""
    (folder / "script.py").write_text(SCRIPT.format(flow=flow))
    return Terminal([sys.executable, "script.py"], folder)


def test_a_script_asks_its_questions_one_after_the_other(tmp_path: Path) -> None:
    """Each answer goes to the question above it, and what is typed next is the script's own."""
    with script(tmp_path, "Several") as terminal:
        for _ in range(3):
            terminal.until("? Who wrote ")
            number = terminal.shown[-200:].partition("? Who wrote ")[2][:1] or "?"
            terminal.until("answer> ")
            terminal.type(f"by {number}\n")
        terminal.until("RESULT ['0 by ")
        terminal.type("mine\n")
        terminal.until("typed next: mine")
        assert terminal.end() == 0


def test_fields_are_asked_one_by_one_and_a_wrong_one_is_asked_again(tmp_path: Path) -> None:
    """The kinds and choices are shown; what does not fit is told at its field, which is asked again."""
    with script(tmp_path, "Typed") as terminal:
        terminal.until("? How? (ask)")
        terminal.until("copies (a whole number)> ")
        terminal.type("many\n")
        terminal.until("copies is a whole number, not 'many'")
        terminal.until("copies (a whole number)> ")
        terminal.type("2\n")
        terminal.until("share (a number)> ")
        terminal.type("0.5\n")
        terminal.until("urgent (yes or no)> ")
        terminal.type("no\n")
        terminal.until("size (small, large)> ")
        terminal.type("huge\n")
        terminal.until("size is one of small, large, not 'huge'")
        terminal.until("size (small, large)> ")
        terminal.type("small\n")
        terminal.until("colour (1, 2)> ")
        terminal.type("1\n")
        terminal.until("pages (JSON, or as in Python)> ")
        terminal.type("[3]\n")
        terminal.until("note> ")
        terminal.type("\n")
        terminal.until("RESULT copies=2 share=0.5 urgent=False size='small'")


def test_ctrl_c_at_the_prompt_ends_the_run_as_waiting(tmp_path: Path) -> None:
    """The question stays open, the sentence says how to go on, and no traceback hides it."""
    with script(tmp_path, "Once") as terminal:
        terminal.until("answer> ")
        terminal.type("half an ans\x03")
        terminal.until('it waits for an answer "Who?": answer it and run this cell again to go on')
        assert terminal.end() != 0
    run = open_run("it", tmp_path / ".wfresume")
    assert (run.status, str(run.questions[0])) == ("waiting", "Who?")


def test_ctrl_d_leaves_the_question_to_be_answered_from_elsewhere(tmp_path: Path) -> None:
    """The end of what is typed is no answer: how to give one is said, and the run goes on waiting for it."""
    with script(tmp_path, "Once") as terminal:
        terminal.until("answer> ")
        terminal.type("\x04")
        terminal.until("? Who? · answer with: %wfanswer it VALUE, or open_run('it').answer(...)")
        open_run("it", tmp_path / ".wfresume").answer("Ada")
        terminal.until("RESULT Ada")


def test_where_the_body_reads_the_stream_no_prompt_takes_its_lines(tmp_path: Path) -> None:
    """A body that asks by itself, in a thread, gets what is typed."""
    body = SCRIPT.format(flow="Once").replace(
        'print("RESULT", await Once().run())',
        "handler = Once().run()\n"
        "        async for event in handler.stream_events():\n"
        "            if isinstance(event, InputRequiredEvent):\n"
        "                text = await asyncio.to_thread(input, 'the body asks> ')\n"
        "                handler.ctx.send_event(Said(text=text))\n"
        "        print('RESULT', await handler)",
    )
    (tmp_path / "script.py").write_text(body)
    with Terminal([sys.executable, "script.py"], tmp_path) as terminal:
        terminal.until("the body asks> ")
        terminal.type("Ada\n")
        terminal.until("RESULT Ada")
        assert "answer> " not in terminal.shown


def test_ipython_in_a_terminal_asks(tmp_path: Path) -> None:
    """The magic's run asks as a script's does, and the shell gets the line after it."""
    command = [sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner", "--no-confirm-exit"]
    with Terminal(command, tmp_path) as terminal:
        terminal.until("In [1]: ")
        terminal.type("%load_ext jupyter_wfresume\n")
        terminal.until("In [2]: ")
        terminal.type("from tests.people.flows import Once\n")
        terminal.until("In [3]: ")
        terminal.type("%%wfrun once\nawait Once().run()\n\n\n")
        terminal.until("answer> ")
        terminal.type("Ada\n")
        terminal.until("Out[3]: 'Ada'")
        terminal.until("In [4]: ")
        terminal.type("1 + 1\n")
        terminal.until("Out[4]: 2")
