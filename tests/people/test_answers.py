"""One answer for one question: given before a resume or meanwhile, in any order, by whoever is there."""

from __future__ import annotations

import asyncio
import contextlib
import time

import pytest
from workflows import Workflow
from workflows.events import HumanResponseEvent, InputRequiredEvent

from jupyter_wfresume import durable, open_run
from jupyter_wfresume.errors import UsageError
from jupyter_wfresume.session import Run
from tests.counting import counts
from tests.people.conftest import Live, asked, until
from tests.people.flows import (
    GO,
    LOG,
    Beside,
    Chance,
    Colour,
    Consent,
    Demanding,
    Form,
    Loop,
    Once,
    Outer,
    Said,
    Several,
    Streamed,
    StreamedOnly,
    Typed,
    Unlinked,
    everything,
)


def texts() -> list[str]:
    """What the run asks, as its questions print, in no order."""
    return sorted(str(question) for question in open_run("it").questions)


def answer(run: Run, about: str, value: object) -> None:
    """Answer the question with this text, in a list that may be older than the run."""
    run.answer(value, question=next(one for one in run.questions if str(one) == about))


async def test_an_answer_given_before_the_resume_is_taken_by_it(live: Live) -> None:
    """Nothing before the question runs again but the code of the step that asked, once for the answer."""
    ended = await live(Once())
    assert (ended.status, open_run("it").status) == ("waiting", "waiting")
    assert 'it waits for an answer "Who?"' in ended.sentence
    assert texts() == ["Who?"]
    assert (await live(Once())).status == "waiting"
    assert counts(LOG) == {"first": 1, "paid": 1}
    open_run("it").answer("Ada")
    assert await live(Once()) == "Ada"
    assert counts(LOG) == {"first": 1, "paid": 2}
    assert open_run("it").questions == ()


async def test_that_the_step_begins_again_is_said_once_while_it_waits(live: Live) -> None:
    """The note names the step and how often; it is gone when the run is done."""
    await live(Once())
    await live(Once())
    (said,) = open_run("it").notes
    assert said.startswith("`ask` asked: with each answer it runs again from its start")
    open_run("it").answer("Ada")
    await live(Once())
    assert open_run("it").notes == ()


async def test_three_questions_are_answered_out_of_order_over_several_lives(live: Live) -> None:
    """Each answer resolves its own question; the others stay."""
    assert "and 2 more" in (await live(Several())).sentence
    assert texts() == ["Who wrote 0?", "Who wrote 1?", "Who wrote 2?"]
    answer(open_run("it"), "Who wrote 2?", "two")
    assert (await live(Several())).status == "waiting"
    assert texts() == ["Who wrote 0?", "Who wrote 1?"]
    run = open_run("it")
    answer(run, "Who wrote 1?", "one")
    answer(run, "Who wrote 0?", "zero")
    assert await live(Several()) == ["0 zero", "1 one", "2 two"]
    assert counts(LOG) == {"0 zero": 1, "1 one": 1, "2 two": 1}


async def test_answers_reach_a_run_that_is_under_way(live: Live) -> None:
    """The process that drives the run takes each answer soon after it was written, one after the other."""
    running = asyncio.create_task(live(Several(), wait=600))
    for left in (3, 2, 1):
        run = await asked(left)
        run.answer(str(run.questions[left - 1]), question=left - 1)
    assert await running == ["0 Who wrote 0?", "1 Who wrote 1?", "2 Who wrote 2?"]


async def test_a_question_is_on_disk_while_other_work_goes_on(live: Live) -> None:
    """Nobody has to wait for the next record, and an answer is taken meanwhile."""
    GO.clear()
    running = asyncio.create_task(live(Beside(), wait=600))
    run = await until(lambda run: len(run.questions) == 1)
    assert run.status == "running"
    run.answer("Ada")
    await until(lambda run: not run.questions)
    GO.set()
    assert await running == ["Ada", "worked"]


async def test_the_second_answer_to_a_question_is_refused(live: Live) -> None:
    """The first one stands, and the second one is told so."""
    await live(Once())
    run = open_run("it")
    run.answer("Ada")
    with pytest.raises(UsageError, match="'Who\\?' is answered already"):
        run.answer("Bob")
    assert await live(Once()) == "Ada"


async def test_it_has_to_be_clear_what_is_answered(live: Live) -> None:
    """With several questions one is named; a number that does not exist, and no question at all, are told."""
    await live(Several())
    run = open_run("it")
    with pytest.raises(UsageError, match=r"asks 3 questions, say which: \[0\] Who wrote \d\?; \[1\]"):
        run.answer("x")
    with pytest.raises(UsageError, match=r"no question \[3\]"):
        run.answer("x", question=3)
    for n in range(3):
        run.answer("x", question=n)
    await live(Several())
    with pytest.raises(UsageError, match="waits for nobody"):
        open_run("it").answer("x")


