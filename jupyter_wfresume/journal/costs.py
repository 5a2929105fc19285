"""What a run has cost and what it was saved, summed up from its records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..projection import finishes
from ..records import Cost, Saved, StepCost, Tokens
from .ticks import Record


def tokens_in(record: Record) -> Tokens:
    """The tokens of an execution, with those of runs that it ran itself.

    Args:
        record: of its result; where it was answered from another run, they were spent there.
    """
    if "u" in record:
        return _tokens(record.get("ut"))
    return _tokens(record.get("tk")) + _tokens(record.get("tb"))


def _tokens(written: Sequence[int] | None) -> Tokens:
    return Tokens() if written is None else Tokens(*written)


@dataclass
class _Step:
    executions: set[int] = field(default_factory=set)
    attempts: int = 0
    failures: int = 0
    time_s: float = 0.0
    tokens: Tokens = field(default_factory=Tokens)
    resumed: dict[int, Saved] = field(default_factory=dict)
    reused: dict[int, Saved] = field(default_factory=dict)
    left_out: int = 0


class Tally:
    """Adds records up, as they are written or read.

    Attributes:
        left_out: executions that a person left out, such as ``work[37]``.
    """

    def __init__(self) -> None:
        self._steps: dict[str, _Step] = {}
        self._cut = Saved()
        self.left_out: list[str] = []

    def add(self, record: Record, *, earlier: bool = False) -> None:
        """One more record.

        Args:
            record: of any kind.
            earlier: an earlier life wrote it, so that what it finished is not executed again.
        """
        if record["k"] == "E":
            self._cut += _saved(record.get("cut"))
        if record["k"] not in "RF":
            return
        step, index = self._steps.setdefault(record["s"], _Step()), record["i"]
        if "sk" in record:
            self.left_out.append(f"{record['s']}[{index}]")
            step.left_out += 1
        elif "u" in record:
            step.reused[index] = Saved(1, float(record["ud"]), tokens_in(record))
        else:
            step.executions.add(index)
            step.attempts += 1
            step.failures += "pk" in record or any(item[0] == "x" for item in record["r"])
            step.time_s += record["d"]
            step.tokens += _tokens(record.get("tk"))
            if earlier and finishes(record):
                step.resumed[index] = Saved(1, record["d"], tokens_in(record))

    @property
    def tokens(self) -> Tokens:
        """What was spent so far, without runs that steps ran."""
        return sum((step.tokens for step in self._steps.values()), self._cut.tokens)

    def cost(self, lives: int = 0, alive_s: float = 0.0) -> Cost:
        """The sums.

        Args:
            lives: how many the run has had.
            alive_s: seconds that it was driven.
        """
        steps = tuple(
            StepCost(
                step=name,
                executions=len(step.executions),
                attempts=step.attempts,
                failures=step.failures,
                time_s=round(step.time_s, 3),
                tokens=step.tokens,
                saved_by_resume=_together(step.resumed.values()),
                saved_by_reuse=_together(step.reused.values()),
                left_out=step.left_out,
            )
            for name, step in self._steps.items()
        )
        return Cost(
            lives=lives,
            alive_s=alive_s,
            attempts=sum(step.attempts for step in steps) + self._cut.executions,
            failures=sum(step.failures for step in steps),
            time_s=round(sum(step.time_s for step in steps) + self._cut.time_s, 3),
            tokens=self.tokens,
            cut_off=self._cut,
            saved_by_resume=_together(step.saved_by_resume for step in steps),
            saved_by_reuse=_together(step.saved_by_reuse for step in steps),
            steps=steps,
            left_out=len(self.left_out),
        )


def tally_of(records: Sequence[Record]) -> Tally:
    """All records of a run.

    Args:
        records: from the first.
    """
    last_life = max((number for number, record in enumerate(records) if record["k"] == "L"), default=0)
    tally = Tally()
    for number, record in enumerate(records):
        tally.add(record, earlier=number < last_life)
    return tally


def cost_for_header(cost: Cost) -> dict[str, Any]:
    """The sums as a header keeps them; what is nothing is left out."""
    said = {
        "a": cost.attempts,
        "f": cost.failures,
        "s": cost.time_s,
        "tk": _written(cost.tokens),
        "cut": saved_for_record(cost.cut_off),
        "rs": saved_for_record(cost.saved_by_resume),
        "ru": saved_for_record(cost.saved_by_reuse),
        "lo": cost.left_out,
    }
    return {key: value for key, value in said.items() if value}


def cost_in_header(said: dict[str, Any], lives: int = 0, alive_s: float = 0.0) -> Cost:
    """The way back from `cost_for_header`.

    Args:
        said: what a header keeps.
        lives: how many the run has had.
        alive_s: seconds that it was driven.
    """
    return Cost(
        lives=lives,
        alive_s=alive_s,
        attempts=said.get("a", 0),
        failures=said.get("f", 0),
        time_s=said.get("s", 0.0),
        tokens=_tokens(said.get("tk")),
        cut_off=_saved(said.get("cut")),
        saved_by_resume=_saved(said.get("rs")),
        saved_by_reuse=_saved(said.get("ru")),
        left_out=said.get("lo", 0),
    )


def saved_for_record(saved: Saved) -> list[Any]:
    """Executions, seconds and tokens as a record keeps them; an empty list for nothing."""
    return [saved.executions, round(saved.time_s, 3), *_written(saved.tokens)] if saved.executions else []


def _together(several: Iterable[Saved]) -> Saved:
    whole = sum(several, Saved())
    # To the millisecond, as records have it: sums of them leave a rest far below.
    return replace(whole, time_s=round(whole.time_s, 3))


def _written(tokens: Tokens) -> list[int]:
    return [tokens.prompt, tokens.completion, tokens.total] if tokens else []


def _saved(written: Sequence[Any] | None) -> Saved:
    if not written:
        return Saved()
    executions, time_s, *tokens = written
    return Saved(executions, time_s, Tokens(*tokens))
