"""Docstrings are notes, except where they are data: tools, schemas, and code that reads them."""

from __future__ import annotations

import pytest
from llama_index.core.tools import FunctionTool, ToolMetadata
from pydantic import BaseModel, Field

from jupyter_wfresume.fingerprint import changes
from tests.fingerprint.cells import flow, one

HELPERS = '''
import inspect
from inspect import getdoc, signature
from pydantic import BaseModel
from llama_index.core.tools import FunctionTool
from llama_index.core.tools import FunctionTool as Tool

def look(q: str) -> str:
    """Look it up."""
    return q

class Box:
    """A box."""

    def get(self):
        """Get it."""
        return 1

box = Box()
TOOLS = [look]

def told(fn):
    return fn.__doc__
'''


def differs(old: str, new: str, body: str, more: str = "") -> list[str]:
    """Say what differs for a step with this body after an edit of the helpers or of the workflow's class."""
    use = flow(body, more)
    assert (old in HELPERS) + (old in use) == 1
    return changes(one(HELPERS, use).parts, one(HELPERS.replace(old, new), use.replace(old, new)).parts)


READERS = {
    "a function's": "look.__doc__",
    "getdoc": "getdoc(look)",
    "inspect.getdoc": "inspect.getdoc(look)",
}
HANDED_ON = {
    "a tool": "FunctionTool.from_defaults(look)",
    "a tool by keyword": "FunctionTool.from_defaults(fn=look)",
    "a tool by another name": "Tool.from_defaults(look)",
    "tools of a list": "[FunctionTool.from_defaults(each) for each in TOOLS]",
    "a helper that reads": "told(look)",
    "getattr": "getattr(look, '__doc__')",
    "what is only known then": "[each.__doc__ for each in TOOLS]",
    "getdoc of what is only known then": "[getdoc(each) for each in TOOLS]",
}


@pytest.mark.parametrize("said", READERS.values(), ids=READERS)
def test_a_docstring_that_is_read_counts(said: str) -> None:
    """Code that reads a docstring is changed by an edit of it, and by that of no other."""
    body = f"return StopEvent(result=({said}, box.get()))"
    assert differs('"""Look it up."""', '"""Look."""', body) == ["docstring look differs"]
    assert differs('"""Get it."""', '"""Get."""', body) == []
    assert differs("q: str", "q: int", body) == []


@pytest.mark.parametrize("said", HANDED_ON.values(), ids=HANDED_ON)
def test_the_docstring_of_what_is_handed_on_counts(said: str) -> None:
    """Where a function becomes a tool, or any may be asked, its docstring and its annotations count."""
    body = f"return StopEvent(result={said})"
    assert differs('"""Look it up."""', '"""Look."""', body) == ["docstring of helper look() differs"]
    assert differs("q: str", "q: int", body) == ["docstring of helper look() differs"]


@pytest.mark.parametrize("said", ["look('a')", "box.get()", "TOOLS[0]('a')", "isinstance(box, Box)"])
def test_a_docstring_that_nobody_reads_is_a_note(said: str) -> None:
    """Docstrings and annotations of helpers and classes change nothing by themselves."""
    body = f"return StopEvent(result={said})"
    edits = ('"""Look it up."""', '"""A box."""', '"""Get it."""')
    assert [differs(old, '"""Other."""', body) for old in edits] == [[], [], []]


def test_signatures_are_annotations() -> None:
    """Code that asks for a signature is changed by an edit of an annotation."""
    for asked in ("inspect.signature(look)", "signature(look)", "look.__annotations__"):
        assert differs("q: str", "q: int", f"return StopEvent(result=str({asked}))")


def test_the_workflows_own_docstrings() -> None:
    """``self.method.__doc__`` and ``self.__doc__`` are read like any other; the step's own is a note."""
    more = '    """A flow."""\n    def ask(self):\n        """Ask."""\n        return 1\n'
    read = "return StopEvent(result=(self.ask.__doc__, self.ask()))"
    assert differs('"""Ask."""', '"""Ask them."""', read, more) == ["docstring ask differs"]
    assert differs('"""A flow."""', '"""The flow."""', read, more) == []
    own = "return StopEvent(result=self.__doc__)"
    assert differs('"""A flow."""', '"""The flow."""', own, more) != []
    tools = '"""Work."""; return StopEvent(result=FunctionTool.from_defaults(look))'
    assert differs('"""Work."""', '"""Work hard."""', tools) == []


MODEL = '''
from pydantic import BaseModel
class Person(BaseModel):
    """{doc}"""
    name: str
class Seen(Event):
    """{doc}"""
    name: str
'''


def test_a_models_docstring_is_its_schemas() -> None:
    """A pydantic model's docstring is what a model is told of it; an event's is a note."""
    for name, said in (("Person", ["class Person differs"]), ("Seen", [])):
        use = flow(f"return StopEvent(result={name}(name='a'))")
        first, other = (one(MODEL.format(doc=doc), use).parts for doc in ("A person.", "A company."))
        assert changes(first, other) == said


def test_docstrings_without_source() -> None:
    """Code whose text is gone counts docstrings by the names in it."""
    use = flow("return StopEvent(result=told(look))")
    first, other = (one(HELPERS.replace("Look it up", doc), use, source=False) for doc in ("One", "Two"))
    assert changes(first.parts, other.parts) == ["docstring of helper look() differs"]


def tool(doc: str = "Look it up.", kind: type = str, name: str = "look", description: str | None = None):
    """Make a tool of a function with this docstring and parameter."""

    def look(q):
        return q

    look.__doc__ = doc
    look.__annotations__ = {"q": kind}
    return FunctionTool.from_defaults(look, name=name, description=description)


@pytest.mark.parametrize("wrap", [lambda one: one, lambda one: [one], lambda one: {"tool": one}])
def test_a_tool_counts_by_what_a_model_is_told(wrap) -> None:
    """Name, description and schema of a tool count, wherever it lies, and a tool is not opaque."""
    use = flow("return StopEvent(result=TOOL)")
    before = one(use, TOOL=wrap(tool()))
    assert before.opaque == ()
    assert before.digest == one(use, TOOL=wrap(tool())).digest
    others = [tool("Other."), tool(kind=int), tool(name="seek"), tool(description="Told.")]
    digests = {before.digest, *(one(use, TOOL=wrap(each)).digest for each in others)}
    assert len(digests) == 1 + len(others)


def test_a_tool_of_the_users_own_class() -> None:
    """A tool class that makes up its description counts by it."""
    cell = """
from llama_index.core.tools import BaseTool, ToolMetadata
class Own(BaseTool):
    def __init__(self, said): self.hidden = hash(said)
    @property
    def metadata(self): return ToolMetadata(description=SAID, name="own", fn_schema=None)
    def __call__(self, given): return given
TOOL = Own(1)
"""
    use = flow("return StopEvent(result=TOOL(1))")
    assert one(cell, use, SAID="a").digest != one(cell, use, SAID="b").digest


def test_the_schema_of_a_tool_names_its_fields() -> None:
    """What the model that a tool takes says of its fields is a part of the tool's schema."""

    def made(doc: str) -> FunctionTool:
        class Given(BaseModel):
            q: str = Field(description=doc)

        metadata = ToolMetadata(description="d", name="n", fn_schema=Given)
        return FunctionTool(fn=len, metadata=metadata)

    use = flow("return StopEvent(result=TOOL)")
    assert one(use, TOOL=made("a")).digest == one(use, TOOL=made("a")).digest
    assert one(use, TOOL=made("a")).digest != one(use, TOOL=made("b")).digest