async def test_typed_fields_are_checked_when_the_answer_is_given(live: Live) -> None:
    """Words stand for numbers, yes and no, and choices; what does not fit is told at once and not kept."""
    await live(Typed())
    run = open_run("it")
    kinds = {field.name: field.kind for field in run.questions[0].fields}
    assert kinds == {
        "copies": "int",
        "share": "float",
        "urgent": "bool",
        "size": "choice",
        "colour": "choice",
        "pages": "json",
        "note": "text",
    }
    for name, wrong, said in [
        ("copies", "many", "copies is a whole number, not 'many'"),
        ("copies", True, "copies is a whole number"),
        ("copies", 1.5, "copies is a whole number"),
        ("share", "half", "share is a number, not 'half'"),
        ("urgent", "perhaps", "urgent is yes or no"),
        ("size", "huge", "size is one of small, large, not 'huge'"),
        ("note", 3, "note is text, not 3"),
    ]:
        with pytest.raises(UsageError, match=said):
            run.answer({**everything(), name: wrong})
    with pytest.raises(UsageError, match="needs copies and share and urgent"):
        run.answer({"size": "small"})
    with pytest.raises(UsageError, match="has several fields: give a dict"):
        run.answer("3")
    run.answer(everything())
    result = await live(Typed())
    assert result == Form(copies=3, share=0.5, urgent=True, size="large", colour=Colour.BLUE, pages=[1, 2])


async def test_an_event_may_be_the_answer(live: Live) -> None:
    """It comes as it was given."""
    await live(Once())
    open_run("it").answer(Said(text="Ada"))
    assert await live(Once()) == "Ada"


