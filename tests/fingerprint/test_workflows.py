"""Shapes of workflows: where steps come from, and what they use of their workflow."""

from __future__ import annotations

import pytest

from jupyter_wfresume.fingerprint import StepCode, changes, step_codes
from tests.fingerprint.cells import IMPORTS, codes, flow, notebook, one, reasons

FACTORY = """
def make(factor):
    async def scale(self, ev):
        return StopEvent(result=ev.n * factor)
    return scale
class Flow(Workflow):
    first = make(2)
    second = make(3)
"""


def from_factory(cell: str) -> dict[str, StepCode]:
    """Fingerprint the two functions that a factory made."""
    owner = notebook(IMPORTS, cell).Flow
    steps = {"first": owner.first, "second": owner.second}
    return step_codes(steps, owner=owner, instance_attributes={}, resources={}, events={})


def test_steps_of_one_factory_are_told_apart() -> None:
    """Two steps with one body and different closures have different codes, and each follows its own."""
    before = from_factory(FACTORY)
    assert before["first"].digest != before["second"].digest
    after = from_factory(FACTORY.replace("make(3)", "make(4)"))
    assert reasons(before, after) == {"second": ["closure factor differs"]}
    swapped = from_factory(FACTORY.replace("make(3)", "make(0)").replace("make(2)", "make(3)"))
    assert swapped["first"].digest == before["second"].digest


def test_a_free_function_as_step() -> None:
    """A step added from outside has no ``self``: its first parameter is no workflow."""
    cell = """
class Flow(Workflow):
    size = 3
def helper(x): return x
@step(workflow=Flow)
async def work(ev: StartEvent) -> StopEvent:
    return StopEvent(result=helper(ev.size))
"""
    before = one(cell)
    assert "helper helper()" in before.parts
    assert "class attribute size" not in before.parts
    assert changes(before.parts, one(cell.replace("return x", "return -x")).parts) == [
        "helper helper() differs"
    ]


def test_an_inherited_step_and_super() -> None:
    """A step of a base class uses the subclass's methods, and ``super()`` leads back."""
    cell = """
class Base(Workflow):
    def tidy(self, x): return x.strip()
    @step
    async def work(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=self.tidy("a"))
class Flow(Base):
    def tidy(self, x): return super().tidy(x) + "!"
"""
    before = one(cell)
    for old, new in (("x.strip()", "x.lstrip()"), ('"!"', '"?"')):
        said = changes(before.parts, one(cell.replace(old, new)).parts)
        assert len(said) == 1
        assert said[0].startswith("method tidy()")


def test_self_handed_on_means_all_of_it() -> None:
    """A helper that gets ``self`` may use anything of it, but steps are dispatched, not called."""
    extra = "    size = 3\n    def tidy(self): return 1"
    before = one("def use(flow): return flow.size", flow("return StopEvent(result=use(self))", extra))
    assert {"class attribute size", "method tidy()", "helper use()"} <= before.parts.keys()


def test_a_property_and_a_private_name() -> None:
    """A property's code and what it reads count; names with two underscores are found."""
    extra = """
    def __init__(self):
        super().__init__()
        self._size = 3
        self.__hidden = 4
    @property
    def size(self): return self._size
    def __half(self, x): return x / 2
"""
    before = one(flow("return StopEvent(result=self.__half(self.size + self.__hidden))", extra))
    for old, new, said in (
        ("_size = 3", "_size = 4", "attribute _size differs"),
        ("__hidden = 4", "__hidden = 5", "attribute _Flow__hidden differs"),
        ("return self._size", "return -self._size", "method size() differs"),
        ("x / 2", "x / 3", "method __half() differs"),
    ):
        after = one(
            flow("return StopEvent(result=self.__half(self.size + self.__hidden))", extra.replace(old, new))
        )
        assert changes(before.parts, after.parts) == [said]


def test_class_and_static_methods() -> None:
    """``cls.x`` is looked up on the workflow class; a static method has no ``self``."""
    extra = """
    size = 3
    @classmethod
    def make(cls, x): return cls.size + x
    @staticmethod
    def plain(self): return self.other
    other = 1
"""
    body = "return StopEvent(result=self.make(1) + Flow.plain(ev))"
    before = one(flow(body, extra))
    assert {"method make()", "method plain()", "class attribute size"} <= before.parts.keys()
    assert "class attribute other" not in before.parts
    assert changes(before.parts, one(flow(body, extra.replace("size = 3", "size = 4"))).parts) == [
        "class attribute size differs"
    ]


