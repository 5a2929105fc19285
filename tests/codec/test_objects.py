"""Objects of user classes come back with their class and all their state."""

from __future__ import annotations

import asyncio
import builtins
import sys

import pydantic
import pytest

from jupyter_wfresume.codec import MemoryBlobs, decode, encode
from jupyter_wfresume.errors import CannotKeepError, DamagedError, MissingClassError
from tests.codec import kinds
from tests.codec.same import same
from tests.codec.trip import trip


def holder() -> kinds.Holder:
    """A model with all that serializers usually lose."""
    value = kinds.Holder(base=kinds.Sub(name="n", more=(1, {2})), excluded={3}, otherName=4)
    value._secret = (5,)
    value._made.append(b"\xff")
    assert value.costly == "computed"
    return value


def slotted() -> kinds.Slotted:
    """A slotted dataclass whose other slot is filled later."""
    value = kinds.Slotted((1,))
    value.b = {2}
    return value


def point_with_more() -> kinds.Point:
    """A dataclass with an attribute that is no field, and a changed one that ``init`` does not take."""
    value = kinds.Point({1}, kinds.Frozen(1))
    value.total = "changed"
    value.extra = [1]  # type: ignore[attr-defined]  # that is the point
    return value


def pair_with_more() -> kinds.PairWithMore:
    """A named tuple of a subclass with attributes."""
    value = kinds.PairWithMore(1)
    value.note = "kept"
    return value


