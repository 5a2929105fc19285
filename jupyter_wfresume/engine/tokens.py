"""How many tokens calls of language models report, at the moment they end.

The models of ``llama-index-core`` tell of the end of each call through the dispatcher that the engine uses,
too. What they count stands where their service put it, so that several names for the same figure are known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

from llama_index_instrumentation import root_dispatcher
from llama_index_instrumentation.base import BaseEvent
from llama_index_instrumentation.event_handlers import BaseEventHandler

from ..records import Tokens

_ENDS = ("LLMChatEndEvent", "LLMCompletionEndEvent")
_PROMPT = ("prompt_tokens", "input_tokens", "prompt_token_count", "prompt_eval_count")
_COMPLETION = ("completion_tokens", "output_tokens", "candidates_token_count", "eval_count")
_TOTAL = ("total_tokens", "total_token_count")
"""Names of each figure, as OpenAI, Anthropic, Google and Ollama write it."""

_LAST: ContextVar[Any] = ContextVar("wfresume_answer_counted", default=None)
"""The service's answer that was counted last: a chat made of a completion tells of the same one twice."""


class TokenCounter(BaseEventHandler):
    """Hears of each call that has ended.

    Args:
        told: is given what a call reports.
    """

    told: Callable[[Tokens], None]

    @classmethod
    def class_name(cls) -> str:
        """The name by which it is found again."""
        return "WfresumeTokenCounter"

    def handle(self, event: BaseEvent, **more: Any) -> None:
        """Count a call; the dispatcher lets nothing that is raised here reach the call."""
        if type(event).__name__ not in _ENDS:
            return
        response = getattr(event, "response", None)
        raw = getattr(response, "raw", None)
        if response is None or (raw is not None and raw is _LAST.get()):
            return
        _LAST.set(raw)
        found = reported(response)
        if found:
            self.told(found)


def count_tokens(told: Callable[[Tokens], None]) -> None:
    """Tell of the tokens of each call in this process, from now on, to one listener.

    Args:
        told: is given what a call reports, in the context that made it.
    """
    kept = [one for one in root_dispatcher.event_handlers if one.class_name() != TokenCounter.class_name()]
    root_dispatcher.event_handlers = [*kept, TokenCounter(told=told)]


def reported(response: Any) -> Tokens:
    """What a model's response says of its tokens; nothing where it says nothing.

    Args:
        response: with ``raw``, the service's own answer, and ``additional_kwargs``.
    """
    raw = getattr(response, "raw", None)
    places = (
        _part(raw, "usage"),
        _part(raw, "usage_metadata"),
        getattr(response, "additional_kwargs", None),
        raw,
    )
    for place in places:
        prompt, completion = _figure(place, _PROMPT), _figure(place, _COMPLETION)
        total = _figure(place, _TOTAL) or prompt + completion
        if total:
            return Tokens(prompt, completion, total)
    return Tokens()


def _part(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


def _figure(holder: Any, names: tuple[str, ...]) -> int:
    for name in names:
        found = None if holder is None else _part(holder, name)
        if isinstance(found, int) and not isinstance(found, bool) and found > 0:
            return found
    return 0
