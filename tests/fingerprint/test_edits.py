"""A table of edits: which steps differ after each, and in which words."""

from __future__ import annotations

import ast
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_wfresume.engine import own_attributes, steps_of
from jupyter_wfresume.fingerprint import step_codes
from tests.fingerprint.cells import codes, notebook, reasons

HELPERS = '''\
import functools
from dataclasses import dataclass
from typing import Annotated
from pydantic import BaseModel, field_validator
from workflows import Context, Workflow, step
from workflows.events import Event, StartEvent, StopEvent
from workflows.resource import Resource

PROMPT = "Summarise this: {text}"
LIMITS = {"long": 40, "short": 10}
UNUSED = 1
KINDS = frozenset({"a", "b", "c"})

def strip(text):
    """Take blanks away."""
    return text.strip()

def clean(text, limit=40):
    # shorten
    return strip(text)[:limit]

def unused(text):
    return text

def scaled(factor):
    def scale(value):
        return value * factor
    return scale

triple = scaled(3)
double = scaled(2)

def logged(times):
    def decorate(function):
        @functools.wraps(function)
        async def wrapper(*args, **kwargs):
            for _ in range(times):
                pass
            return await function(*args, **kwargs)
        return wrapper
    return decorate

class Base:
    """A base."""
    sign = "+"

class Parser(Base):
    """A parser."""
    strict = True

    def parse(self, text):
        """Parse."""
        return clean(text)

    def other(self):
        return self.sign

@dataclass
class Options:
    depth: int = 3

class Answer(BaseModel):
    """What is told."""

    text: str = ""

    @field_validator("text")
    @classmethod
    def check(cls, value):
        return value.lower()

def get_model():
    return Options(depth=4)
'''

FLOW = '''\
class Item(Event):
    n: int
    text: str = ""

class Done(Event):
    """A result."""
    n: int

class Flow(Workflow):
    """A workflow."""
    limit = 5
    labels = ("a", "b")

    def __init__(self, temperature=0.5, **kwargs):
        super().__init__(**kwargs)
        self.temperature = temperature
        self.other = 1

    def tidy(self, text):
        """Tidy."""
        return text[: self.limit]

    def untouched(self):
        return 1

    @step
    async def split(self, ev: StartEvent) -> list[Item]:
        """Split."""
        total = 11 + 19
        return [Item(n=n) for n in range(total)]

    @step(num_workers=4)
    @logged(2)
    async def work(self, ev: Item, model: Annotated[Options, Resource(get_model)]) -> Done:
        text = self.tidy(clean(ev.text, limit=LIMITS["long"]))
        prompt = PROMPT.format(text=text)
        match ev.n:
            case 1 if prompt in KINDS:
                value = double(ev.n)
            case _:
                value = round(self.temperature)
        return Done(n=value)

    @step
    async def join(self, evs: list[Done]) -> StopEvent:
        parser = Parser()
        answer = Answer(text=f"{Options().depth:>3} {[parser.parse(str(ev.n)) for ev in evs]}")
        return StopEvent(result=answer)
'''

SAME = {
    "a comment": ("    # shorten\n", "    # make it short\n"),
    "a comment above a step": (
        "    @step\n    async def split",
        "    # the first\n    @step\n    async def split",
    ),
    "a docstring of a step": ('"""Split."""', '"""Split it."""'),
    "a docstring of a helper": ('"""Take blanks away."""', '"""Strip."""'),
    "a docstring of a method": ('"""Tidy."""', '"""Make tidy.\n\n        Really.\n        """'),
    "a docstring taken away": ('    """Parse."""\n', ""),
    "a docstring of a class": ('"""A parser."""', '"""Parses."""'),
    "a docstring of a base": ('"""A base."""', '"""Base of all."""'),
    "a docstring of an event": ('"""A result."""', '"""What was done."""'),
    "a docstring of the workflow": ('"""A workflow."""', '"""The workflow."""'),
    "a reformat": (
        "return strip(text)[:limit]",
        "return (\n        strip( text )\n        [ : limit ]\n    )",
    ),
    "other quotes": ('PROMPT = "Summarise this: {text}"', "PROMPT = 'Summarise this: {text}'"),
    "a blank line": ("        prompt = ", "\n\n        prompt = "),
    "a helper nobody uses": ("def unused(text):\n    return text", "def unused(text):\n    return text * 2"),
    "a constant nobody uses": ("UNUSED = 1", "UNUSED = 2"),
    "a method nobody uses": (
        "def untouched(self):\n        return 1",
        "def untouched(self):\n        return 2",
    ),
    "an attribute nobody uses": ("self.other = 1", "self.other = 2"),
    "a class attribute nobody uses": ('labels = ("a", "b")', 'labels = ("a",)'),
    "the number of workers": ("@step(num_workers=4)", "@step(num_workers=8)"),
    "an annotation of a helper": ("def strip(text):", "def strip(text: str) -> str:"),
    "the order of a set": ('frozenset({"a", "b", "c"})', 'frozenset({"c", "b", "a"})'),
    "a pass": (
        "            for _ in range(times):\n",
        "            pass\n            for _ in range(times):\n",
    ),
    "the order of helpers": (
        "def unused(text):\n    return text\n\ndef scaled",
        "def unused2(text):\n    return text\n\ndef scaled",
    ),
}

