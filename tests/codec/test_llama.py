"""Documents, nodes, messages and memories of llama-index come back the same."""

from __future__ import annotations

import pytest

pytest.importorskip("llama_index.core", reason="llama-index-core is an optional library")

from llama_index.core import Document
from llama_index.core.llms import ChatMessage, ImageBlock, MockLLM, TextBlock
from llama_index.core.memory import ChatMemoryBuffer, Memory, StaticMemoryBlock
from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore

from jupyter_wfresume.codec import MemoryBlobs, digest, encode
from jupyter_wfresume.errors import CannotKeepError
from tests.codec.same import same
from tests.codec.trip import dump, trip

NODE = TextNode(
    text="t", relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id="q")}, embedding=[0.1] * 900
)
MESSAGE = ChatMessage(
    role="user",
    blocks=[TextBlock(text="q"), ImageBlock(url="http://example.org/a.png"), ImageBlock(image=b"abc")],
    additional_kwargs={"tool_calls": [{"id": 1}]},
)
VALUES = [Document(text="x" * 9000, metadata={"a": 1}), NODE, NodeWithScore(node=NODE, score=0.5), MESSAGE]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_documents_nodes_and_messages_are_kept(value):
    """All state of the models is kept, private attributes too."""
    assert same(trip(value), value)


def test_a_chat_memory_buffer_keeps_its_messages_and_counts_tokens():
    """The default tokenizer is kept by its name, and works."""
    value = ChatMemoryBuffer.from_defaults(chat_history=[MESSAGE], token_limit=1000)
    back = trip(value)
    assert type(back) is ChatMemoryBuffer
    assert back == value
    assert back.get_all() == [MESSAGE]
    assert back.tokenizer_fn("two words") == value.tokenizer_fn("two words")


def test_a_tokenizer_of_the_user_is_refused_by_its_path():
    """A function is code, and code is not written down."""
    value = ChatMemoryBuffer.from_defaults(tokenizer_fn=lambda text: [1])
    with pytest.raises(CannotKeepError) as caught:
        encode(value, MemoryBlobs())
    assert caught.value.path == ".tokenizer_fn"


async def test_a_memory_keeps_the_messages_of_its_database():
    """Messages in the in-memory database are read without a second event loop, and are there again."""
    block = StaticMemoryBlock(name="k", static_content="hello")
    value = Memory.from_defaults(session_id="s", token_limit=1000, memory_blocks=[block])
    assert trip(value).token_limit == 1000
    await value.aput(ChatMessage(role="user", content="first"))
    await value.aput(ChatMessage(role="assistant", content="second"))
    back = trip(value)
    before_use = digest(back)
    assert [message.content for message in await back.aget_all()] == ["first", "second"]
    assert digest(value) == before_use == digest(back)
    await value.sql_store._async_engine.dispose()
    await back.sql_store._async_engine.dispose()


def test_a_password_in_a_database_address_is_not_written_down():
    """A store at a server's address is refused before its address is in any text."""
    store = SQLAlchemyChatStore(table_name="t", async_database_uri="postgresql+asyncpg://me:hunter2@host/db")
    with pytest.raises(CannotKeepError, match="password") as caught:
        dump(store)
    assert "hunter2" not in str(caught.value)


def test_a_model_client_is_refused_by_its_path():
    """An LLM object holds a client's state; its path is named."""
    with pytest.raises(CannotKeepError) as caught:
        encode({"llm": MockLLM()}, MemoryBlobs())
    assert caught.value.path == "['llm'].callback_manager"
