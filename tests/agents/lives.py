"""One life of a conversation in a process of its own: ``python -m tests.agents.lives KIND ARGUMENT...``."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.counting import counts
from tests.kernels import ROOT


@dataclass(frozen=True)
class Life:
    """What one process did.

    Args:
        answers: what the agent answered turn by turn, or None where the process died.
        ended: the sentence of the run that ended without a result.
        log: how often each line stands in the file, over all lives.
    """

    answers: list[str] | None
    ended: str
    log: dict[str, int]


def live(folder: Path, kind: str, *arguments: str) -> Life:
    """Run a process in a folder, where its store is too."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.agents.lives", kind, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    log = dict(counts(folder / "log"))
    if done.returncode == -9:
        return Life(None, "", log)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    return Life(said["answers"], said["ended"], log)


async def _talk(answers: list[str], *turns: str) -> None:
    from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent

    from jupyter_wfresume import durable
    from tests.agents.fakes import helper

    async with durable("talk", board="none", wait=0):
        agent = helper()
        ctx = Context(agent)
        for turn in turns:
            text, _, answer = turn.partition(" -> ")
            handler = agent.run(text, ctx=ctx)
            if answer:
                async for event in handler.stream_events():
                    if isinstance(event, InputRequiredEvent):
                        handler.ctx.send_event(HumanResponseEvent(response=answer))
            answers.append(str(await handler))


async def _buffer(answers: list[str], *turns: str) -> None:
    from llama_index.core.memory import ChatMemoryBuffer

    await _remember(ChatMemoryBuffer.from_defaults(token_limit=3000), answers, *turns)


async def _memory(answers: list[str], *turns: str) -> None:
    from llama_index.core.memory import Memory

    await _remember(Memory.from_defaults(session_id="s", token_limit=3000), answers, *turns)


async def _remember(memory: Any, answers: list[str], *turns: str) -> None:
    from jupyter_wfresume import durable
    from tests.agents.fakes import helper

    async with durable("talk", board="none", wait=0):
        for turn in turns:
            answers.append(str(await helper().run(turn, memory=memory)))


async def _team(answers: list[str], *turns: str) -> None:
    from jupyter_wfresume import durable
    from tests.agents.fakes import team

    async with durable("team", board="none"):
        for turn in turns:
            answers.append(str(await team().run(turn)))


KINDS = {"talk": _talk, "team": _team, "buffer": _buffer, "memory": _memory}


def main(kind: str, turns: Sequence[str]) -> dict[str, Any]:
    """Live one life."""
    from jupyter_wfresume.errors import RunEnded

    answers: list[str] = []
    ended = ""
    try:
        asyncio.run(KINDS[kind](answers, *turns))
    except RunEnded as error:
        ended = error.sentence
    return {"answers": answers, "ended": ended}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2:])))
