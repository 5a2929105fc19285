"""A memory that a body passes to an agent is the body's own object, whoever has filled it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="llama-index-core is an optional library")

from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.storage.chat_store import SimpleChatStore

from jupyter_wfresume import durable
from tests.agents.fakes import helper
from tests.counting import counts

# The engine looks at each attribute of an agent, pydantic's old ones too.
pytestmark = [
    pytest.mark.filterwarnings("ignore:The `__fields.*__` attribute is deprecated"),
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
]


@pytest.fixture(autouse=True)
def _here(work_dir: Path) -> None:
    """Put stores and logs into the test's own folder."""


def texts(messages: list[Any]) -> list[str | None]:
    """What was said."""
    return [message.content for message in messages]


async def told(memory: Any, **options: Any) -> None:
    """Say a name to an agent with this memory."""
    async with durable("it", board="none", **options):
        await helper().run("my name is Ada", memory=memory)


async def test_the_chat_store_that_the_body_holds_is_filled_from_the_record(work_dir: Path) -> None:
    """Whoever saves the chat store behind a memory finds in it what a recorded turn had said."""
    for _ in range(2):
        store = SimpleChatStore()
        await told(ChatMemoryBuffer.from_defaults(chat_store=store, chat_store_key="ada"))
        assert texts(store.get_messages("ada")) == ["my name is Ada", "ok"]
        assert counts("log") == {"llm 1": 1}


async def test_two_memories_stay_two(work_dir: Path) -> None:
    """What one recorded turn gives to its memory, another one's memory does not share."""
    for name in "ab":
        await told(ChatMemoryBuffer.from_defaults(chat_store_key=name))
    first, second = (ChatMemoryBuffer.from_defaults(chat_store_key=name) for name in "ab")
    await told(first)
    await told(second)
    assert counts("log") == {"llm 1": 2}
    await helper().run("my name is Bob", memory=second)
    assert texts(first.get_all()) == ["my name is Ada", "ok"]
    assert texts(second.get_all()) == ["my name is Ada", "ok", "my name is Bob", "ok"]
