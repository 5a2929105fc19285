"""What cannot be kept is named; what is kept comes back the same; a secret is never on disk."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from workflows import Context, Workflow, step
from workflows.events import Event, StartEvent, StopEvent
from workflows.retry_policy import retry_policy, stop_after_attempt, wait_fixed

from tests.resume.features import CarriesALambda
from tests.resume.lives import Life, Write, live, put_back, ran
from tests.resume.workflows import Done, Item

SECRET = "pa55word-that-nobody-may-read"


def up_to(life: Life, step: str) -> list[Write]:
    """The writes up to the first result of a step."""
    for at, write in enumerate(life.writes):
        if (
            write.method == "append"
            and f'"s":"{step}"'.encode() in write.args[1]
            and b'"k":"R"' in write.args[1]
        ):
            return life.writes[: at + 1]
    raise AssertionError(f"{step} has no result")


async def test_a_lambda_in_an_event_is_named(tmp_path: Path) -> None:
    """A run whose event holds a lambda ends right, and the note names step, path, type and the way out."""
    life = await live(tmp_path / "store", lambda: CarriesALambda().run())
    assert life.error is None
    assert life.result == 40
    kept = up_to(life, "make")
    put_back(tmp_path / "second", kept)
    again = await live(tmp_path / "second", lambda: CarriesALambda().run())
    assert again.result == 40
    said = " ".join([*again.views[-1].notes, *again.told])
    assert "Job" in said
    assert ".call" in said
    assert "function" in said


class CallIt(Event):
    call: Any


class LambdaStays(Workflow):
    """It fails after the boundary, so that the note stays in sight."""

    @step
    async def begin(self, ev: StartEvent) -> CallIt:
        ran("begin")
        return CallIt(call=lambda: 3)

    @step
    async def use(self, ev: CallIt) -> StopEvent:
        ran("use")
        raise ValueError(ev.call())


async def test_the_note_of_a_boundary_stays(tmp_path: Path) -> None:
    """Of a run that is not finished the boundary stays in sight: step and N, path, type, and Resource."""
    life = await live(tmp_path / "store", lambda: LambdaStays().run())
    assert isinstance(life.error, ValueError)
    notes = life.views[-1].notes
    named = [n for n in notes if "begin[0]" in n and ".call" in n and "function" in n and "Resource" in n]
    assert named, notes


class Given(Workflow):
    """It is given a function, hands it on, and ends with one."""

    @step
    async def begin(self, ev: StartEvent) -> CallIt:
        return CallIt(call=ev.client)

    @step
    async def use(self, ev: CallIt) -> StopEvent:
        return StopEvent(result={"made": ev.call})


async def test_a_place_is_named_as_its_user_writes_it(tmp_path: Path) -> None:
    """A field without a declaration and a result are named plainly; an argument needs no Resource."""
    life = await live(tmp_path / "store", lambda: Given().run(client=lambda: 1))
    put_back(tmp_path / "second", up_to(life, "begin"))
    again = await live(tmp_path / "second", lambda: Given().run(client=lambda: 1))
    (argument,) = [n for n in life.views[-1].notes if "client" in n]
    assert argument.startswith("StartEvent.client (function) cannot be kept (")
    assert argument.endswith(
        "a resume takes it from the cell again; to have it kept, pass what it is made from, such as a path "
        "or a setting"
    )
    assert [
        n for n in life.views[-1].notes if n.startswith("use[0]: result['made'] (function) cannot be kept")
    ]
    assert not [n for one in (life, again) for n in one.views[-1].notes if "._" in n or "start:" in n]


class KeepsALock(Workflow):
    @step
    async def begin(self, ctx: Context, ev: StartEvent) -> Item:
        await ctx.store.set("lock", threading.Lock())
        await ctx.store.set("plain", [1])
        return Item(i=1)

    @step
    async def end(self, ctx: Context, ev: Item) -> StopEvent:
        with await ctx.store.get("lock"):
            (await ctx.store.get("plain")).append(2)
        return StopEvent(result=await ctx.store.get("plain"))


async def test_a_lock_in_the_store_is_named(tmp_path: Path) -> None:
    """A value of the state that cannot be kept is named by its key and type; the run ends right."""
    life = await live(tmp_path / "store", lambda: KeepsALock().run())
    assert life.result == [1, 2]
    notes = life.views[-1].notes
    assert [n for n in notes if "begin[0]" in n and "'lock'" in n and "lock" in n and "Resource" in n], notes


async def test_a_lost_key_is_loud(tmp_path: Path) -> None:
    """A step that needs a key that was not kept does not get something else in its place without a word."""
    life = await live(tmp_path / "store", lambda: KeepsALock().run())
    put_back(tmp_path / "second", up_to(life, "begin"))
    again = await live(tmp_path / "second", lambda: KeepsALock().run())
    assert again.result == [1, 2] or again.error is not None
    if again.error is not None:
        said = " ".join([str(again.error), *again.told, *(n for v in again.views for n in v.notes)])
        assert "lock" in said


class Login(Event):
    user: str
    password: SecretStr


class Secretive(Workflow):
    @step
    async def begin(self, ctx: Context, ev: StartEvent) -> Login:
        await ctx.store.set("token", SecretStr(SECRET))
        return Login(user="ada", password=SecretStr(SECRET))

    @step
    async def use(self, ctx: Context, ev: Login) -> StopEvent:
        token = await ctx.store.get("token")
        ran("use")
        same = ev.password.get_secret_value() == token.get_secret_value() == SECRET
        return StopEvent(result=same)


async def test_no_secret_is_on_disk(tmp_path: Path) -> None:
    """No byte of the store holds a secret as text, and a step never gets asterisks for one."""
    store = tmp_path / "store"
    life = await live(store, lambda: Secretive().run())
    assert life.result is True
    assert not [path for path in store.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    for cut in range(len(life.writes)):
        put_back(tmp_path / f"cut {cut}", life.writes[:cut])
        again = await live(tmp_path / f"cut {cut}", lambda: Secretive().run())
        assert again.result is True or again.error is not None, f"after write {cut}"


async def test_a_secret_in_the_call_is_not_on_disk(tmp_path: Path) -> None:
    """A secret that is passed to ``run()`` is not written either; a resume takes it from the cell again."""
    store = tmp_path / "store"

    async def body() -> Any:
        return await TakesASecret().run(key=SecretStr(SECRET))

    life = await live(store, body)
    assert life.result == len(SECRET)
    assert not [path for path in store.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    for cut in range(len(life.writes)):
        put_back(tmp_path / f"cut {cut}", life.writes[:cut])
        again = await live(tmp_path / f"cut {cut}", body)
        assert again.result == len(SECRET), f"after write {cut}: {again.error!r}"


class TakesASecret(Workflow):
    @step
    async def only(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=len(ev.key.get_secret_value()))


class Fault(Exception):
    """An exception with attributes of its own and a message that is not its arguments."""

    def __init__(self, code: int, *, hint: str) -> None:
        super().__init__(f"fault {code}")
        self.code = code
        self.hint = hint


class Remembers(Workflow):
    @step(retry_policy=retry_policy(wait=wait_fixed(0), stop=stop_after_attempt(3)))
    async def work(self, ctx: Context, ev: StartEvent) -> Done:
        last = ctx.retry_info().last_exception
        if last is None:
            raise Fault(3, hint="again") from LookupError("cause")
        assert type(last) is Fault
        return Done(i=last.code, v=f"{last} {last.hint} {last.__cause__!r}")

    @step
    async def end(self, ev: Done) -> StopEvent:
        return StopEvent(result=ev.v)


async def test_the_last_exception_of_a_retry(tmp_path: Path) -> None:
    """After a kill a retry sees the last exception with its type, attributes and cause."""
    life = await live(tmp_path / "whole", lambda: Remembers().run())
    assert life.result == "fault 3 again LookupError('cause')"
    for cut in range(len(life.writes)):
        put_back(tmp_path / f"cut {cut}", life.writes[:cut])
        again = await live(tmp_path / f"cut {cut}", lambda: Remembers().run())
        assert again.result == life.result, f"after write {cut}: {again.error!r}"


class StopsWithALambda(Workflow):
    @step
    async def begin(self, ev: StartEvent) -> Item:
        ran("begin")
        return Item(i=5)

    @step
    async def end(self, ev: Item) -> StopEvent:
        ran("end")
        return StopEvent(result=lambda: ev.i)


async def test_a_result_that_cannot_be_kept(tmp_path: Path) -> None:
    """A result that cannot be kept is returned all the same; run again, only its last step makes it anew."""
    store = tmp_path / "store"
    first = await live(store, lambda: StopsWithALambda().run())
    assert first.error is None
    assert first.result() == 5
    second = await live(store, lambda: StopsWithALambda().run())
    assert second.error is None
    assert second.result() == 5
    assert dict(second.ran) == {"end": 1}