DIFFERENT = {
    "a literal": ("11 + 19", "5 + 3", {"split": ["the step itself differs"]}),
    "a literal with the same sum": ("11 + 19", "19 + 11", {"split": ["the step itself differs"]}),
    "the body below decorators": (
        "return Done(n=value)",
        "return Done(n=value + 1)",
        {"work": ["the step itself differs"]},
    ),
    "a default": (
        "def clean(text, limit=40)",
        "def clean(text, limit=41)",
        {"work": ["helper clean() differs"], "join": ["helper clean() differs"]},
    ),
    "a helper": (
        "return strip(text)[:limit]",
        "return strip(text)[1:limit]",
        {"work": ["helper clean() differs"], "join": ["helper clean() differs"]},
    ),
    "a helper's helper": (
        "return text.strip()",
        "return text.lstrip()",
        {"work": ["helper strip() differs"], "join": ["helper strip() differs"]},
    ),
    "a prompt": ("Summarise this", "Summarise that", {"work": ["constant PROMPT differs"]}),
    "a table": ('"long": 40', '"long": 41', {"work": ["global LIMITS (dict) differs"]}),
    "a table's order": (
        '{"long": 40, "short": 10}',
        '{"short": 10, "long": 40}',
        {"work": ["global LIMITS (dict) differs"]},
    ),
    "a model's docstring": ('"""What is told."""', '"""What is said."""', {"join": ["class Answer differs"]}),
    "a set": ('"b", "c"})', '"b", "d"})', {"work": ["constant KINDS differs"]}),
    "a closure's value": (
        "double = scaled(2)",
        "double = scaled(4)",
        {"work": ["closure factor differs"]},
    ),
    "another closure": ("double = scaled(2)", "double = triple", {"work": ["closure factor differs"]}),
    "a decorator's code": (
        "                pass\n",
        "                print()\n",
        {"work": ["decorator logged() differs"]},
    ),
    "a decorator's argument": (
        "@logged(2)",
        "@logged(3)",
        {"work": ["the step itself differs", "closure times differs"]},
    ),
    "a method": (
        "return text[: self.limit]",
        "return text[self.limit :]",
        {"work": ["method tidy() differs"]},
    ),
    "a class attribute": ("limit = 5", "limit = 6", {"work": ["class attribute limit differs"]}),
    "an instance attribute": (
        "temperature=0.5",
        "temperature=0.7",
        {"work": ["attribute temperature differs"]},
    ),
    "a class's method": (
        "return clean(text)\n",
        "return clean(text) + text\n",
        {"join": ["class Parser differs"]},
    ),
    "a class's attribute": ("strict = True", "strict = False", {"join": ["class Parser differs"]}),
    "a base class": ('sign = "+"', 'sign = "-"', {"join": ["class Base differs"]}),
    "a dataclass's default": (
        "depth: int = 3",
        "depth: int = 4",
        {"join": ["class Options differs"], "work": ["class Options differs"]},
    ),
    "a validator": ("return value.lower()", "return value.upper()", {"join": ["class Answer differs"]}),
    "a model's field": (
        'text: str = ""\n\n    @field',
        "text: str\n\n    @field",
        {"join": ["class Answer differs"]},
    ),
    "a resource's factory": (
        "Options(depth=4)",
        "Options(depth=5)",
        {"work": ["resource get_model() differs"]},
    ),
    "an event's new field": (
        'text: str = ""\n\nclass Done',
        'text: str = ""\n    size: int = 0\n\nclass Done',
        {"split": ["event Item differs"], "work": ["event Item differs"]},
    ),
    "an event's renamed field": (
        'class Done(Event):\n    """A result."""\n    n: int',
        'class Done(Event):\n    """A result."""\n    m: int',
        {"work": ["event Done differs"], "join": ["event Done differs"]},
    ),
    "a case": ("case 1 if", "case 2 if", {"work": ["the step itself differs"]}),
    "a format": ("depth:>3", "depth:>4", {"join": ["the step itself differs"]}),
}


@pytest.fixture(scope="module")
def before() -> dict[str, object]:
    """Fingerprint the workflow as it stands above."""
    return codes(notebook(HELPERS, FLOW))  # type: ignore[return-value]  # values are opaque to the tests


