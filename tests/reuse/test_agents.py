"""Agents of llama-index-core: a turn is answered from the record only while all that it depends on is the
same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.workflow import Context

from tests.agents.fakes import FakeLLM
from tests.counting import counts
from tests.reuse.book import Book

# The engine looks at every attribute of an agent, which is a pydantic model with deprecated ones.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

TOOL = """\
def add(a: int, b: int) -> int:
    \"\"\"{doc}\"\"\"
    return {body}
"""


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Book:
    """A notebook in a folder of its own, where the model counts its calls."""
    monkeypatch.chdir(tmp_path)
    return Book(tmp_path)


async def turns(
    book: Book, body: str, *said: str, prompt: str = "", doc: str = "Add two numbers."
) -> tuple[list[str], int]:
    """What an agent with this tool answers turn by turn, and how often the model was called for it."""
    kernel = book.kernel(TOOL.format(body=body, doc=doc))
    before = sum(counts("log").values())

    async def talk() -> list[str]:
        agent = FunctionAgent(
            name="helper", tools=[kernel.add], llm=FakeLLM(), timeout=None, system_prompt=prompt or None
        )
        ctx: Context[Any] = Context(agent)
        return [str(await agent.run(one, ctx=ctx)) for one in said]

    life = await book.body(kernel, talk)
    assert life.error is None, life.error
    return life.result, sum(counts("log").values()) - before


async def test_the_same_turns_again(book: Book) -> None:
    """The same conversation in a new kernel costs no call; one more turn costs that turn."""
    add = "call add a 1 b 2"
    assert await turns(book, "int(a) + int(b)", "my name is Ada", add) == (["ok", "the tool said 3"], 3)
    assert await turns(book, "int(a) + int(b)", "my name is Ada", add) == (["ok", "the tool said 3"], 0)
    more = await turns(book, "int(a) + int(b)", "my name is Ada", add, "what is my name?")
    assert more == (["ok", "the tool said 3", "Ada"], 1)


async def test_another_name_is_never_answered_with_the_old_one(book: Book) -> None:
    """Equal turns after different ones see their own memory."""
    for name in ("Ada", "Bob", "Ada", "Eve"):
        said, _ = await turns(book, "0", f"my name is {name}", "hello", "what is my name?")
        assert said == ["ok", "ok", name]


async def test_an_edited_docstring_of_a_tool_is_told(book: Book) -> None:
    """A tool's docstring is what the model goes by: an edit asks it again, going back is free."""
    add = "call add a 1 b 2"
    first = await turns(book, "int(a) + int(b)", add)
    other = await turns(book, "int(a) + int(b)", add, doc="Add two whole numbers.")
    assert (first[1], other[1]) == (2, 2)
    assert await turns(book, "int(a) + int(b)", add) == (["the tool said 3"], 0)


async def test_an_edited_tool_is_used(book: Book) -> None:
    """A tool that was edited gives its new result, and going back gives the old one for nothing."""
    add = "call add a 1 b 2"
    assert (await turns(book, "int(a) + int(b)", add))[0] == ["the tool said 3"]
    assert (await turns(book, "int(a) * 10 + int(b)", add))[0] == ["the tool said 12"]
    assert (await turns(book, "int(a) + int(b)", add))[0] == ["the tool said 3"]
