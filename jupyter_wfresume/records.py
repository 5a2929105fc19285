"""Frozen values that every room speaks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["new", "running", "paused", "waiting", "stuck", "failed", "timed out", "done"]
"""A run's state, in the words shown everywhere."""

ExecutionStatus = Literal["queued", "running", "waiting", "done", "failed", "skipped"]


@dataclass(frozen=True)
class Options:
    """What a user may set on ``%%wfrun`` and ``durable``.

    Args:
        fresh: 0, 1 (``--fresh``) or 2 (``--fresh --fresh``).
        timeout_s: replaces the workflow's own budget; ``None`` keeps it and
            ``float("inf")`` removes it.
        store: the store's folder; ``None`` asks the environment, then uses
            ``.wfresume`` in the working folder.
        wait_s: seconds the cell stays while the run waits for a person;
            ``None`` picks for ever, or 0 in a headless run.
        board: ``auto``, ``widget``, ``text`` or ``none``.
        stale: what becomes of finished executions whose code has changed since.
        keep_going: an execution that fails for good is set aside, and all else goes on.
        dry_run: say what would be done, and run nothing.
    """

    fresh: int = 0
    timeout_s: float | None = None
    store: str | None = None
    wait_s: float | None = None
    board: Literal["auto", "widget", "text", "none"] = "auto"
    stale: Literal["auto", "rerun", "keep"] = "auto"
    keep_going: bool = False
    dry_run: bool = False


@dataclass(frozen=True)
class Owner:
    """A process on a machine, told apart from a later one with the same pid.

    Args:
        pid: process id.
        started: the process's start time in clock ticks since boot, or 0
            where the system does not tell.
        boot: the machine's boot id, or its host name where there is none.
        host: host name, for people.
    """

    pid: int
    started: int
    boot: str
    host: str


@dataclass(frozen=True)
class Lease:
    """The right of one owner to write one run and the runs below it.

    Args:
        run_id: the top-level run.
        token: grows by one with each new holder; an older token cannot write.
        owner: who holds it.
        since: seconds since the epoch when it was taken.
        beat: seconds since the epoch of the last sign of life.
    """

    run_id: str
    token: int
    owner: Owner
    since: float
    beat: float


@dataclass(frozen=True)
class Tokens:
    """What calls of language models reported.

    Args:
        prompt: tokens read.
        completion: tokens written.
        total: as reported, which may be more than both together; else their sum.
    """

    prompt: int = 0
    completion: int = 0
    total: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.prompt + other.prompt, self.completion + other.completion, self.total + other.total
        )

    def __bool__(self) -> bool:
        return self.total > 0


@dataclass(frozen=True)
class Saved:
    """Executions of which something is said together.

    Args:
        executions: how many.
        time_s: seconds that they took.
        tokens: that they were reported.
    """

    executions: int = 0
    time_s: float = 0.0
    tokens: Tokens = Tokens()

    def __add__(self, other: Saved) -> Saved:
        return Saved(
            self.executions + other.executions, self.time_s + other.time_s, self.tokens + other.tokens
        )


@dataclass(frozen=True)
class StepCost:
    """What one step of a run has cost.

    Args:
        step: the step.
        executions: work items that were executed.
        attempts: how often its code ran to an end, good or bad.
        failures: how many of those failed.
        time_s: seconds that they took, one after the other.
        tokens: of calls that they made.
        saved_by_resume: what later lives did not execute again; each is counted once.
        saved_by_reuse: what was answered from other runs.
        left_out: work items that a person left out; the run has gone on without them.
    """

    step: str
    executions: int = 0
    attempts: int = 0
    failures: int = 0
    time_s: float = 0.0
    tokens: Tokens = Tokens()
    saved_by_resume: Saved = Saved()
    saved_by_reuse: Saved = Saved()
    left_out: int = 0


