"""Reading a function's tree: the text sees every edit and no formatting, the names are the right ones."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json.decoder
import random
import textwrap
import typing
from collections.abc import Iterator
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_wfresume.fingerprint.reader import Read, read_function
from jupyter_wfresume.fingerprint.scopes import inside

MODULES = (dataclasses, inspect, json.decoder, textwrap, typing, random)


def functions_of(module: ModuleType) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda]:
    """Yield all functions of a module of Python's own."""
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node


FUNCTIONS = [node for module in MODULES for node in functions_of(module)]


def read(source: str) -> Read:
    """Read the first function of a text."""
    (node,) = ast.parse(textwrap.dedent(source)).body
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    return read_function(node)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_a_trip_through_unparse_changes_nothing(module: ModuleType) -> None:
    """Real code of many kinds, written anew by ``ast.unparse``, reads the same."""
    for node in functions_of(module):
        if isinstance(node, ast.Lambda):
            again: ast.AST = ast.parse(ast.unparse(node), mode="eval").body
        else:
            again = ast.parse(ast.unparse(node)).body[0]
        assert dataclasses.asdict(read_function(again)) == dataclasses.asdict(read_function(node))


def mutate(node: ast.AST, choose: random.Random) -> bool:
    """Change one thing that counts somewhere in a function; False where nothing was found to change."""
    sites = [each for each in ast.walk(node) if isinstance(each, tuple(MUTATIONS)) and _counts(each)]
    if not sites:
        return False
    site = choose.choice(sites)
    MUTATIONS[type(site)](site)
    return True


def _counts(node: ast.AST) -> bool:
    return not isinstance(node, ast.Constant) or isinstance(node.value, int | float)


def _set(name: str, make: object) -> object:
    return lambda node: setattr(node, name, make(getattr(node, name)))  # type: ignore[operator]  # a lambda


MUTATIONS = {
    ast.Constant: _set("value", lambda value: value + 1),
    ast.Attribute: _set("attr", lambda name: name + "_"),
    ast.BinOp: _set("op", lambda op: ast.Sub() if not isinstance(op, ast.Sub) else ast.Add()),
    ast.Compare: _set(
        "ops", lambda ops: [ast.Is() if not isinstance(op, ast.Is) else ast.Eq() for op in ops]
    ),
    ast.BoolOp: _set("op", lambda op: ast.Or() if isinstance(op, ast.And) else ast.And()),
    ast.If: _set("test", lambda test: ast.UnaryOp(ast.Not(), test)),
    ast.Return: _set("value", lambda value: ast.Tuple([value or ast.Constant(0)], ast.Load())),
    ast.Raise: _set("exc", lambda exc: ast.Name("Other", ast.Load())),
    ast.Subscript: _set("slice", lambda place: ast.Tuple([place], ast.Load())),
    ast.Starred: _set("value", lambda value: ast.Tuple([value], ast.Load())),
    ast.comprehension: _set("ifs", lambda ifs: [*ifs, ast.Name("more", ast.Load())]),
    ast.FormattedValue: _set("conversion", lambda conversion: 97 if conversion != 97 else 114),
    ast.ExceptHandler: _set("type", lambda kind: ast.Name("Other", ast.Load())),
    ast.With: _set("body", lambda body: [*body, ast.Continue()]),
    ast.For: _set("orelse", lambda body: [*body, ast.Break()]),
    ast.While: _set("test", lambda test: ast.UnaryOp(ast.Not(), test)),
    ast.Call: _set("args", lambda args: [*args, ast.Constant(7)]),
    ast.keyword: _set("arg", lambda name: "other"),
}


@settings(max_examples=300)
@given(st.integers(0, len(FUNCTIONS) - 1), st.randoms(use_true_random=False))
def test_any_mutation_is_seen(position: int, choose: random.Random) -> None:
    """One changed operator, number, name, call or branch in the body of real code changes its text."""
    node = FUNCTIONS[position]
    before = read_function(node).text
    changed = ast.parse(ast.unparse(node), mode="eval" if isinstance(node, ast.Lambda) else "exec")
    inner = changed.body if isinstance(node, ast.Lambda) else changed.body[0]
    body = [inner.body] if isinstance(inner, ast.Lambda) else list(inner.body)
    body = [each for each in body if not isinstance(each, ast.Expr | ast.Pass)]
    if not body or not mutate(choose.choice(body), choose):
        return
    # An annotation inside a body does not count, and a mutation may have landed in one.
    for each in ast.walk(inner):
        if isinstance(each, ast.AnnAssign | ast.FunctionDef | ast.AsyncFunctionDef):
            return
    assert read_function(inner).text != before


