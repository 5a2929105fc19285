"""A language model that answers by rules, and agents on top of it.

Each call is counted in a file, by how many messages it saw, so that calls can be told apart over kills.
"""

import os
import signal
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata, MessageRole
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.tools import ToolSelection
from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent

from tests.counting import bump, counts

LOG = "log"
DIE = "die"


def _die_when_told() -> None:
    """Kill this process in the N-th call of all, where a file says N."""
    if os.path.exists(DIE):
        with open(DIE, encoding="utf-8") as asked:
            number = int(asked.read())
        if sum(n for line, n in counts(LOG).items() if line.startswith("llm")) == number:
            os.unlink(DIE)
            os.kill(os.getpid(), signal.SIGKILL)


class FakeLLM(FunctionCallingLLM):
    """``call TOOL NAME VALUE`` calls a tool; ``my name is X`` is remembered by the conversation alone."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=True, model_name="fake")

    def _answer(self, messages: Sequence[ChatMessage]) -> ChatMessage:
        bump(LOG, f"llm {len(messages)}")
        _die_when_told()
        last = messages[-1]
        text = last.content or ""
        if last.role == MessageRole.TOOL:
            return ChatMessage(role="assistant", content=f"the tool said {text}")
        if text == "what is my name?":
            told = [m.content or "" for m in messages if (m.content or "").startswith("my name is ")]
            return ChatMessage(role="assistant", content=told[-1].split()[-1] if told else "unknown")
        if text.startswith("call "):
            _, tool, *rest = text.split()
            call = {"id": "1", "name": tool, "args": dict(zip(rest[::2], rest[1::2], strict=True))}
            return ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": [call]})
        return ChatMessage(role="assistant", content="ok")

    async def achat_with_tools(self, *args: Any, chat_history: Any = None, **more: Any) -> ChatResponse:
        return ChatResponse(message=self._answer(chat_history), raw={})

    async def astream_chat_with_tools(
        self, *args: Any, chat_history: Any = None, **more: Any
    ) -> AsyncGenerator[ChatResponse, None]:
        message = self._answer(chat_history)

        async def stream() -> AsyncGenerator[ChatResponse, None]:
            yield ChatResponse(message=message, delta=message.content, raw={})

        return stream()

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **more: Any
    ) -> list[ToolSelection]:
        calls = response.message.additional_kwargs.get("tool_calls", [])
        return [ToolSelection(tool_id=c["id"], tool_name=c["name"], tool_kwargs=c["args"]) for c in calls]

    def _prepare_chat_with_tools(self, *args: Any, **more: Any) -> dict[str, Any]:
        return {}

    async def achat(self, messages: Any, **more: Any) -> ChatResponse:
        return ChatResponse(message=self._answer(messages))

    def chat(self, messages: Any, **more: Any) -> ChatResponse:
        raise NotImplementedError

    complete = acomplete = stream_chat = astream_chat = stream_complete = astream_complete = chat  # type: ignore[assignment]  # none of them is called


def add(a: int, b: int) -> int:
    """Add two numbers."""
    bump(LOG, "add")
    return int(a) + int(b)


async def ask(ctx: Context, what: str) -> str:
    """Ask the person."""
    bump(LOG, "ask")
    question = InputRequiredEvent(prefix=what)
    answer = await ctx.wait_for_event(HumanResponseEvent, waiter_event=question, waiter_id=what)
    bump(LOG, "answered")
    return str(answer.response)


def helper() -> FunctionAgent:
    """An agent with two tools."""
    return FunctionAgent(name="helper", description="helps", tools=[add, ask], llm=FakeLLM(), timeout=None)


def team() -> AgentWorkflow:
    """Two agents, of which the first hands over to the second."""
    one = FunctionAgent(name="one", description="first", llm=FakeLLM(), can_handoff_to=["two"])
    two = FunctionAgent(name="two", description="second", tools=[add], llm=FakeLLM())
    return AgentWorkflow(agents=[one, two], root_agent="one", timeout=None)
