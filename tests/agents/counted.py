"""Language models that report their tokens, by the callbacks that every model has, and who asks them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from types import SimpleNamespace
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.tools import ToolSelection
from workflows import Workflow, step
from workflows.events import Event, StartEvent, StopEvent
from workflows.retry_policy import retry_policy, stop_after_attempt, wait_fixed

from tests.agents.fakes import LOG, add
from tests.counting import bump, counts

PROMPT, COMPLETION = 10, 3


class Completes(CustomLLM):
    """A chat is made of a completion, so that both tell of the same answer."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="completes")

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **more: Any) -> CompletionResponse:
        usage = {"prompt_tokens": PROMPT, "completion_tokens": len(prompt)}
        return CompletionResponse(text="ok", raw={"usage": usage})

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **more: Any) -> Any:
        raise NotImplementedError


class Calls(FunctionCallingLLM):
    """Calls a tool once, then answers; streams, as an agent wants it, with the usage in the last piece."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=True, model_name="calls")

    @llm_chat_callback()
    async def astream_chat(
        self, messages: Sequence[ChatMessage], **more: Any
    ) -> AsyncGenerator[ChatResponse, None]:
        tool = messages[-1].role != "tool"
        call = {"id": "1", "name": "add", "args": {"a": 1, "b": 2}}
        message = ChatMessage(
            role="assistant",
            content="" if tool else "3",
            additional_kwargs={"tool_calls": [call]} if tool else {},
        )

        async def stream() -> AsyncGenerator[ChatResponse, None]:
            yield ChatResponse(message=message, raw=SimpleNamespace(usage=None))
            used = SimpleNamespace(input_tokens=PROMPT, output_tokens=COMPLETION)
            yield ChatResponse(message=message, raw=SimpleNamespace(usage=used))

        return stream()

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **more: Any
    ) -> list[ToolSelection]:
        calls = response.message.additional_kwargs.get("tool_calls", [])
        return [ToolSelection(tool_id=c["id"], tool_name=c["name"], tool_kwargs=c["args"]) for c in calls]

    def _prepare_chat_with_tools(self, *args: Any, chat_history: Any = None, **more: Any) -> dict[str, Any]:
        return {"messages": chat_history}

    def chat(self, messages: Any, **more: Any) -> ChatResponse:
        raise NotImplementedError

    complete = acomplete = stream_chat = achat = stream_complete = astream_complete = chat  # type: ignore[assignment]  # none of them is called


def helper() -> FunctionAgent:
    """An agent with one tool."""
    return FunctionAgent(name="helper", description="helps", tools=[add], llm=Calls(), timeout=None)


class Text(Event):
    text: str


class Said(Event):
    text: str


class Asks(Workflow):
    """Asks once an item; the second item's first attempt fails after it has asked."""

    note = ""

    @step
    async def split(self, ev: StartEvent) -> list[Text]:
        return [Text(text="a" * n) for n in (1, 2, 3)]

    @step(num_workers=3, retry_policy=retry_policy(wait=wait_fixed(0), stop=stop_after_attempt(2)))
    async def ask(self, ev: Text) -> Said:
        bump(LOG, f"ask {ev.text}")
        await asyncio.sleep(0)
        said = await Completes().achat([ChatMessage(role="user", content=ev.text)])
        if ev.text == "aa" and counts(LOG)["ask aa"] == 1:
            raise ValueError("the first time it fails")
        return Said(text=str(said.message.content))

    @step
    def sum_up(self, ev: list[Said]) -> StopEvent:
        return StopEvent(result=Completes().complete("four").text)


class Inner(Workflow):
    @step
    async def ask(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=(await Completes().acomplete("inner")).text)


class Outer(Workflow):
    note = ""

    @step
    async def first(self, ev: StartEvent) -> Text:
        await Completes().acomplete("outer")
        return Text(text=await Inner(timeout=None).run())

    @step
    async def last(self, ev: Text) -> StopEvent:
        return StopEvent(result=ev.text)


class Strange(Workflow):
    """Asks models that say nothing, or what is no number."""

    @step
    async def ask(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=(await Mute().acomplete("x")).text)


class Unreadable:
    @property
    def usage(self) -> Any:
        raise RuntimeError("the connection is closed")


class Mute(Completes):
    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **more: Any) -> CompletionResponse:
        return CompletionResponse(text="ok", raw=Unreadable())