async def test_an_answer_that_the_class_refuses_leaves_the_question_open(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the class is not known when the answer is given, the board of the next life tells of it."""
    await live(Typed())
    with monkeypatch.context() as elsewhere:
        elsewhere.delattr("tests.people.flows.Form")
        open_run("it").answer({**everything(), "pages": "not a list"})
    assert (await live(Typed(), wait=0.5)).status == "waiting"
    assert texts() == ["How?"]
    assert any("was not taken" in said and "pages" in said for said in open_run("it").notes)
    open_run("it").answer(everything())
    assert (await live(Typed())).copies == 3


async def test_a_random_waiter_id_is_recognized_and_named(live: Live) -> None:
    """The answer meets its question although its name is another one each time, and the note says so."""
    await live(Chance())
    open_run("it").answer("Ada")
    assert await live(Chance()) == "Ada"
    assert counts(LOG) == {"paid": 2}
    assert any("`ask` makes its waiter_id anew each time" in said for said in open_run("it").notes)


async def test_requirements_are_filled_in_and_kept(live: Live) -> None:
    """A person need not say what the waiter has decided; one who says otherwise is told."""
    await live(Demanding())
    run = open_run("it")
    assert [field.name for field in run.questions[1].fields] == ["text"]
    answer(run, "User 1?", "one")
    answer(run, "User 0?", Said(text="zero", user=7))
    assert (await live(Demanding(), wait=0.5)).status == "waiting"
    assert any("the question is for a Said with user=0" in said for said in open_run("it").notes)
    open_run("it").answer("zero")
    assert await live(Demanding()) == ["0 0 zero", "1 1 one"]


async def test_a_question_that_nothing_can_answer_says_so(live: Live) -> None:
    """The engine never looks at declared fields, so that a waiter which requires one waits for ever."""
    await live(Consent())
    open_run("it").answer({})
    assert (await live(Consent(), wait=0.5)).status == "waiting"
    assert any("nothing can answer it" in said and "number" in said for said in open_run("it").notes)


async def test_questions_without_a_waiter_are_answered_one_by_one(live: Live) -> None:
    """The one that is named is gone from the list; each answer goes to the step that takes it."""
    await live(Unlinked())
    assert texts() == ["Number 0?", "Number 1?", "Number 2?"]
    run = open_run("it")
    run.answer("b", question=1)
    assert (await live(Unlinked())).status == "waiting"
    assert texts() == ["Number 0?", "Number 2?"]
    # Held since before the first answer came: it still names its question.
    run.answer("c", question=run.questions[2])
    run.answer("a", question=run.questions[0])
    assert await live(Unlinked()) == ["b", "c", "a"]
    assert counts(LOG) == {"a": 1, "b": 1, "c": 1}


async def test_that_questions_carry_no_link_is_said_once_while_several_are_open(live: Live) -> None:
    """The note names the step and what takes the oldest; one such question alone needs no note."""
    await live(Unlinked())
    await live(Unlinked())
    (said,) = open_run("it").notes
    assert said.startswith("`ask` asked with an event that carries no link to its answer: you name ")
    assert said.endswith("an event that the cell sends itself answers the oldest")
    for n in range(3):
        open_run("it").answer("x", question=n)
    await live(Unlinked())
    assert open_run("it").notes == ()
    await live(StreamedOnly())
    assert open_run("it").notes == ()


async def test_what_the_body_sends_answers_the_oldest_question_without_a_waiter(live: Live) -> None:
    """An event without a link takes the first question off the list."""
    async with durable("it", board="none"):
        handler = Unlinked().run()
        await asked(3)
        handler.ctx.send_event(HumanResponseEvent(response="first"))
        run = await asked(2)
        assert texts() == ["Number 1?", "Number 2?"]
        run.answer("third", question=1)
        await until(lambda run: len(run.header.questions) == 1)
        handler.ctx.send_event(HumanResponseEvent(response="second"))
        assert await handler == ["first", "third", "second"]


@pytest.mark.parametrize("flow", [Streamed, StreamedOnly])
async def test_a_question_that_only_the_stream_holds_is_shown(live: Live, flow: type[Workflow]) -> None:
    """The engine's documented pair, a question into the stream and a wait, keeps its text over a restart."""
    await live(flow())
    assert texts() == ["What is your name?"]
    assert (await live(flow())).status == "waiting"
    assert texts() == ["What is your name?"]
    open_run("it").answer("Ada")
    assert await live(flow()) == "Ada"


async def test_a_waiter_that_asks_again_asks_what_it_asks_now(live: Live) -> None:
    """A name that the user gave is used again for another question, which takes another answer."""
    running = asyncio.create_task(live(Loop(), wait=600))
    for number, said in enumerate(("no", "no", "yes")):
        text = f"Round {number}?"
        run = await until(lambda run, text=text: [str(question) for question in run.questions] == [text])
        run.answer(said)
    assert await running == 2


async def test_an_answer_to_what_was_asked_before_answers_nothing_asked_since(live: Live) -> None:
    """Whoever still sees the first question does not answer the second one of the same waiter's name."""
    running = asyncio.create_task(live(Loop(), wait=600))
    before = await asked()
    first = before.questions[0]
    before.answer("no")
    await until(lambda run: [str(question) for question in run.questions] == ["Round 1?"])
    with contextlib.suppress(UsageError):  # refused at once where the record says by now that it is answered
        before.answer("no", question=first)
    run = await until(lambda run: not run.store.notes(run.id, "answer."))
    assert texts() == ["Round 1?"]
    run.answer("yes")
    assert await running == 1


async def test_a_question_in_a_nested_run_surfaces_and_is_answered(live: Live) -> None:
    """The outer run waits, lists the inner ones' questions, and passes the answers on over a restart."""
    ended = await live(Outer())
    assert ended.status == "waiting"
    assert 'it waits for an answer "Inner ' in ended.sentence
    assert "and 1 more" in ended.sentence
    assert texts() == ["Inner 0?", "Inner 1?"]
    assert all(question.run_id for question in open_run("it").questions)
    answer(open_run("it"), "Inner 1?", "b")
    assert (await live(Outer())).status == "waiting"
    assert texts() == ["Inner 0?"]
    running = asyncio.create_task(live(Outer(), wait=600))
    (await asked()).answer("a")
    assert await running == ["0 a", "1 b"]


@pytest.mark.parametrize("flow", [Once, Outer])
async def test_time_spent_waiting_is_no_time_alive(
    live: Live, flow: type[Workflow], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An hour at a question uses up neither the default budget of 45 s nor a wait's default of 2,000 s."""
    running = asyncio.create_task(live(flow(), wait=600))
    questions = 1 if flow is Once else 2
    run = await asked(questions)
    real, hour = time.time, 3600.0
    monkeypatch.setattr(time, "time", lambda: real() + hour)
    for n in range(questions):
        run.answer("Ada", question=n)
    assert await running == ("Ada" if flow is Once else ["0 Ada", "1 Ada"])
    assert open_run("it").header.elapsed_s < hour / 2
    assert all(one.ended - one.started < hour / 2 for one in open_run("it").executions if one.step != "inner")


async def test_a_body_that_answers_by_itself_is_left_alone() -> None:
    """Where the body reads the stream, no ``wait`` ends it, and one event of its own resolves all waits."""
    async with durable("it", wait=0, board="none"):
        handler = Several().run()
        async for event in handler.stream_events():
            if isinstance(event, InputRequiredEvent) and event.about == "Who wrote 2?":
                handler.ctx.send_event(Said(text="all"))
        assert await handler == ["0 all", "1 all", "2 all"]


async def test_a_body_that_begins_to_read_late_still_answers() -> None:
    """A headless run does not end as waiting before its body has looked at it."""
    async with durable("it", wait=0, board="none"):
        handler = Once().run()
        await asyncio.sleep(0.3)
        async for event in handler.stream_events():
            if isinstance(event, InputRequiredEvent):
                handler.ctx.send_event(Said(text="late"))
        assert await handler == "late"


async def test_the_cell_stays_for_as_long_as_it_was_told(live: Live) -> None:
    """``wait`` seconds after the run began to wait the cell ends as waiting."""
    begun = time.monotonic()
    assert (await live(Once(), wait=0.7)).status == "waiting"
    assert time.monotonic() - begun >= 0.7
