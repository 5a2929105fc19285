"""What an execution does beside returning an event is done again when it is answered from the record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.reuse.book import Book, check_plan, documents, executed, plan_of


@pytest.fixture
def book(tmp_path: Path) -> Book:
    """A notebook that was never run."""
    return Book(tmp_path)


SENDS = """\
class Flow(Workflow):
    @step
    async def split(self, ctx: Context, ev: StartEvent) -> Item | None:
        ran("split")
        for doc in ev.docs:
            ctx.send_event(Item(doc=doc))
        ctx.send_event(Done(doc="extra", value="extra"), step="join")

    @step(num_workers=4)
    async def work(self, ctx: Context, ev: Item) -> Done:
        ran("work")
        for word in (ev.doc, ev.doc * 2):
            ctx.write_event_to_stream(Item(doc=word))
        return Done(doc=ev.doc, value=ev.doc)

    @step(num_workers=1)
    async def join(self, ctx: Context, ev: Done) -> StopEvent | None:
        ran("join")
        got = ctx.collect_events(ev, [Done] * {count})
        if got is None:
            return None
        return StopEvent(result=sorted(one.value for one in got){end})
"""


async def test_sends_are_sent_again(book: Book) -> None:
    """Events that a step sent are sent once when it is answered; steps that collect run again each time."""
    await book.run(SENDS.format(count=4, end=""), docs=["a", "b", "c"])
    edited = await book.run(SENDS.format(count=4, end=" + [1]"), docs=["a", "b", "c"])
    assert edited.result == ["a", "b", "c", "extra", 1]
    assert executed(edited) == {"join": 4}
    check_plan(edited)
    assert plan_of(edited)["join"].startswith("4 to run (`join` changed: the step itself differs)")


async def test_the_stream_is_streamed_again(book: Book) -> None:
    """A body that consumes the stream reads the recorded events of answered executions, each once."""
    streams = []
    for end in ("", " + [1]"):
        kernel = book.kernel(SENDS.format(count=4, end=end))

        async def body(kernel: Any = kernel) -> list[str]:
            handler = kernel.Flow(timeout=None).run(docs=["a", "b", "c"])
            return [ev.doc async for ev in handler.stream_events() if isinstance(ev, kernel.Item)]

        life = await book.body(kernel, body)
        assert life.error is None, life.error
        streams.append(sorted(life.result))
    assert life.ran["work"] == 0
    assert streams[0] == streams[1] == ["a", "aa", "b", "bb", "c", "cc"]


async def test_clock_and_chance_are_as_recorded(book: Book) -> None:
    """A step that reads the clock or random numbers gives what it gave."""
    work = "import random, time\nreturn Done(doc=ev.doc, value=f'{time.time()} {random.random()}')"
    first = await book.run(documents(work), docs=["a", "a", "b"])
    again = await book.run(documents(work), docs=["b", "a", "a"])
    assert executed(again) == {"split": 1}
    assert again.result == first.result


WRITES = """\
class Flow(Workflow):
    @step
    async def prepare(self, ctx: Context, ev: StartEvent) -> Item:
        ran("prepare")
        async with ctx.store.edit_state() as state:
            state["words"] = ["a", "b"]
            state["deep"] = {{"x": {{"y": 1}}}}
        return Item(doc=ev.doc)

    @step
    async def work(self, ctx: Context, ev: Item) -> Done:
        ran("work")
        words = await ctx.store.get("words")
        words.append(ev.doc)
        await ctx.store.set("deep.x.y", len(words))
        return Done(doc="", value="")

    @step
    async def report(self, ctx: Context, ev: Done) -> StopEvent:
        ran("report")
        return StopEvent(result=[{first}, await ctx.store.get("words"), await ctx.store.get("deep")])
"""


async def test_state_is_written_again(book: Book) -> None:
    """Answered executions leave the state as they left it, changes in place and below a key included; the
    final
    state of the run is there too."""
    states = []
    for first in (1, 2):
        kernel = book.kernel(WRITES.format(first=first))

        async def body(kernel: Any = kernel) -> Any:
            handler = kernel.Flow(timeout=None).run(doc="c")
            return [await handler, await handler.ctx.store.get("words"), await handler.ctx.store.get("deep")]

        life = await book.body(kernel, body)
        assert life.error is None, life.error
        states.append(life.result)
    words, deep = ["a", "b", "c"], {"x": {"y": 3}}
    assert states == [[[first, words, deep], words, deep] for first in (1, 2)]
    # `deep.x.y` was set without being read, so what else stands there is not known to be the same.
    assert executed(life) == {"work": 1, "report": 1}
    assert "changed a part of a state that it had not read" in plan_of(life)["work"]


RETRIES = """\
from workflows.retry_policy import retry_policy, stop_after_attempt, wait_fixed

class Flow(Workflow):
    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        ran("split")
        return [Item(doc=doc) for doc in ev.docs]

    @step(retry_policy=retry_policy(wait=wait_fixed(0), stop=stop_after_attempt(2)))
    async def work(self, ctx: Context, ev: Item) -> Done:
        ran("work")
        if ctx.retry_info().retry_number == 0:
            raise ValueError("once")
        return Done(doc=ev.doc, value=ev.doc)

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        ran("join")
        return StopEvent(result=[{first}, *sorted(one.value for one in ev)])