def test_a_workflow_run_by_a_step_counts_as_a_whole() -> None:
    """A step that runs another workflow depends on all of its steps."""
    cell = """
def clean(x): return x
class Inner(Workflow):
    @step
    async def only(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result=clean(ev.x))
"""
    body = flow("return StopEvent(result=await Inner().run(x=1))")
    before = one(cell, body)
    assert changes(before.parts, one(cell.replace("return x", "return -x"), body).parts) == [
        "helper clean() differs"
    ]
    assert changes(before.parts, one(cell.replace("ev.x", "ev.y"), body).parts) == ["class Inner differs"]


# The engine looks at all attributes of a workflow, and an agent is a pydantic model that warns of some.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_librarys_agent_counts_by_its_prompt_and_its_tools() -> None:
    """An agent's steps are a library's code: its settings and its tools' functions are what can change."""
    cell = '''
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms.mock import MockFunctionCallingLLM
def look_up(name: str) -> str:
    """Look it up."""
    return name + "1"
def make(prompt="Be brief."):
    return FunctionAgent(tools=[look_up], llm=MockFunctionCallingLLM(), system_prompt=prompt)
'''
    space = notebook(cell)
    before = codes(space, space.make())
    assert reasons(before, codes(notebook(cell), notebook(cell).make())) == {}
    other = notebook(cell.replace('"1"', '"2"'))
    assert {said[0] for said in reasons(before, codes(other, other.make())).values()} == {
        "helper look_up() differs"
    }
    prompted = reasons(before, codes(space, space.make("Be long.")))
    assert set(prompted) == set(before)
    assert {said[0] for said in prompted.values()} == {"attribute system_prompt differs"}


CLASSES = '''
import enum
from typing import Generic, NamedTuple, TypedDict, TypeVar
from pydantic import BaseModel, Field, PrivateAttr, computed_field, model_validator
T = TypeVar("T")
class Colour(enum.Enum):
    """Colours."""
    RED = 1
    def __str__(self): return self.name + "A"
class Point(NamedTuple):
    x: int = 11
    y: int = 0
class Shape(TypedDict):
    size: int
class Box(BaseModel, Generic[T]):
    item: T
    limit: int = Field(default=12, gt=13, description="B")
    _cache: int = PrivateAttr(default=14)
    @computed_field
    @property
    def twice(self) -> int: return 15
    @model_validator(mode="after")
    def check(self):
        assert self.limit != 16
        return self
class Slim:
    __slots__ = ("a",)
    def __init__(self): self.a = 17
    def __eq__(self, other): return 18
class Meta(type):
    def __call__(cls, *args): return super().__call__(*args, 19)
class Made(metaclass=Meta):
    def __init__(self, n): self.n = n
class Outer:
    class Inner:
        n = 21
'''

CLASS_EDITS = (
    ("RED = 1", "RED = 2", "Colour"),
    ("RED = 1", "RED = 1; BLUE = 3", "Colour"),
    ('"A"', '"Z"', "Colour"),
    ("x: int = 11", "x: int = 31", "Point"),
    ("y: int = 0", "z: int = 0", "Point"),
    ("size: int", "size: float", "Shape"),
    ("default=12", "default=32", "Box"),
    ("gt=13", "gt=9", "Box"),
    ('"B"', '"C"', "Box"),
    ("default=14", "default=34", "Box"),
    ("return 15", "return 35", "Box"),
    ("!= 16", "!= 36", "Box"),
    ("self.a = 17", "self.a = 37", "Slim"),
    ("return 18", "return 38", "Slim"),
    ("*args, 19", "*args, 39", "Meta"),
    ("n = 21", "n = 41", "Inner"),
)


def test_kinds_of_classes() -> None:
    """Enums, named tuples, typed dicts, generics, slots: an edit of what they say is seen."""
    body = flow("return StopEvent(result=(Colour.RED, Point(), Shape, Box[int], Slim, Made, Outer))")
    before = one(CLASSES, body)
    assert before.opaque == ()
    assert before.parts == one(CLASSES.replace('"""Colours."""', '"""All."""'), body).parts
    for old, new, name in CLASS_EDITS:
        said = changes(before.parts, one(CLASSES.replace(old, new), body).parts)
        assert said, (old, new)
        assert any(f"class {name}" in each for each in said), (old, said)
