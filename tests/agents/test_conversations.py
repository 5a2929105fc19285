"""Agents of llama-index-core, killed and restarted in the middle of a conversation."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_wfresume import open_run, runs
from tests.agents.lives import live

ADA = "my name is Ada"
NAME = "what is my name?"
ADD = "call add a 1 b 2"


def test_a_conversation_survives_a_restart_turn_by_turn(tmp_path: Path) -> None:
    """Turns that were finished come from the record, and the next one knows what was said in them."""
    first = live(tmp_path, "talk", ADA)
    assert (first.answers, first.log) == (["ok"], {"llm 1": 1})
    second = live(tmp_path, "talk", ADA, NAME)
    assert (second.answers, second.log) == (["ok", "Ada"], {"llm 1": 1, "llm 3": 1})
    assert live(tmp_path, "talk", ADA, NAME).log == second.log


def test_another_beginning_is_another_conversation(tmp_path: Path) -> None:
    """The content of a passed ``ctx=`` is part of the call: the same turn after another one is executed."""
    live(tmp_path, "talk", ADA, NAME)
    other = live(tmp_path, "talk", "my name is Bob", NAME)
    assert other.answers == ["ok", "Bob"]
    assert other.log == {"llm 1": 2, "llm 3": 2}


@pytest.mark.parametrize("call", [2, 3, 4])
def test_a_kill_repeats_only_the_call_that_was_under_way(tmp_path: Path, call: int) -> None:
    """The N-th call of the model kills the process: that call is made twice, the tool's and others once."""
    (tmp_path / "die").write_text(str(call))
    died = live(tmp_path, "talk", ADA, ADD, NAME)
    assert died.answers is None
    assert sum(n for line, n in died.log.items() if line.startswith("llm")) == call
    again = live(tmp_path, "talk", ADA, ADD, NAME)
    assert again.answers == ["ok", "the tool said 3", "Ada"]
    assert again.log.pop("add") == 1
    assert sorted(again.log.values()) == [1, 1, 1, 2]


def test_a_tool_that_asks_waits_over_a_restart(tmp_path: Path) -> None:
    """The question is asked again, no start event is; only the tool that asked begins again."""
    question = "call ask what colour?"
    asked = live(tmp_path, "talk", ADA, question)
    assert asked.answers == ["ok"]
    assert 'waits for an answer "colour?"' in asked.ended
    assert live(tmp_path, "talk", ADA, question).log == asked.log
    answered = live(tmp_path, "talk", ADA, f"{question} -> red", NAME)
    assert answered.answers == ["ok", "the tool said red", "Ada"]
    assert answered.log == {"llm 1": 1, "llm 3": 1, "ask": 2, "answered": 1, "llm 5": 1, "llm 7": 1}


@pytest.mark.parametrize("kind", ["buffer", "memory"])
def test_a_memory_that_the_body_passes_holds_what_was_said_before_the_restart(
    tmp_path: Path, kind: str
) -> None:
    """A recorded turn and a resumed one fill it as a first one does: the same runs go on, and know Ada."""
    turns = (ADA, "call ask what colour?", NAME)
    assert 'waits for an answer "colour?"' in live(tmp_path, kind, *turns).ended
    (tmp_path / "die").write_text("3")
    open_run("talk", tmp_path / ".wfresume").answer("red")
    assert live(tmp_path, kind, *turns).answers is None
    last = live(tmp_path, kind, *turns)
    assert last.answers == ["ok", "the tool said red", "Ada"]
    assert last.log == {"llm 1": 1, "llm 3": 1, "ask": 2, "answered": 1, "llm 5": 2, "llm 7": 1}
    assert live(tmp_path, kind, *turns).log == last.log
    assert [run.status for run in runs("talk", tmp_path / ".wfresume")] == ["done"] * 3


@pytest.mark.parametrize("call", [1, 2])
def test_a_hand_over_between_agents_survives_a_kill(tmp_path: Path, call: int) -> None:
    """The agent that has the word when the process dies has it in the next life."""
    (tmp_path / "die").write_text(str(call))
    turn = "call handoff to_agent two reason because"
    assert live(tmp_path, "team", turn).answers is None
    again = live(tmp_path, "team", turn)
    assert again.answers is not None
    assert again.answers[0].startswith("the tool said Agent two is now handling")
    assert sorted(again.log.values()) == [1, 2]
