"""Questions as boards and headers show them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from ..codec.classes import class_ref
from ..engine import answer_fields
from ..records import FieldView, QuestionView, RunView
from ..runtime import Asked


def asked(own: Sequence[Asked], run_id: str, children: Sequence[RunView]) -> tuple[QuestionView, ...]:
    """What a run and those that its steps run wait for.

    Args:
        own: the run's own questions.
        run_id: the run, where it is one that a step runs; else empty.
        children: views of the runs that its steps run.
    """
    mine = [
        QuestionView(
            index=0,
            text=one.text,
            step=one.question.step,
            asked_at=one.question.at,
            key=one.key,
            fields=tuple(
                FieldView(**dataclasses.asdict(field)) for field in answer_fields(one.cls, one.requirements)
            ),
            run_id=run_id,
            decided=tuple(one.requirements),
            answer=class_ref(one.cls),
        )
        for one in own
    ]
    inner = [question for child in children for question in child.questions]
    return tuple(dataclasses.replace(one, index=i) for i, one in enumerate([*mine, *inner]))
