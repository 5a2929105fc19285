"""Recognize a ``wait_for_event`` whose ``waiter_id`` is another one each time its step runs.

The engine runs a step again from its beginning when the answer is there, and
finds the answer by the waiter's id. With an id made by chance it finds none,
and asks again for ever. Here such a call takes the place of the waiter that
the same work item made for the same event before.
"""

from __future__ import annotations

import functools
from typing import Any

from workflows.context.context import Context
from workflows.context.internal_context import InternalContext
from workflows.events import HumanResponseEvent, InputRequiredEvent
from workflows.runtime.types.results import DeleteWaiter, StepWorkerContext

from .answers import own_requirements
from .attach import ALONE, AttachedInternal

_plain_wait = InternalContext.wait_for_event
_plain_context_wait = Context.wait_for_event

ENGINES_TIMEOUT_S = 2000.0
"""How long ``wait_for_event`` waits by default, in seconds (the engine's signature)."""


class _Unset:
    """Tells a timeout that was not given from None."""


_UNSET = _Unset()


async def _wait_for_event(
    self: InternalContext[Any],
    event_type: type[Any],
    waiter_event: Any = None,
    waiter_id: str | None = None,
    requirements: dict[str, Any] | None = None,
    timeout: float | _Unset | None = _UNSET,
) -> Any:
    adapter = self._internal_adapter
    attached = isinstance(adapter, AttachedInternal)
    if waiter_id is not None and (ALONE.get() or attached):
        context = self._get_step_ctx(fn="wait_for_event")
        earlier = _earlier(context, event_type, requirements or {}, waiter_id)
        if earlier != waiter_id and isinstance(adapter, AttachedInternal):
            adapter.port.renamed_waiter()
        waiter_id = earlier
    if isinstance(timeout, _Unset):
        # A person may take a night; whoever wants a bound gives one.
        person = issubclass(event_type, HumanResponseEvent) or isinstance(waiter_event, InputRequiredEvent)
        timeout = None if attached and person else ENGINES_TIMEOUT_S
    return await _plain_wait(self, event_type, waiter_event, waiter_id, requirements, timeout)


@functools.wraps(_plain_context_wait)
async def _context_wait(
    self: Context[Any],
    event_type: type[Any],
    waiter_event: Any = None,
    waiter_id: str | None = None,
    requirements: dict[str, Any] | None = None,
    timeout: Any = _UNSET,
) -> Any:
    # The engine fills its own default in here, after which nobody can tell who gave it.
    return await _plain_context_wait(self, event_type, waiter_event, waiter_id, requirements, timeout)


def _earlier(
    context: StepWorkerContext, event_type: type[Any], requirements: dict[str, Any], waiter_id: str
) -> str:
    known = context.state.collected_waiters
    if any(waiter.waiter_id == waiter_id for waiter in known):
        return waiter_id
    taken = {item.waiter_id for item in context.returns.return_values if isinstance(item, DeleteWaiter)}
    for waiter in known:
        same = (
            waiter.waiting_for_event is event_type
            and own_requirements(waiter.requirements) == requirements
            and waiter.work_item_id == context.state.work_item_id
        )
        if same and waiter.waiter_id not in taken:
            return waiter.waiter_id
    return waiter_id


def recognize_waiters() -> None:
    """Let steps of attached runs find their waiters again."""
    InternalContext.wait_for_event = _wait_for_event  # type: ignore[method-assign]  # see above
    Context.wait_for_event = _context_wait  # type: ignore[method-assign]  # see there