def edited(old: str, new: str) -> tuple[str, str]:
    """Replace the one place where ``old`` stands."""
    both = HELPERS + "#--\n" + FLOW
    assert both.count(old) == 1, (old, both.count(old))
    helpers, _, flow = both.replace(old, new).partition("#--\n")
    return helpers, flow


@pytest.mark.parametrize(("old", "new"), SAME.values(), ids=SAME)
def test_an_edit_that_changes_nothing_is_not_seen(before: dict, old: str, new: str) -> None:
    """What cannot change an outcome changes no digest and no part."""
    after = codes(notebook(*edited(old, new)))
    assert reasons(before, after) == {}
    assert {name: each.parts for name, each in before.items()} == {n: each.parts for n, each in after.items()}


@pytest.mark.parametrize(("old", "new", "said"), DIFFERENT.values(), ids=DIFFERENT)
def test_an_edit_is_seen_by_the_steps_that_use_it(before: dict, old: str, new: str, said: dict) -> None:
    """Exactly the steps that use what was edited differ, and the reason names it."""
    assert reasons(before, codes(notebook(*edited(old, new)))) == said


def test_cells_do_not_count(before: dict) -> None:
    """One cell or many, in another order, with other cells run in between: all the same."""
    cells = [ast.unparse(statement) for statement in ast.parse(HELPERS + FLOW).body]
    assert reasons(before, codes(notebook(HELPERS + FLOW))) == {}
    assert reasons(before, codes(notebook(*cells))) == {}
    assert reasons(before, codes(notebook("\n\nx = 1", HELPERS, "x = 2", FLOW))) == {}


def test_a_cell_run_again_does_not_count(before: dict) -> None:
    """Classes and functions that are made anew from the same text are the same."""
    assert reasons(before, codes(notebook(HELPERS, FLOW, HELPERS, FLOW))) == {}


def test_an_attribute_passed_to_the_instance_is_seen(before: dict) -> None:
    """The instance counts as it is, whatever its class's defaults are."""
    space = notebook(HELPERS, FLOW)
    after = codes(space, space.Flow(temperature=0.9))
    assert reasons(before, after) == {"work": ["attribute temperature differs"]}


def test_steps_are_named_alike_in_any_company(before: dict) -> None:
    """A step's code does not depend on which other steps are looked at, or in which order."""
    space = notebook(HELPERS, FLOW)
    steps = space.Flow()._get_steps()
    events = {each.name: [*each.accepts, *each.returns] for each in steps_of(space.Flow())}
    for names in (["work"], ["join", "work"], ["work", "join", "split"]):
        found = step_codes(
            {name: steps[name] for name in names},
            owner=space.Flow,
            instance_attributes=own_attributes(space.Flow()),
            resources={"work": [space.get_model]},
            events=events,
        )
        assert {name: found[name] for name in names} == {name: before[name] for name in names}


def test_the_order_of_methods_does_not_count(before: dict) -> None:
    """Methods and helpers may stand in any order."""
    tree = ast.parse(FLOW)
    shuffled = random.Random(5)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "Flow":
            shuffled.shuffle(node.body)
    assert reasons(before, codes(notebook(HELPERS, ast.unparse(tree)))) == {}


NOTES = ["# note", "", "    # indented oddly", '"a text that stands alone"', "pass"]


def _notes_added(source: str, choose: random.Random) -> str:
    """Put comments, blank lines and lines that do nothing above some statements."""
    lines = source.splitlines()
    tree = ast.parse(source)
    places = sorted(
        {
            (node.lineno, node.col_offset)
            for node in ast.walk(tree)
            if isinstance(node, ast.stmt) and not getattr(node, "decorator_list", None)
            # What stands above a model's docstring would be its docstring.
            if not (isinstance(node, ast.Expr) and "What is told" in ast.unparse(node))
        },
        reverse=True,
    )
    for line, column in places:
        if lines[line - 1][:column].strip() == "" and choose.random() < 0.3:
            note = choose.choice(NOTES)
            lines.insert(line - 1, " " * column + note.strip() if note.strip() else note)
    return "\n".join(lines) + "\n"


@settings(max_examples=25)  # each one defines the whole notebook anew
@given(st.randoms(use_true_random=False))
def test_any_reformatting_keeps_the_digests(choose: random.Random) -> None:
    """The text may be written anew by ``ast.unparse`` and sprinkled with notes: no digest changes."""
    first = codes(notebook(HELPERS, FLOW))
    cells = []
    for cell in (HELPERS, FLOW):
        text = ast.unparse(ast.parse(cell)) if choose.random() < 0.5 else cell
        cells.append(_notes_added(text, choose))
    assert reasons(first, codes(notebook(*cells))) == {}