VALUES = [
    kinds.Colour.RED, kinds.Colour.BLUE, kinds.Word.YES, kinds.Level.LOW, kinds.Level.ALSO_LOW,
    kinds.Right.READ, kinds.Right.READ | kinds.Right.WRITE, kinds.Right(0), kinds.Bits.A | kinds.Bits.B,
    kinds.Bits(8),
    kinds.Point(1), point_with_more(), kinds.Frozen(1, (2,)), kinds.Slotted(1), slotted(),
    kinds.FrozenSlots(1),
    kinds.Pair(1), kinds.Pair((1,), kinds.Pair(2)), kinds.Old(1, {2}), pair_with_more(),
    kinds.Base(), kinds.Sub(name="x", more=kinds.Base()), holder(), kinds.Open(a=1, b=(2,)), kinds.Open(),
    kinds.Strict(a=1), kinds.Root({"a": 1}), kinds.Box[int](item=1), kinds.Box[list[int]](item=[1]),
    kinds.Box(item="x"),
    kinds.Box[kinds.Box[int]](item=kinds.Box[int](item=1)), kinds.Base.model_construct(name=7),
    kinds.Sub.model_construct(),
    kinds.Base, kinds.Colour, kinds.Point, kinds.Pair, kinds.NeedsArguments, kinds.Box, kinds.Box[int],
    {kinds.Word.YES: kinds.Level.LOW, kinds.Frozen(1): kinds.Pair(1)}, {kinds.Frozen(1), kinds.Pair(2)},
    pydantic.TypeAdapter(pydantic.AwareDatetime).validate_python("2024-01-01T00:00:00Z"),
    pydantic.TypeAdapter(pydantic.AwareDatetime).validate_python("2024-01-01T00:00:00-03:30"),
    pydantic.TypeAdapter(pydantic.AnyUrl).validate_python("https://a.b/c?d=e"),
    pydantic.TypeAdapter(pydantic.HttpUrl).validate_python("https://a.b"),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_an_object_comes_back_with_its_class_and_state(value):
    """Enums, dataclasses, named tuples, models and classes are the same after a trip."""
    assert same(trip(value), value)


def test_a_root_model_keeps_its_private_attributes():
    """A RootModel hides the slots that other models keep them in."""
    value = kinds.RootWithMore(5)
    value._note = (1,)
    back = trip(value)
    assert back.root == 5
    assert back._note == (1,)
    assert back == value


def test_members_of_enums_are_the_members_themselves():
    """Code compares members by identity."""
    assert trip([kinds.Colour.BLUE, kinds.Level.ALSO_LOW]) == [kinds.Colour.BLUE, kinds.Level.LOW]
    assert trip(kinds.Word.YES) is kinds.Word.YES


def test_no_validation_runs_on_reading():
    """A value that its field's type would not admit, such as one set later, is not coerced."""
    value = kinds.Base()
    value.name = ("no", "str")  # type: ignore[assignment]  # pydantic does not check it either
    assert trip(value).name == ("no", "str")


def test_a_field_that_the_class_got_since_takes_its_default(monkeypatch):
    """A record made before a field was added is read as if the default had been there."""
    before = type(
        "Grown", (pydantic.BaseModel,), {"__annotations__": {"a": int}, "__module__": kinds.__name__}
    )
    after = type(
        "Grown",
        (pydantic.BaseModel,),
        {"__annotations__": {"a": int, "b": int}, "b": 7, "__module__": kinds.__name__},
    )
    monkeypatch.setattr(kinds, "Grown", before, raising=False)
    blobs = MemoryBlobs()
    node = encode(before(a=1), blobs)
    monkeypatch.setattr(kinds, "Grown", after)
    back = decode(node, blobs)
    assert type(back) is after
    assert (back.a, back.b) == (1, 7)


def test_a_field_that_was_deleted_stays_away():
    """Exactness goes before convenience where the class has not changed."""
    value = kinds.Base()
    del value.name
    assert trip(value).__dict__ == {}


def raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    """The error as it is caught."""
    try:
        raise error from cause
    except BaseException as caught:  # noqa: BLE001  # it is handed back
        return caught


def in_context() -> BaseException:
    """An error that was raised while another one was handled."""
    try:
        try:
            raise KeyError("first")
        except KeyError:
            raise kinds.NeedsArguments(3, detail="second")  # noqa: B904  # the context is what is wanted
    except kinds.NeedsArguments as error:
        return error


def annotated() -> BaseException:
    """An error with a note and attributes."""
    error = ValueError("a", {1: (2,)})
    error.__notes__ = ["note"]  # type: ignore[attr-defined]  # as add_note does from 3.11 on
    error.more = kinds.Base()  # type: ignore[attr-defined]  # users do
    return error


def placed() -> BaseException:
    """An error whose attribute is in a slot."""
    error = kinds.SlottedError("x")
    error.place = (1, 2)
    return error


def undecodable() -> BaseException:
    """A UnicodeDecodeError, which keeps its parts in C."""
    try:
        b"a\xff".decode()
    except UnicodeDecodeError as error:
        return error
    raise AssertionError


ERRORS = [
    ValueError(), ValueError("a", 1), KeyError("k"), kinds.NeedsArguments(7, detail="d"),
    kinds.FileTrouble("w"),
    OSError("text"), OSError(2, "no", "file"), OSError(2, "no", "a", None, "b"), FileNotFoundError(2, "no"),
    PermissionError(13, "no", b"bytes"), StopIteration(5), SystemExit(3),
    ImportError("x", name="n", path="p"),
    NameError("x", name="y"), SyntaxError("bad", ("f", 1, 2, "text")), asyncio.CancelledError(),
    TimeoutError("t"),
    raised(ValueError("x"), KeyError("cause")), raised(ValueError("x"), None), in_context(), annotated(),
    placed(),
    undecodable(), UnicodeEncodeError("ascii", "\u1234", 0, 1, "why"), ZeroDivisionError("z"),
    RecursionError("deep"),
]  # fmt: skip


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_exception_comes_back_with_all_but_its_traceback(error):
    """Type, arguments, attributes, builtin fields, cause, context and notes are kept."""
    back = trip(error)
    assert same(back, error)
    assert back.__traceback__ is None


@pytest.mark.skipif(sys.version_info < (3, 11), reason="platform: exception groups came with Python 3.11")
def test_an_exception_group_keeps_its_members():
    """Members of a group, nested too, are kept."""
    made = getattr(builtins, "ExceptionGroup")  # noqa: B009  # the name is unknown to a linter for 3.10
    group = made("g", [ValueError(1), made("h", [KeyError("k")])])
    back = trip(group)
    assert type(back) is type(group)
    assert back.message == "g"
    assert same(back.exceptions[0], group.exceptions[0])
    assert same(back.exceptions[1].exceptions, group.exceptions[1].exceptions)


def test_a_cause_that_was_raised_in_the_context_of_its_effect_is_kept():
    """``raise a from b`` while b's context is a makes a ring, which must not be refused."""
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__context__ = second, first
    back = trip(first)
    assert back.__cause__.__context__ is back


def test_what_an_attribute_error_was_about_is_left_out():
    """``AttributeError.obj`` is a debugger's handle on any object, and would make such errors unkeepable."""
    error = raised_by_attribute(object())
    back = trip(error)
    assert back.args == error.args
    assert back.name == "nothing"


def raised_by_attribute(value: object) -> AttributeError:
    """An AttributeError as Python raises it."""
    try:
        value.nothing  # type: ignore[attr-defined]  # noqa: B018  # it is to raise
    except AttributeError as error:
        return error
    raise AssertionError


def test_a_missing_class_says_what_to_run():
    """A class of a cell that was not run again is named, with the way out."""
    with pytest.raises(MissingClassError, match="cannot find Ping: run the cell that defines it"):
        decode({"~": "m", "c": "__main__:Ping", "d": {}}, MemoryBlobs())


def test_a_missing_module_says_what_to_install():
    """A class of a library that is gone is named, with the way out."""
    with pytest.raises(
        MissingClassError, match=r"cannot find no_such_module_here\.Ping: import or install it"
    ):
        decode({"~": "m", "c": "no_such_module_here:Ping", "d": {}}, MemoryBlobs())


def test_a_member_that_is_gone_is_named():
    """A renamed enum member is an error, never another member."""
    with pytest.raises(DamagedError, match="no member 'GREEN'"):
        decode({"~": "e", "c": "tests.codec.kinds:Colour", "n": "GREEN"}, MemoryBlobs())


def test_the_given_finder_goes_before_the_modules():
    """A class that a workflow uses is found there, whatever the module holds by that name."""

    class Local(pydantic.BaseModel):
        a: int = 1

    blobs = MemoryBlobs()
    node = encode(Local(), blobs)
    back = decode(node, blobs, lambda module, qualname: Local if qualname.endswith("Local") else None)
    assert type(back) is Local
    with pytest.raises(MissingClassError):
        decode(node, blobs)


def test_with_a_finder_a_class_that_nothing_could_find_is_refused_at_once():
    """A record that could never be read back is not written."""

    class Local(pydantic.BaseModel):
        a: int = 1

    with pytest.raises(CannotKeepError, match="cannot be found by its name"):
        encode([Local()], MemoryBlobs(), lambda module, qualname: None)


def test_a_class_of_main_is_found_there(monkeypatch):
    """Classes defined in notebook cells live in ``__main__``."""
    main = sys.modules["__main__"]
    cls = type("Cell", (pydantic.BaseModel,), {"__annotations__": {"a": int}, "__module__": "__main__"})
    monkeypatch.setattr(main, "Cell", cls, raising=False)
    again = type("Cell", (pydantic.BaseModel,), {"__annotations__": {"a": int}, "__module__": "__main__"})
    blobs = MemoryBlobs()
    node = encode(cls(a=1), blobs)
    monkeypatch.setattr(main, "Cell", again)
    assert type(decode(node, blobs)) is again


def invalid(model: type[pydantic.BaseModel], **fields: object) -> pydantic.ValidationError:
    """The error of a model that was given wrong fields."""
    try:
        model(**fields)
    except pydantic.ValidationError as error:
        return error
    raise AssertionError


class Checked(pydantic.BaseModel):
    a: int
    b: str = pydantic.Field(default="", max_length=2)
    c: int = 0

    @pydantic.field_validator("c")
    @classmethod
    def no_seven(cls, value: int) -> int:
        if value == 7:
            raise ValueError("seven {is} wrong")
        return value


@pytest.mark.parametrize(
    "error",
    [
        invalid(Checked),
        invalid(Checked, a="x", b="long"),
        invalid(Checked, a=1, c=7),
        invalid(kinds.Root, root={"a": []}),
    ],
)
def test_a_validation_error_keeps_its_lines(error):
    """Pydantic's own error, the most common failure of structured output, is kept."""
    back = trip(error)
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert back.title == error.title
    kept = [{name: item for name, item in line.items() if name != "ctx"} for line in back.errors()]
    assert kept == [{name: item for name, item in line.items() if name != "ctx"} for line in error.errors()]