@dataclass(frozen=True)
class Cost:
    """What a run has cost over all its lives, and what it was saved.

    What was under way when a process was killed is on no record, and not in here.

    Args:
        lives: how many it has had.
        alive_s: seconds that it was driven; waiting for a person is not counted.
        attempts: how often a step's code ran to an end, good or bad, or was cut off.
        failures: how many of those failed.
        time_s: seconds that those took, one after the other; a step that runs workflows counts with them.
        tokens: of all calls of language models, in runs that steps ran, too.
        cut_off: what of it was lost to a stop, or to the run's end.
        saved_by_resume: what later lives did not execute again; each is counted once.
        saved_by_reuse: what was answered from other runs.
        steps: the same by step, where it was asked for.
        left_out: work items that a person left out; the run has gone on without them.
    """

    lives: int = 0
    alive_s: float = 0.0
    attempts: int = 0
    failures: int = 0
    time_s: float = 0.0
    tokens: Tokens = Tokens()
    cut_off: Saved = Saved()
    saved_by_resume: Saved = Saved()
    saved_by_reuse: Saved = Saved()
    steps: tuple[StepCost, ...] = ()
    left_out: int = 0


@dataclass(frozen=True)
class StepView:
    """One step's line on the board.

    Args:
        name: the step.
        done: executions finished in this life.
        restored: executions finished in earlier lives or in other runs, not counted in ``done``.
        running: executions under way.
        queued: events waiting for a worker of the step.
        failed: executions that failed for good.
        retrying: executions waiting for, or in, a further attempt.
        total: work items known so far, ``done + restored + running + queued + failed + skipped``
            at the least.
        typical_s: median duration of a finished execution in seconds, or None.
        note: a few words, such as ``waits for 32 of 100`` or ``asked, waits``.
        reused: how many of ``restored`` were answered from other runs.
        skipped: executions that a person left out; the run has gone on without them.
    """

    name: str
    done: int = 0
    restored: int = 0
    running: int = 0
    queued: int = 0
    failed: int = 0
    retrying: int = 0
    total: int = 0
    typical_s: float | None = None
    note: str = ""
    reused: int = 0
    skipped: int = 0


@dataclass(frozen=True)
class ErrorView:
    """A failure, the user's part first.

    Args:
        step: the step's name.
        index: N of ``STEP[N]``.
        summary: ``ValueError: bad document``; the type alone where it says nothing.
        where: the user's own line, such as ``Cell In[3], line 7: raise ValueError(...)``.
        input: the input event, shortened for reading.
        traceback: the user's own traceback lines, or empty.
        unclear: side effects that it began and whose outcome nobody knows, such as ``charge[81]``.
    """

    step: str
    index: int
    summary: str
    where: str = ""
    input: str = ""
    traceback: str = ""
    unclear: tuple[str, ...] = ()


@dataclass(frozen=True)
class FailureView:
    """Executions of a step that failed for good with the same exception type on the same line.

    Args:
        errors: the first of them, one of them with its traceback; none for a sum of further errors.
        count: how many executions there are.
        kind: the exception's type, where each has a text of its own; else empty.
    """

    errors: tuple[ErrorView, ...]
    count: int
    kind: str = ""


@dataclass(frozen=True)
class FieldView:
    """One thing that an answer says.

    Args:
        name: of the field.
        kind: ``text``, ``int``, ``float``, ``bool``, ``choice``, ``json``, or ``any``: what is typed is text.
        choices: what may be said, where that is fixed.
        required: it has no default.
        alias: another name of it; else empty.
        none: it may be None.
        exact: numbers in it are taken as they are written, not as the nearest float.
    """

    name: str
    kind: str = "text"
    choices: tuple[str, ...] = ()
    required: bool = True
    alias: str = ""
    none: bool = False
    exact: bool = False


@dataclass(frozen=True)
class InputField:
    """One field of a recorded input, as a form shows it.

    Args:
        field: its name, kind and choices.
        value: what stands in it: text, a number, yes or no, the words of a choice, JSON text, or None.
        optional: it may be None.
        fixed: the value in short, where no form can carry it and it stays as recorded; else empty.
    """

    field: FieldView
    value: Any = None
    optional: bool = False
    fixed: str = ""


