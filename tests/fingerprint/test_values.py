"""Values that a step names: by content where they can be compared, by type where not, secrets never."""

from __future__ import annotations

import asyncio
import threading
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pandas as pd
import pydantic
import pytest

from jupyter_wfresume.fingerprint import changes, is_mutable
from tests.fingerprint.cells import IMPORTS, codes, flow, notebook, one

USE = flow("return StopEvent(result=VALUE)")


def parts_with(value: Any) -> dict[str, str]:
    """Return the parts of a step that names ``VALUE``."""
    return dict(one(USE, VALUE=value).parts)


PAIRS = {
    "int": (1, 2),
    "int and float": (1, 1.0),
    "int and bool": (1, True),
    "str": ("a", "b"),
    "str and bytes": ("a", b"a"),
    "tuple": ((1, 2), (1, 3)),
    "tuple and list": ((1,), [1]),
    "nested": ({"a": [1, {2}]}, {"a": [1, {3}]}),
    "array": (np.arange(3), np.arange(4)),
    "array's type": (np.arange(3, dtype="i4"), np.arange(3, dtype="i8")),
    "large array": (np.zeros(300_000), np.ones(300_000)),
    "frame": (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1, 3]})),
    "array in a list": ([np.arange(3)], [np.arange(4)]),
    "namespace": (__import__("types").SimpleNamespace(a=1), __import__("types").SimpleNamespace(a=2)),
    "pattern": (__import__("re").compile("a"), __import__("re").compile("b")),
    "partial": (
        __import__("functools").partial(round, ndigits=1),
        __import__("functools").partial(round, ndigits=2),
    ),
    "type form": (list[int], list[str]),
    "none": (None, 0),
}


@pytest.mark.parametrize(("one_value", "other"), PAIRS.values(), ids=PAIRS)
def test_a_value_counts_by_its_content(one_value: Any, other: Any) -> None:
    """Equal values are the same, others are seen, whatever their kind."""
    first = parts_with(one_value)
    assert first == parts_with(__import__("copy").deepcopy(one_value))
    assert first != parts_with(other)


def test_what_can_be_changed_in_place_is_named_so() -> None:
    """A run may change a list while it works; the part's name tells which ones it could."""
    assert "constant VALUE" in parts_with(("a", 1))
    for value, name in (([1], "list"), ({1: 2}, "dict"), (np.arange(2), "ndarray"), (([1],), "tuple")):
        part = f"global VALUE ({name})"
        assert part in parts_with(value)
        assert is_mutable(part)
    assert is_mutable("attribute count")  # a step may assign it
    assert not is_mutable("constant VALUE")
    assert not is_mutable("class attribute size")
    assert not is_mutable("helper clean()")


def test_a_global_that_code_assigns_is_named_so() -> None:
    """A counter that one step rebinds is changed by the run, for the steps that read it too."""
    cells = """
COUNT = 0
class Item(Event): n: int
def bump():
    global COUNT
    COUNT += 1
class Flow(Workflow):
    @step
    async def write(self, ev: StartEvent) -> Item:
        bump()
        return Item(n=1)
    @step
    async def work(self, ev: Item) -> StopEvent:
        return StopEvent(result=COUNT)
"""
    parts = one(cells).parts
    assert "global COUNT (int)" in parts
    assert is_mutable("global COUNT (int)")
    assert "constant COUNT" not in parts


def test_a_mutable_default_is_named_so() -> None:
    """A list as a default value is kept between calls, so it is a part of its own."""
    body = flow("return StopEvent(result=f(1))")
    parts = one("def f(x, seen=[], limit=3): return x", body).parts
    assert "default f.seen (list)" in parts
    assert is_mutable("default f.seen (list)")


class Client:
    """Stands in for a library's client."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


Client.__module__ = "xml.client"  # as if it came with a library


def test_a_client_counts_by_its_type_and_is_said() -> None:
    """What cannot be compared counts by type, and the plan can say so."""
    found = one(USE, VALUE=Client())
    assert found.opaque == ("VALUE (Client)",)
    assert "opaque: VALUE (Client)" in found.parts
    assert found.parts == parts_with(Client())
    other = parts_with(threading.Lock())
    assert changes(found.parts, other) == ["type of VALUE: Client -> lock"]


def test_an_attribute_that_is_a_client() -> None:
    """A client on the instance counts by its type, and by the code that made it."""
    cell = """