NAMES = {
    "globals, in order": ("def f(x):\n return b(a(x))", ["b", "a"]),
    "a parameter is no global": ("def f(a, *b, c=1, **d):\n return a, b, c, d", []),
    "what is assigned is no global": ("def f():\n a = 1\n for b in g: pass\n return a, b", ["g"]),
    "unpacking, with, except, walrus": (
        "def f():\n with o() as a: (b, *c) = a\n try: p()\n except E as d: return d, b, c\n"
        " if (e := q()): return e",
        ["E", "o", "p", "q"],
    ),
    "an import inside": ("def f():\n import a.b\n from c import d as e\n return a, d, e", ["d"]),
    "a match": (
        "def f(v):\n match v:\n  case {'k': K.x, **rest}: return rest\n"
        "  case C(a=[b, *c]) as d: return b, c, d",
        ["C", "K.x"],
    ),
    "a comprehension binds its own": ("def f(v):\n return [x for x in v if x], x", ["x"]),
    "its first iterable is outside": ("def f():\n return [x for x in x]", ["x"]),
    "a walrus in a comprehension": ("def f(v):\n r = [y := g(z) for z in v]\n return y, z", ["g", "z"]),
    "a nested function": ("def f():\n a = 1\n def g(b=d):\n  return a, b, c\n return g", ["c", "d"]),
    "a nested function's local": ("def f():\n def g():\n  a = 1\n return a", ["a"]),
    "a lambda": ("def f(v):\n return sorted(v, key=lambda r: (r, s))", ["s", "sorted"]),
    "a class inside": ("def f():\n class A(B):\n  n = 1\n  def m(self): return n\n return A", ["B", "n"]),
    "a global statement": ("def f():\n global a\n a = 1\n return a", ["a"]),
    "attributes": ("def f(x):\n return helpers.text.clean(x.attr).strip()", ["helpers.text.clean"]),
    "an assigned attribute": ("def f():\n settings.level = 3", []),
    "a deleted name": ("def f():\n a = 1\n del a", []),
    "an f-string": ("def f():\n return f'{a!r:>{b}}'", ["a", "b"]),
    "async parts": (
        "async def f(v):\n async with a as b: return [c async for c in v], await d(b)",
        ["a", "d"],
    ),
}


@pytest.mark.parametrize(("source", "names"), NAMES.values(), ids=NAMES)
def test_names_from_outside(source: str, names: list[str]) -> None:
    """Exactly the names that the function takes from outside are found."""
    found = [".".join(chain[1:]) for chain in read(source).chains if chain[0] == "outer"]
    assert sorted(found) == sorted(names)


SELF = {
    "an attribute": ("self.a", [("a",)]),
    "a call": ("self.a(1)", [("a",)]),
    "a longer way": ("self.a.b.c", [("a", "b", "c")]),
    "the type": ("type(self).a", [("a",)]),
    "the class": ("self.__class__.a", [("a",)]),
    "getattr": ("getattr(self, 'a', None)", [("a",)]),
    "getattr of any": ("getattr(self, x)", [()]),
    "in a lambda": ("(lambda v: self.a(v))(x)", [("a",)]),
    "in a comprehension": ("[self.a for _ in x]", [("a",)]),
    "handed on": ("x(self)", [()]),
    "shadowed": ("(lambda self: self.a)(x)", []),
}


@pytest.mark.parametrize(("expression", "chains"), SELF.values(), ids=SELF)
def test_names_on_self(expression: str, chains: list[tuple[str, ...]]) -> None:
    """What is used of the first parameter is found, and that it is handed on as a whole."""
    found = read(f"def f(self, x):\n return {expression}").chains
    assert [chain[1:] for chain in found if chain[0] == "first"] == chains


def test_assigning_to_self_is_no_reading() -> None:
    """``self.a = 1`` needs no value of ``a``; ``self.a += 1`` does."""
    assert read("def f(self):\n self.a = 1").chains == []
    assert read("def f(self):\n self.a += 1").chains == [("first", "a")]


def test_super_is_found() -> None:
    """``super().a`` leads to the base classes."""
    assert ("super", "a") in read("def f(self):\n return super().a()").chains


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n client(api_key='{}')",
        "def f():\n password = '{}'\n return password",
        "def f():\n os.environ['API_KEY'] = '{}'",
        "def f():\n return {{'auth_token': '{}'}}",
        "def f(x):\n x.secret = '{}'",
        "def f():\n client(token='{}')",
    ],
)
def test_a_credential_in_code_does_not_count(source: str) -> None:
    """A key typed into the code may be renewed: it is not part of the text."""
    one, other = source.format("sk-a1b2c3d4e5f6a7b8"), source.format("sk-b1b2c3d4e5f6a7b9")
    assert read(one).text == read(other).text
    assert "sk-" not in read(one).text


def test_a_plain_argument_called_key_counts() -> None:
    """``key="name"`` is a plain argument, whose edit must be seen."""
    assert read("def f(x):\n x.sort(key='name')").text != read("def f(x):\n x.sort(key='size')").text


def test_a_parent_hung_on_a_shared_operator_is_not_followed() -> None:
    """What draws tracebacks hangs the parent on each node, and ``+`` is one object for all trees; a tree read
    afterwards still ends."""
    other = ast.parse("a + b")
    addition = other.body[0]
    assert isinstance(addition, ast.Expr)
    assert isinstance(addition.value, ast.BinOp)
    shared = addition.value.op
    shared.parent = addition.value  # type: ignore[attr-defined]  # as the drawer does
    addition.value.parent = addition  # type: ignore[attr-defined]  # as the drawer does
    addition.parent = addition.value  # type: ignore[attr-defined]  # a ring, through trees that are not ours
    try:
        found = list(inside(ast.parse("lambda n: n + 1")))
    finally:
        del shared.parent  # type: ignore[attr-defined]  # the object is everybody's
    assert len(found) < 20
