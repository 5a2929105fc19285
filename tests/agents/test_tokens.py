"""Tokens that language models report belong to the execution that made the call, and are kept with it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="llama-index-core is an optional library")

from llama_index_instrumentation import root_dispatcher

from jupyter_wfresume import durable, open_run, runs
from jupyter_wfresume.engine.tokens import reported
from jupyter_wfresume.records import Tokens
from jupyter_wfresume.session import Run, list_runs
from jupyter_wfresume.show import look_at
from tests.agents.counted import COMPLETION, PROMPT, Asks, Outer, Strange, helper


@pytest.fixture(autouse=True)
def _here(work_dir: Path) -> None:
    """Put stores and logs into the test's own folder."""


async def live(workflow: Any, **given: Any) -> Run:
    """One life; the run it leaves."""
    async with durable("it", board="none"):
        await workflow.run(**given)
    return open_run("it")


def asked(*lengths: int) -> Tokens:
    """What calls with prompts of these lengths report."""
    # A chat's prompt is ``user: aa\nassistant: ``.
    return sum((Tokens(PROMPT, n, PROMPT + n) for n in lengths), Tokens())


def chat(length: int) -> int:
    """Characters of the prompt that a chat of a text of this length becomes."""
    return len("user: " + "a" * length + "\nassistant: ")


async def test_each_call_counts_for_its_execution(tmp_path: Path) -> None:
    """At once, in a thread, over failed attempts; a chat that is made of a completion counts once."""
    run = await live(Asks(timeout=None))
    everything = asked(chat(1), chat(2), chat(2), chat(3), 4)
    assert run.cost.tokens == everything
    kept = {(r["s"], r["i"]): r["tk"] for r in run.records if r["k"] == "R" and "tk" in r}
    assert kept[("ask", 2)] == [PROMPT, chat(3), PROMPT + chat(3)]
    assert kept[("sum_up", 0)] == [PROMPT, 4, PROMPT + 4]
    steps = {one.step: one.tokens for one in run.cost.steps}
    assert steps == {"split": Tokens(), "ask": asked(chat(1), chat(2), chat(2), chat(3)), "sum_up": asked(4)}
    assert f"{everything.total:,} tokens (50 prompt" in repr(look_at("it"))
    assert f"{asked(chat(2), chat(2)).total} tokens" in repr(look_at("it", "ask[1]"))
    assert "tokens" in repr(runs()).splitlines()[0].split()


async def test_reuse_saves_what_was_reported(tmp_path: Path) -> None:
    """Another call that is answered costs no token, and says how many the good attempts had cost."""
    await live(Asks(timeout=None))
    other = Asks(timeout=None)
    other.note = "another call"
    run = await live(other)
    assert run.cost.tokens == Tokens()
    assert run.cost.saved_by_reuse.tokens == asked(chat(1), chat(2), chat(3), 4)


async def test_a_run_that_a_step_runs_counts_once(tmp_path: Path) -> None:
    """The outer run's cost holds the inner one's tokens; its own records hold what its step asked itself."""
    run = await live(Outer(timeout=None))
    assert run.cost.tokens == asked(len("outer"), len("inner"))
    (inner,) = [one for one in list_runs(run.store, nested=True) if one.header.parent]
    assert inner.cost.tokens == asked(len("inner"))
    assert {one.step: one.tokens for one in run.cost.steps}["first"] == asked(len("outer"))
    other = Outer(timeout=None)
    other.note = "another call"
    again = await live(other)
    assert again.cost.tokens == Tokens()
    assert again.cost.saved_by_reuse.tokens == asked(len("outer"), len("inner"))


# The engine looks at each attribute of an agent, pydantic's old ones too.
@pytest.mark.filterwarnings("ignore:The `__fields.*__` attribute is deprecated")
@pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")
async def test_an_agent_is_counted(tmp_path: Path) -> None:
    """An agent streams: the last piece has the usage, and each of its two calls counts."""
    run = await live(helper(), user_msg="add one and two")
    assert str(run.result) == "3"
    assert run.cost.tokens == Tokens(2 * PROMPT, 2 * COMPLETION, 2 * (PROMPT + COMPLETION))


async def test_a_model_that_reports_nothing_stops_nothing(tmp_path: Path) -> None:
    """What cannot be read counts as nothing, leaves nothing in the records, and the run goes on."""
    run = await live(Strange(timeout=None))
    assert run.result == "ok"
    assert run.cost.tokens == Tokens()
    assert not any("tk" in record for record in run.records)
    assert "tokens" not in repr(runs()).splitlines()[0].split()


async def test_one_listener_is_attached(tmp_path: Path) -> None:
    """Run after run, each call is told of once, and the listeners of others stay."""
    before = [
        type(one) for one in root_dispatcher.event_handlers if one.class_name() != "WfresumeTokenCounter"
    ]
    for _ in range(2):
        await live(Strange(timeout=None))
    names = [one.class_name() for one in root_dispatcher.event_handlers]
    assert names.count("WfresumeTokenCounter") == 1
    assert [type(one) for one in root_dispatcher.event_handlers][: len(before)] == before


@pytest.mark.parametrize(
    ("response", "tokens"),
    [
        ({"raw": {"usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 9}}}, (5, 2, 9)),
        ({"raw": SimpleNamespace(usage=SimpleNamespace(input_tokens=5, output_tokens=2))}, (5, 2, 7)),
        ({"raw": {"usage_metadata": {"prompt_token_count": 5, "candidates_token_count": 2}}}, (5, 2, 7)),
        ({"raw": {"prompt_eval_count": 5, "eval_count": 2}}, (5, 2, 7)),
        (
            {"raw": {"usage": None}, "additional_kwargs": {"prompt_tokens": 5, "completion_tokens": 2}},
            (5, 2, 7),
        ),
        ({"raw": None, "additional_kwargs": {"total_tokens": 4}}, (0, 0, 4)),
        ({"raw": {"usage": {"prompt_tokens": True, "completion_tokens": "2"}}}, (0, 0, 0)),
        ({"raw": {"usage": {"prompt_tokens": -5}}}, (0, 0, 0)),
        ({"raw": "text"}, (0, 0, 0)),
        ({}, (0, 0, 0)),
    ],
)
def test_each_service_writes_it_in_its_own_way(response: dict[str, Any], tokens: tuple[int, ...]) -> None:
    """The figures are found where the service, or the model's class, has put them."""
    assert reported(SimpleNamespace(**response)) == Tokens(*tokens)
