"""An agent's tool asks a person, in a real kernel."""

from __future__ import annotations

from pathlib import Path

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
