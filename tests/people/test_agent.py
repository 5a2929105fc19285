"""An agent's tool asks a person, in a real kernel."""

from __future__ import annotations

from pathlib import Path

from jupyter_wfresume import runs
from tests.counting import counts
from tests.kernels import Kernel

CELL = "%%wfrun it --wait 0\nstr(await helper().run('call ask what colour?'))"


def test_an_agents_question_survives_a_kernel_and_is_answered_by_the_magic(tmp_path: Path) -> None:
    """The restarted kernel asks nothing anew; with the answer the conversation goes on."""
    load = "%load_ext jupyter_wfresume\nfrom tests.agents.fakes import helper"
    with Kernel(tmp_path) as kernel:
        kernel.run(load)
        assert '"colour?"' in kernel.run(CELL).evalue
        kernel.kill()
        kernel.restart()
        kernel.run(load)
        assert "answered 'colour?'" in kernel.run("%wfanswer it deep blue").stdout
        shown = kernel.run(CELL)
        assert shown.result == {"text/plain": "'the tool said deep blue'"}, shown.text
    assert counts(tmp_path / "log") == {"llm 1": 1, "ask": 2, "answered": 1, "llm 3": 1}


TALK = """\
%%wfrun talk --board text --wait {wait}
agent = helper()
ctx = Context(agent)
turns = ["my name is Ada", "call ask what colour?", "what is my name?"]
[str(await agent.run(turn, ctx=ctx)) for turn in turns]
"""


def test_an_agent_with_memory_is_asked_over_a_kill_and_remembers(tmp_path: Path) -> None:
    """No second start event, each turn of the model paid once, and the turn after the answer knows Ada."""
    load = "%load_ext jupyter_wfresume\nfrom tests.agents.fakes import Context, helper"
    with Kernel(tmp_path) as kernel:
        kernel.run(load)
        pending = kernel.start(TALK.format(wait="forever"))
        kernel.wait_for_output(pending, lambda shown: "? colour?" in shown.text)
        kernel.kill()
        kernel.restart()
        kernel.run(load)
        asks = kernel.run(TALK.format(wait=0))
        assert asks.evalue == 'talk waits for an answer "colour?": answer it and run this cell again to go on'
        assert "? colour? (call_tool) · answer with: %wfanswer talk VALUE" in asks.text
        assert counts(tmp_path / "log") == {"llm 1": 1, "llm 3": 1, "ask": 1}
        assert "answered 'colour?'" in kernel.run("%wfanswer talk deep blue").stdout
        shown = kernel.run(TALK.format(wait=0))
        assert shown.result == {"text/plain": "['ok', 'the tool said deep blue', 'Ada']"}, shown.text
    assert counts(tmp_path / "log") == {
        **{"llm 1": 1, "llm 3": 1, "llm 5": 1, "llm 7": 1},
        **{"ask": 2, "answered": 1},
    }
    talked = runs("talk", tmp_path / ".wfresume")
    assert [[record.get("o") for record in run.records].count("start") for run in talked] == [1, 1, 1]