"""


async def test_what_succeeded_at_last_is_answered(book: Book) -> None:
    """An execution that succeeded in its second attempt is answered at the first."""
    first = await book.run(RETRIES.format(first=1), docs=["a", "b"])
    assert first.ran["work"] == 4
    edited = await book.run(RETRIES.format(first=2), docs=["a", "b"])
    assert (edited.result, executed(edited)) == ([2, "a", "b"], {"join": 1})
    check_plan(edited)


async def test_failed_last_time(book: Book) -> None:
    """The plan of another call says what failed last time, and that is executed."""
    fails = "if ev.doc == 'bad' and not ok(): raise ValueError\nreturn Done(doc=ev.doc, value=ev.doc)"
    broken = documents(fails, more="tag = 1")
    assert isinstance((await book.run("def ok(): return False", broken, docs=["a", "bad"])).error, ValueError)
    kernel = book.kernel("def ok(): return True", broken)

    def other() -> Any:
        flow = kernel.Flow(timeout=None)
        flow.note = "another call, of the same code"
        return flow.run(docs=["a", "bad"])

    life = await book.body(kernel, other)
    assert life.result == ["a", "bad"]
    assert "failed last time" in plan_of(life)["work"] or "changed" in plan_of(life)["work"]
    assert life.ran["split"] == 0
    check_plan(life)


CAUGHT = """\
from workflows import catch_error
from workflows.events import StepFailedEvent

class Flow(Workflow):
    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        ran("split")
        return [Item(doc=doc) for doc in ev.docs]

    @step
    async def work(self, ev: Item) -> Done:
        ran("work")
        if ev.doc == "bad":
            raise ValueError("bad")
        return Done(doc=ev.doc, value=ev.doc)

    @catch_error(for_steps=["work"])
    async def mend(self, ev: StepFailedEvent) -> StopEvent:
        ran("mend")
        return StopEvent(result=f"mended {{ev.exception}}")

    @step
    async def join(self, ev: list[Done]) -> StopEvent:
        ran("join")
        return StopEvent(result=[{first}, *sorted(one.value for one in ev)])
"""


async def test_caught_failures_happen_again(book: Book) -> None:
    """An execution whose failure a ``@catch_error`` step caught is executed again, and so is the step that
    caught it; other executions are answered."""
    first = await book.run(CAUGHT.format(first=1), docs=["a", "bad"])
    assert first.result == "mended bad"
    again = await book.run(CAUGHT.format(first=1), docs=["b", "a", "bad"])
    assert again.result == "mended bad"
    assert again.ran["mend"] == 1
    assert again.ran["work"] <= 2


WAITS = """\
from workflows.events import HumanResponseEvent, InputRequiredEvent

class Flow(Workflow):
    @step
    async def split(self, ev: StartEvent) -> Item:
        ran("split")
        return Item(doc=ev.doc)

    @step
    async def ask(self, ctx: Context, ev: Item) -> Done:
        ran("ask")
        got = await ctx.wait_for_event(HumanResponseEvent, waiter_event=InputRequiredEvent(prefix="ok?"))
        return Done(doc=ev.doc, value=got.response)

    @step
    async def end(self, ev: Done) -> StopEvent:
        ran("end")
        return StopEvent(result=[{first}, ev.value])
"""


async def test_a_question_is_asked_again(book: Book) -> None:
    """A step that waited for a person asks again in a new run: what it was told is no property of its
    input."""
    for first, said in ((1, "yes"), (2, "no")):
        kernel = book.kernel(WAITS.format(first=first))

        async def body(kernel: Any = kernel, said: str = said) -> Any:
            handler = kernel.Flow(timeout=None).run(doc="a")
            async for ev in handler.stream_events():
                if isinstance(ev, kernel.InputRequiredEvent):
                    handler.ctx.send_event(kernel.HumanResponseEvent(response=said))
            return await handler

        life = await book.body(kernel, body)
        assert life.result == [first, said], life.error
    assert executed(life) == {"ask": 2, "end": 1}
    assert "waits" in plan_of(life)["ask"]


async def test_a_value_in_the_store_that_is_gone(book: Book) -> None:
    """A recorded output whose value file was deleted is no answer: the execution is executed."""
    work = "return Done(doc=ev.doc, value=ev.doc * 100_000)"
    join = "return StopEvent(result=[len(one.value) for one in ev])"
    await book.run(documents(work, join=join), docs=["a", "b", "c"])
    files = [p for p in book.store.rglob("*") if p.is_file() and 50_000 < p.stat().st_size < 200_000]
    for file in files:
        if file.suffix not in (".db", ".sqlite", ".db-wal", ".db-shm"):
            file.unlink()
    again = await book.run(documents(work, join=join.replace("]", " if one.value]")), docs=["a", "b", "c"])
    assert again.result == [100_000] * 3
    assert executed(again) == {"work": 3, "join": 1}
    assert "cannot be read" in plan_of(again)["work"]