class Flow(Workflow):
    def __init__(self):
        super().__init__()
        self.client = Client("small")
        self.size = 3
    @step
    async def work(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=self.client.ask(ev))
"""
    client = type("Client", (), {"__init__": lambda self, name: setattr(self, "lock", threading.Lock())})
    client.__module__ = "xml.client"
    before = one(cell, Client=client)
    assert before.opaque == ("client (Client)",)
    after = one(cell.replace("small", "large"), Client=client)
    assert changes(before.parts, after.parts) == ["method __init__() differs"]


def test_an_object_of_the_users_counts_by_class_and_attributes() -> None:
    """An instance of the user's own class is its code and its attributes; what hides in it is said."""
    cell = """
import asyncio
import threading
class Parser:
    def __init__(self, depth):
        self.depth = depth
        self.lock = threading.Lock()
        self.api_key = "sk-1"
    def parse(self, x): return x
VALUE = Parser(3)
"""
    before = one(cell, USE)
    assert before.opaque == ("VALUE.lock (lock)",)
    assert changes(before.parts, one(cell.replace("sk-1", "sk-2"), USE).parts) == []
    assert changes(before.parts, one(cell.replace("Parser(3)", "Parser(4)"), USE).parts) == [
        "global VALUE (Parser) differs"
    ]
    after = one(cell.replace("return x", "return -x"), USE)
    assert changes(before.parts, after.parts) == ["class Parser differs"]


def test_functions_inside_values_count() -> None:
    """A table of functions, a tool with a function in it, a bound method: an edit inside is seen."""
    values = {
        "VALUE = {'a': clean}": "helper clean() differs",
        "VALUE = [functools.partial(clean, 1)]": "helper clean() differs",
        "VALUE = functools.lru_cache(clean)": "helper clean() differs",
        "VALUE = Holder().use": "class Holder differs",
        "VALUE = tool(clean)": "helper clean() differs",
        "VALUE = retry(stop=stop_after_attempt(2))(clean)": "helper clean() differs",
    }
    cell = """
import functools
from llama_index.core.tools import FunctionTool
from tenacity import retry, stop_after_attempt
def clean(x: int = 1) -> int:
    return x + 1
class Holder:
    def use(self, x): return x + 1
def tool(function): return FunctionTool.from_defaults(fn=function)
"""
    for line, said in values.items():
        before = one(cell, line, USE)
        assert before.parts == one(cell, line, USE).parts
        after = one(cell.replace("x + 1", "x + 2"), line, USE)
        assert said in changes(before.parts, after.parts), line


def test_a_language_model_counts_by_its_plain_settings() -> None:
    """A library's pydantic object: its temperature is seen, its key is not."""
    cell = """
from llama_index.core.llms import MockLLM
VALUE = MockLLM(max_tokens={})
"""
    before, after = one(cell.format(5), USE), one(cell.format(6), USE)
    assert before.parts == one(cell.format(5), USE).parts
    assert changes(before.parts, after.parts) == ["global VALUE (MockLLM) differs"]


SECRETS = {
    "a model's default": (
        "from pydantic import BaseModel\nclass Config(BaseModel):\n    api_key: str = {!r}",
        "return StopEvent(result=Config)",
    ),
    "a dataclass's default": (
        "from dataclasses import dataclass\n@dataclass\nclass Config:\n    password: str = {!r}",
        "return StopEvent(result=Config)",
    ),
    "a global": ("API_KEY = {!r}", "return StopEvent(result=API_KEY)"),
    "in a table": ("CONFIG = {{'password': {!r}, 'size': 3}}", "return StopEvent(result=CONFIG)"),
    "a SecretStr": (
        "from pydantic import SecretStr\nHIDDEN = SecretStr({!r})",
        "return StopEvent(result=HIDDEN)",
    ),
    "in a list": ("from pydantic import SecretStr\nALL = [SecretStr({!r})]", "return StopEvent(result=ALL)"),
    "in a namespace": (
        "from types import SimpleNamespace\nCONFIG = SimpleNamespace(token={!r})",
        "return StopEvent(result=CONFIG)",
    ),
    "in a model": (
        "from pydantic import BaseModel\nclass Config(BaseModel):\n    secret: str\n"
        "CONFIG = Config(secret={!r})",
        "return StopEvent(result=CONFIG)",
    ),
    "a default": ("def f(x, token={!r}): return x", "return StopEvent(result=f(1))"),
    "a closure": (
        "def make(secret):\n    def f(x): return x + secret\n    return f\nf = make({!r})",
        "return StopEvent(result=f(1))",
    ),
    "in a partial": (
        "import functools\ndef g(x, api_key): return x\nf = functools.partial(g, api_key={!r})",
        "return StopEvent(result=f(1))",
    ),
    "a class's": ("class Config:\n    secret = {!r}", "return StopEvent(result=Config)"),
}


