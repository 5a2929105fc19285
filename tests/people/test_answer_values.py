"""What is said becomes exactly what the response event declares, or is refused when it is said."""

from __future__ import annotations

import asyncio
import datetime
from decimal import Decimal
from enum import Enum
from typing import Any

import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, field_validator
from workflows import Context, Workflow, step
from workflows.events import HumanResponseEvent, StartEvent, StopEvent

from jupyter_wfresume import open_run
from jupyter_wfresume.errors import UsageError
from jupyter_wfresume.magics import answer
from jupyter_wfresume.session.written import kept, literal
from tests.people.conftest import Live
from tests.people.flows import Ask, Colour, Said


class Price(BaseModel):
    """A model in an answer."""

    amount: Decimal
    share: float = 0.5


class Amount(HumanResponseEvent):
    """An exact number."""

    amount: Decimal


class Prices(HumanResponseEvent):
    """Exact numbers, deep inside."""

    prices: list[Price]


class Perhaps(HumanResponseEvent):
    """It must be said, and may be None."""

    count: int | None


class Called(HumanResponseEvent):
    """Its field has an alias, which is all that pydantic takes."""

    count: int = Field(alias="number")


class Both(HumanResponseEvent):
    """Its field may be given by name or by alias."""

    model_config = ConfigDict(populate_by_name=True)
    count: int = Field(validation_alias=AliasChoices("number", "n"))


class Paint(HumanResponseEvent):
    """A member of an enumeration."""

    colour: Colour


class Day(HumanResponseEvent):
    """A date."""

    day: datetime.date


class Bounded(HumanResponseEvent):
    """A number with a bound, and a validator that breaks."""

    number: int = Field(ge=5)

    @field_validator("number")
    @classmethod
    def _odd(cls, number: int) -> int:
        if number == 8:
            raise TypeError("8 is no number")
        return number


class Listed(HumanResponseEvent):
    """A list."""

    numbers: list[int]


EVENTS: dict[str, type[HumanResponseEvent]] = {
    one.__name__: one for one in (Amount, Prices, Perhaps, Called, Both, Paint, Day, Bounded, Listed)
}


class Asks(Workflow):
    """Asks for the event that it is told."""

    @step
    async def ask(self, ctx: Context, ev: StartEvent) -> StopEvent:
        said = await ctx.wait_for_event(EVENTS[ev.of], waiter_event=Ask(about="How much?"))
        return StopEvent(result=said)


TAKEN: list[tuple[str, Any, Any]] = [
    ("Amount", "0.1000000000000000055", Decimal("0.1000000000000000055")),
    ("Amount", "1.10", Decimal("1.10")),
    ("Amount", Decimal("1.10"), Decimal("1.10")),
    ("Amount", "12345678901234567890.12", Decimal("12345678901234567890.12")),
    ("Amount", "-1_000.50", Decimal("-1000.50")),
    ("Prices", '[{"amount": 1.10}]', [Price(amount=Decimal("1.10"))]),
    ("Prices", "[{'amount': -1.10, 'share': 0.25}]", [Price(amount=Decimal("-1.10"), share=0.25)]),
    ("Perhaps", None, None),
    ("Perhaps", "None", None),
    ("Perhaps", "null", None),
    ("Perhaps", "", None),
    ("Perhaps", {"count": None}, None),
    ("Perhaps", "7", 7),
    ("Called", "7", 7),
    ("Called", {"count": "7"}, 7),
    ("Called", {"number": "7"}, 7),
    ("Both", {"count": "7"}, 7),
    ("Both", {"number": "7"}, 7),
    ("Paint", Colour.BLUE, Colour.BLUE),
    ("Paint", "2", Colour.BLUE),
    ("Day", "2026-02-03", datetime.date(2026, 2, 3)),
    ("Day", datetime.date(2026, 2, 3), datetime.date(2026, 2, 3)),
    ("Bounded", "5", 5),
    ("Listed", "[1, 2]", [1, 2]),
]


@pytest.mark.parametrize(("of", "said", "value"), TAKEN)
async def test_what_fits_arrives_exactly(of: str, said: Any, value: Any, live: Live) -> None:
    """By name or alias, as a value or in words; no decimal number becomes a float on its way."""
    await live(Asks(), of=of)
    open_run("it").answer(said)
    event = await live(Asks(), of=of)
    (name,) = EVENTS[of].model_fields
    found = getattr(event, name)
    assert (type(event), found, type(found)) == (EVENTS[of], value, type(value))
    assert str(found) == str(value)


