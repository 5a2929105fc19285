"""Workflows that are run in a store and replayed from it, and the way to both."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel
from workflows import Context, Workflow, step
from workflows.events import Event, HumanResponseEvent, InputRequiredEvent, StartEvent, StopEvent
from workflows.resource import Resource
from workflows.retry_policy import retry_policy, stop_after_attempt, wait_fixed

from jupyter_wfresume.engine import event_classes
from jupyter_wfresume.journal import Record, StoreBlobs, TickReader, history
from jupyter_wfresume.records import Options
from jupyter_wfresume.replay import Replayed, replay
from jupyter_wfresume.session import Session, list_runs
from jupyter_wfresume.store import Store


class Item(Event):
    i: int
    text: str = ""


class Done(Event):
    i: int
    v: str


class Extra(Event):
    i: int


class Pair(Event):
    left: int
    right: int


TONE = {"suffix": "!"}
"""What the steps depend on; tests change it, as a user edits code."""


def make_client() -> list[str]:
    return ["client"]


class Fan(Workflow):
    """A fan-out, work in a thread, sends, a stream, and a fan-in."""

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        return [Item(i=i, text=f"text {i}") for i in range(ev.n)]

    @step
    async def work(self, ctx: Context, ev: Item) -> Done:
        ctx.write_event_to_stream(Extra(i=ev.i))
        if ev.i in TONE.get("fails", ()):
            raise ValueError(f"bad document {ev.i}")
        return Done(i=ev.i, v=ev.text + TONE["suffix"])

    @step
    def join(self, ev: list[Done]) -> StopEvent:
        return StopEvent(result=sorted(one.v for one in ev))


class Waver(Workflow):
    """A step reads what another wrote after the first had begun."""

    begun: ClassVar[asyncio.Event]
    written: ClassVar[asyncio.Event]

    @step
    async def start(self, ctx: Context, ev: StartEvent) -> Item | Extra | None:
        await ctx.store.set("k", "start")
        ctx.send_event(Item(i=1))
        ctx.send_event(Extra(i=1))
        return None

    @step
    async def reads(self, ctx: Context, ev: Item) -> StopEvent:
        self.begun.set()
        await self.written.wait()
        return StopEvent(result=await ctx.store.get("k"))

    @step
    async def writes(self, ctx: Context, ev: Extra) -> Done:
        await self.begun.wait()
        # Only time itself can pass here: the record's begin is rounded to a millisecond.
        await asyncio.sleep(0.002)
        await ctx.store.set("k", "writes")
        return Done(i=1, v="")

    @step
    async def tells(self, ev: Done) -> StopEvent | None:
        self.written.set()
        return None


class Locked(Workflow):
    """A part of the state cannot be written down."""

    @step
    async def begin(self, ctx: Context, ev: StartEvent) -> Item:
        await ctx.store.set("lock", threading.Lock())
        await ctx.store.set("plain", [1])
        return Item(i=1)

    @step
    async def end(self, ctx: Context, ev: Item) -> StopEvent:
        return StopEvent(result=await ctx.store.get("plain"))


class Counter(BaseModel):
    count: int = 0
    seen: list[str] = []


class Counts(Workflow):
    """Typed state that each step moves on."""

    @step
    async def one(self, ctx: Context[Counter], ev: StartEvent) -> Item:
        async with ctx.store.edit_state() as state:
            state.count += 1
            state.seen.append("one")
        return Item(i=1)

    @step
    async def two(
        self, ctx: Context[Counter], ev: Item, client: Annotated[list[str], Resource(make_client)]
    ) -> Done:
        before = await ctx.store.get("count")
        await ctx.store.set("count", before + 10)
        return Done(i=before, v=client[0])

    @step
    async def three(self, ctx: Context[Counter], ev: Done) -> StopEvent:
        return StopEvent(result=[await ctx.store.get("count"), *(await ctx.store.get("seen"))])


class Sends(Workflow):
    """A step that only sends, a buffer of ``collect_events``, and a fan-in of two parameters."""

    @step
    async def begin(self, ctx: Context, ev: StartEvent) -> Item | None:
        for i in range(3):
            ctx.send_event(Item(i=i))
        return None

    @step
    async def gather(self, ctx: Context, ev: Item) -> Pair | None:
        found = ctx.collect_events(ev, [Item] * 3)
        return None if found is None else Pair(left=sum(one.i for one in found), right=0)

    @step
    async def end(self, ev: Pair) -> StopEvent:
        return StopEvent(result=ev.left)


class Two(Workflow):
    """A fan-in of two parameters."""

    @step
    async def left(self, ev: StartEvent) -> Item:
        return Item(i=1)

    @step
    async def right(self, ev: StartEvent) -> Extra:
        return Extra(i=20)

    @step
    async def both(self, a: Item, b: Extra) -> StopEvent:
        return StopEvent(result=a.i + b.i)


class Asks(Workflow):
    """A step that waits for a person."""

    @step
    async def ask(self, ctx: Context, ev: StartEvent) -> StopEvent:
        said = await ctx.wait_for_event(
            HumanResponseEvent, waiter_event=InputRequiredEvent(prefix="go on?"), waiter_id="go"
        )
        return StopEvent(result=said.response + TONE["suffix"])


class Retries(Workflow):
    """A step that fails once, changes its input, and returns at the second attempt."""

    @step(retry_policy=retry_policy(wait=wait_fixed(0), stop=stop_after_attempt(3)))
    async def begin(self, ctx: Context, ev: StartEvent) -> StopEvent:
        info = ctx.retry_info()
        if info.retry_number == 0:
            ev.marked = "once"
            raise ValueError("at first")
        return StopEvent(result=[info.retry_number, str(info.last_exception), ev.get("marked")])


class Inner(Workflow):
    @step
    async def double(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=ev.x * 2)


class Outer(Workflow):
    """A step that runs a workflow itself."""

    @step
    async def call(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=await Inner(timeout=None).run(x=ev.x) + 1)


class Carries(Event):
    call: Any


class Unkept(Workflow):
    """An event that cannot be written down."""

    @step
    async def begin(self, ev: StartEvent) -> Carries:
        return Carries(call=lambda: 40)

    @step
    async def end(self, ev: Carries) -> StopEvent:
        return StopEvent(result=ev.call())


class Recorded:
    """A run in a store.

    Args:
        path: the store's folder.
        workflow: runs it, and replays from it.
    """

    def __init__(self, path: Path, workflow: Workflow) -> None:
        self.path = path
        self.workflow = workflow
        self.error: BaseException | None = None
        self.result: Any = None

    async def run(self, body: Callable[[Workflow], Awaitable[Any]], **options: Any) -> Recorded:
        """Run a body in a session."""
        session = Session(
            "recorded",
            Options(store=str(self.path), **options),
            on_view=lambda view: None,
            on_close_view=lambda view: None,
            tell=lambda line: None,
        )
        try:
            with session:
                self.result = await body(self.workflow)
        except BaseException as error:  # noqa: BLE001  # a test looks at it
            self.error = error
        return self

    def records(self, store: Store) -> list[Record]:
        """The records of its only run at the top."""
        (run,) = list_runs(store, "recorded")
        return history(store, run.id).records

    async def replay(self, step: str, index: int, **more: Any) -> Replayed:
        """Replay one execution; the store must not change by a byte."""
        with Store.open(self.path, create=False) as store:
            # Opening and closing move the database's own files; between them nothing may.
            before = self.bytes()
            try:
                return await replay(
                    self.workflow,
                    self.records(store),
                    step,
                    index,
                    blobs=StoreBlobs(store),
                    find_class=self.find_class,
                    **more,
                )
            finally:
                assert self.bytes() == before

    def find_class(self, module: str, qualname: str) -> type | None:
        """A class of the workflow's events."""
        return event_classes(self.workflow).get((module, qualname))

    def reader(self, store: Store) -> TickReader:
        """Makes values of the run's nodes."""
        return TickReader(StoreBlobs(store), self.find_class, lambda event, said: None)

    def bytes(self) -> dict[str, str]:
        """The digest of each file of the store."""
        return {
            str(path.relative_to(self.path)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.path.rglob("*"))
            if path.is_file() and not path.name.endswith("-shm")
        }