@pytest.mark.parametrize(("cell", "body"), SECRETS.values(), ids=SECRETS)
def test_a_secret_never_counts_and_never_appears(cell: str, body: str) -> None:
    """A renewed key changes nothing, and neither it nor its digest is among the parts."""
    before, after = (
        one(cell.format(secret), flow(body))
        for secret in ("sk-0ld5ecret-4f1c77ab90", "sk-n3w5ecret-88d20c1e45")
    )
    assert before.parts == after.parts
    assert not [part for part in before.parts if "API_KEY" in part or "5ecret" in part or "HIDDEN" in part]


def test_a_secret_attribute_never_counts() -> None:
    """The same for the instance's attributes."""
    space = notebook(
        "from workflows import Workflow, step\nfrom workflows.events import StartEvent, StopEvent",
        flow("return StopEvent(result=(self.api_key, self.hidden))"),
    )
    found = []
    for secret in ("old", "new"):
        instance = space.Flow()
        instance.api_key = secret
        instance.hidden = pydantic.SecretStr(secret)
        found.append(codes(space, instance)["work"])
    assert found[0].parts == found[1].parts
    assert not [part for part in found[0].parts if "api_key" in part or "hidden" in part]


def test_a_random_id_does_not_count() -> None:
    """A constant that is a new uuid in each kernel makes nothing stale, and is said."""
    first = one(USE, VALUE="0b8f7f3e-5a53-4c53-9d0a-1d7a4f2f9b11")
    second = one(USE, VALUE="7c1f7f3e-5a53-4c53-9d0a-1d7a4f2f9b22")
    assert first.parts == second.parts
    assert first.opaque == ("VALUE (random id)",)


def test_what_comes_with_use_does_not_count() -> None:
    """A semaphore that was used, and a cached property that was read, are what they were before."""
    sem = asyncio.Semaphore(2)
    before = parts_with(sem)
    asyncio.run(_hold(sem))
    assert parts_with(sem) == before
    space = notebook(
        IMPORTS,
        """
import functools
class Parser:
    @functools.cached_property
    def rules(self): return [1]
VALUE = Parser()
class Flow(Workflow):
    @functools.cached_property
    def table(self): return {1: 2}
    @step
    async def work(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=(VALUE.rules, self.table))
""",
    )
    instance = space.Flow()
    first = codes(space, instance)["work"]
    assert "method table()" in first.parts
    assert space.VALUE.rules
    assert instance.table
    assert codes(space, instance)["work"] == first


async def _hold(sem: asyncio.Semaphore) -> None:
    async def wait() -> None:
        async with sem:
            await asyncio.sleep(0)

    await asyncio.gather(*(wait() for _ in range(5)))


def test_an_object_that_raises_when_looked_at() -> None:
    """A lazy object that is not ready counts by its type; nothing fails."""

    class Lazy:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError("not now")

    class Odd:
        @property
        def __dict__(self) -> Any:
            raise RuntimeError("not now")

    for value in (Lazy(), [Lazy()], Odd(), MagicMock()):
        assert parts_with(value)


def test_a_value_that_contains_itself() -> None:
    """A cycle ends."""
    loop: list[Any] = [1]
    loop.append(loop)
    other: list[Any] = [2]
    other.append(other)
    assert parts_with(loop) != parts_with(other)


def test_a_logger_says_nothing() -> None:
    """A logger is in every notebook and changes no outcome: it is not said to be opaque."""
    found = one("import logging\nlog = logging.getLogger('x')", flow("log.info('a'); return StopEvent()"))
    assert found.opaque == ()