class Other(Enum):
    """Another enumeration."""

    GREEN = 7


REFUSED: list[tuple[str, Any, str]] = [
    ("Amount", "x", "the answer does not fit Amount: amount: Input should be a valid decimal"),
    ("Prices", '[{"amount": "x"}]', "fit Prices: prices.0.amount: Input should be a valid decimal"),
    ("Perhaps", "many", "count is a whole number, not 'many'"),
    ("Called", {"count": 1, "number": 2}, "has count twice: as count and as number"),
    ("Called", {}, "needs count too"),
    ("Paint", Other.GREEN, "colour is one of 1, 2, not 7"),
    ("Day", "soon", "the answer does not fit Day: day: Input should be a valid date"),
    ("Bounded", "4", "the answer does not fit Bounded: number: Input should be greater than or equal to 5"),
    ("Bounded", "8", "the answer does not fit Bounded: 8 is no number"),
    ("Listed", ["x"], "the answer does not fit Listed: numbers.0: Input should be a valid integer"),
    ("Listed", Said(text="Ada"), "is a Listed, or its fields, not a Said"),
]


@pytest.mark.parametrize(("of", "said", "sentence"), REFUSED)
async def test_what_does_not_fit_is_refused_when_it_is_given(
    of: str, said: Any, sentence: str, live: Live
) -> None:
    """The class itself is asked; nothing is written down, so that a right answer is still taken."""
    await live(Asks(), of=of)
    run = open_run("it")
    with pytest.raises(UsageError) as caught:
        run.answer(said)
    assert sentence in str(caught.value)
    run.answer(next(value for name, value, _ in TAKEN if name == of))
    assert type(await live(Asks(), of=of)) is EVENTS[of]


async def test_a_class_of_that_name_with_other_fields_is_another_one(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The notebook that answers may have a class of its own by that name; it refuses nothing."""

    class Others(HumanResponseEvent):
        words: str

    await live(Asks(), of="Listed")
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("tests.people.test_answer_values.Listed", Others)
        open_run("it").answer("[3]")
    assert (await live(Asks(), of="Listed")).numbers == [3]


async def test_a_class_that_breaks_on_an_answer_leaves_the_question_open(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a validator raises when the answer is delivered, the run says so and asks on."""
    await live(Asks(), of="Bounded")
    with monkeypatch.context() as elsewhere:
        elsewhere.delattr("tests.people.test_answer_values.Bounded")
        open_run("it").answer("8")
    assert (await live(Asks(), wait=0.5, of="Bounded")).status == "waiting"
    assert any("was not taken: the answer does not fit Bounded" in said for said in open_run("it").notes)


@pytest.mark.parametrize(
    ("of", "typed", "value"),
    [
        ("Amount", "0.1000000000000000055", Decimal("0.1000000000000000055")),
        ("Amount", '{"amount": 0.1000000000000000055}', Decimal("0.1000000000000000055")),
        ("Amount", "{'amount': 0.1000000000000000055}", Decimal("0.1000000000000000055")),
        ("Called", '{"number": 3}', 3),
        ("Perhaps", '{"count": null}', None),
        ("Perhaps", "None", None),
    ],
)
async def test_what_is_typed_arrives_exactly_too(of: str, typed: str, value: Any, live: Live) -> None:
    """On a magic's line the same holds, for a field alone and in a dict, in JSON and as in Python."""
    await live(Asks(), of=of)
    await asyncio.to_thread(answer._answer, f"it {typed}")
    event = await live(Asks(), of=of)
    (name,) = EVENTS[of].model_fields
    assert getattr(event, name) == value
    assert type(getattr(event, name)) is type(value)


@pytest.mark.parametrize(
    ("text", "exact", "plain"),
    [
        ("1.10", Decimal("1.10"), 1.1),
        ("-2.50", Decimal("-2.50"), -2.5),
        ("(1.10, -0.30)", (Decimal("1.10"), Decimal("-0.30")), (1.1, -0.3)),
        ('{"a": [1.10, 2]}', {"a": [Decimal("1.10"), 2]}, {"a": [1.1, 2]}),
        ("+1_0.50", Decimal("10.50"), 10.5),
        ("a word", "a word", "a word"),
        ("-true", "-true", "-true"),
    ],
)
def test_a_number_knows_how_it_was_written(text: str, exact: Any, plain: Any) -> None:
    """It is kept as written or as a plain float, and nothing else is in between."""
    assert repr(kept(literal(text), True)) == repr(exact)
    assert repr(kept(literal(text), False)) == repr(plain)