@dataclass(frozen=True)
class QuestionView:
    """A question that waits for a person.

    Args:
        index: K of ``RUN[K]``, counted from 0.
        text: what is asked.
        step: the step that asks, or empty where nothing links them.
        asked_at: seconds since the epoch.
        key: names the question for its answer.
        fields: what an answer says.
        run_id: the run that asks, where it is one that a step runs; else empty.
        decided: names that the waiter has given values for; an answer need not say them.
        answer: class of the event that answers it, as ``module:qualname``.
    """

    index: int
    text: str
    step: str = ""
    asked_at: float = 0.0
    key: str = ""
    fields: tuple[FieldView, ...] = ()
    run_id: str = ""
    decided: tuple[str, ...] = ()
    answer: str = ""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class RunView:
    """All that a board shows of one run at one moment.

    Args:
        run_id: full id; boards show its first characters.
        name: NAME.
        workflow: the workflow's class name.
        status: the contract's word.
        steps: in the order of the graph.
        elapsed_s: seconds spent alive over all lives.
        left_s: estimated seconds left, or None.
        saved_executions: executions that resume and reuse did not repeat.
        saved_s: seconds those took when they ran.
        headline: how this life began (``resumed at 60 of 100 · the kernel died at 14:02``).
        sentence: how it ended and how to go on; empty while it runs.
        notes: warnings to keep in sight, each one sentence.
        error: the current failure, or None.
        questions: what it waits for.
        stopping_s: seconds left of the time given to executions to finish
            after a Stop, or None.
        can_stop: whether a Stop button works while the cell runs.
        body_reads: the cell's own code reads the run's stream, and may answer by itself.
        children: views of the runs that steps run themselves, shortened.
        failures: executions that were set aside, by error.
        reused_executions: how many of ``saved_executions`` were answered from other runs.
        store: the store's folder, where a command has to name it; else empty.
        answered: what is said in the sentence's place once all questions are answered, where the cell
            has ended; else empty.
    """

    run_id: str
    name: str
    workflow: str
    status: Status
    steps: tuple[StepView, ...] = ()
    elapsed_s: float = 0.0
    left_s: float | None = None
    saved_executions: int = 0
    saved_s: float = 0.0
    headline: str = ""
    sentence: str = ""
    notes: tuple[str, ...] = ()
    error: ErrorView | None = None
    questions: tuple[QuestionView, ...] = ()
    stopping_s: float | None = None
    can_stop: bool = False
    body_reads: bool = False
    children: tuple[RunView, ...] = ()
    failures: tuple[FailureView, ...] = ()
    reused_executions: int = 0
    store: str = ""
    answered: str = ""


@dataclass(frozen=True)
class RunHeader:
    """What the store keeps of a run beside its journal, small enough to list.

    Args:
        run_id: our id, hexadecimal.
        name: NAME.
        workflow: class name.
        call: digest that tells calls apart (see the contract).
        created: seconds since the epoch.
        engine_run_id: the id the engine knows it by; seeds retry jitter.
        engine: version of ``llama-index-workflows`` that wrote it.
        parent: run id of the run whose step runs it, or empty.
        parent_execution: ``STEP[N]#attempt`` in the parent.
        status: last written word; a ``running`` run without a living lease
            reads as ``paused``.
        updated: seconds since the epoch of the last write.
        lives: how many times it was started.
        elapsed_s: seconds alive over all lives.
        saved_executions: executions that resume and reuse did not repeat, over all lives.
        saved_s: seconds those took.
        sentence: how it ended.
        notes: marks to keep in sight (boundaries that cannot be resumed past,
            keys written by unfinished executions).
        steps: the last written lines of the board.
        error: the last failure.
        questions: what it waits for.
        failures: executions that were set aside, by error.
        notebook: where the cell is, as far as known.
        cell: the source of the cell.
        extra: room for later versions; unknown keys are kept.
    """

    run_id: str
    name: str
    workflow: str
    call: str
    created: float
    engine_run_id: str
    engine: str = ""
    parent: str = ""
    parent_execution: str = ""
    status: Status = "new"
    updated: float = 0.0
    lives: int = 0
    elapsed_s: float = 0.0
    saved_executions: int = 0
    saved_s: float = 0.0
    sentence: str = ""
    notes: tuple[str, ...] = ()
    steps: tuple[StepView, ...] = ()
    error: ErrorView | None = None
    questions: tuple[QuestionView, ...] = ()
    failures: tuple[FailureView, ...] = ()
    notebook: str = ""
    cell: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
