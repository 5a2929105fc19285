"""Classes that the codec's tests keep; they stand here so that they can be found by name."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, RootModel

T = TypeVar("T")


class Colour(enum.Enum):
    RED = "red"
    BLUE = (1, 2)


class Word(str, enum.Enum):
    YES = "yes"


class Level(enum.IntEnum):
    LOW = 1
    ALSO_LOW = 1


class Right(enum.Flag):
    READ = 1
    WRITE = 2


class Bits(enum.IntFlag):
    A = 1
    B = 4


@dataclasses.dataclass
class Point:
    x: Any
    y: Any = 0
    total: Any = dataclasses.field(init=False, default=None)
    hidden: Any = dataclasses.field(default_factory=list, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.total = "made by __post_init__"


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: Any
    b: Any = ()


@dataclasses.dataclass(slots=True)
class Slotted:
    a: Any
    b: Any = dataclasses.field(init=False)


@dataclasses.dataclass(frozen=True, slots=True)
class FrozenSlots(Generic[T]):
    a: T


class Pair(NamedTuple):
    first: Any
    second: Any = None


Old = collections.namedtuple("Old", "a b")


class PairWithMore(Pair):
    pass


class Base(BaseModel):
    name: str = "base"


class Sub(Base):
    more: Any = None


class Holder(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)

    base: Base
    excluded: Any = Field(default=None, exclude=True)
    aliased: Any = Field(default=None, alias="otherName")
    _secret: Any = PrivateAttr(default=None)
    _made: list[Any] = PrivateAttr(default_factory=list)

    @functools.cached_property
    def costly(self) -> str:
        return "computed"


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")

    a: int = 0


class Strict(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)

    a: Any = None


class Root(RootModel[dict[str, int]]):
    pass


class RootWithMore(RootModel[int]):
    _note: Any = PrivateAttr(default=None)


class Box(BaseModel, Generic[T]):
    item: T


class NeedsArguments(Exception):
    def __init__(self, code: int, *, detail: str) -> None:
        super().__init__(f"code {code}")
        self.code = code
        self.detail = detail


class SlottedError(ValueError):
    __slots__ = ("place",)


class FileTrouble(OSError):
    def __init__(self, what: str) -> None:
        super().__init__(2, what)
        self.what = what


class Plain:
    def __init__(self) -> None:
        self.a = 1


class MyStr(str):
    pass


class MyList(list):  # type: ignore[type-arg]  # what users write
    pass
