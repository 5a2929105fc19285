"""Views that several tests draw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from jupyter_wfresume.records import ErrorView, QuestionView, RunView, StepView

RUNNING = RunView(
    run_id="7f3a99b0c1",
    name="enrich",
    workflow="EnrichBatch",
    status="running",
    steps=(
        StepView("split", restored=1, total=1, typical_s=0.1),
        StepView("work", done=8, restored=60, running=8, queued=24, retrying=1, total=100, typical_s=2.1),
        StepView("join", total=1, note="waits for 32 of 100"),
    ),
    elapsed_s=64,
    left_s=40,
    saved_executions=60,
    saved_s=250,
    headline="resumed at 60 of 100 · the kernel died at 14:02",
    can_stop=True,
)
ERROR = ErrorView(
    step="work",
    index=37,
    summary="ValueError: bad document",
    where="Cell In[3], line 7: raise ValueError('bad document')",
    input="ItemEvent(item_id='doc-0037')",
    traceback="Traceback (most recent call last):\n  Cell In[3], line 7, in work",
)
FAILED = replace(
    RUNNING,
    status="failed",
    steps=(StepView("work", done=36, failed=1, queued=63, total=100),),
    error=ERROR,
    left_s=None,
    sentence="failed at 36 of 100: fix `work` and run this cell again",
)
WAITING = replace(
    RUNNING,
    status="waiting",
    left_s=None,
    questions=(QuestionView(0, "Send it?", "approve"), QuestionView(1, "To whom?", "approve")),
)
STOPPING = replace(RUNNING, stopping_s=8.2)
DONE = replace(
    RUNNING,
    status="done",
    steps=(StepView("work", done=40, restored=60, total=100),),
    left_s=None,
    sentence="done: 100 of 100",
)
EMPTY = RunView("ab12", "empty", "", "new")
MILLION = replace(
    RUNNING,
    steps=(StepView("work", done=623_456, restored=60_000, running=64, queued=316_480, total=1_000_000),),
)
FORTY = replace(
    RUNNING,
    steps=tuple(StepView(f"step_{i:02d}", done=i, running=1, total=60, typical_s=i / 10) for i in range(40)),
)
HOSTILE = replace(
    RUNNING,
    name="<script>alert(1)</script>" + "long " * 200,
    workflow='"><img src=x onerror=alert(1)>',
    steps=(StepView("<b>step</b>\x1b[31m" * 30, done=1, total=3, note="<i>\x1b[2J\r\nred\u202e"),),
    error=ErrorView("<u>", 0, "<script>x</script>", "<a href='x'>", "<svg/onload=1>", "</pre><script>"),
    questions=(QuestionView(0, "<script>q</script>", "<s>"),),
    notes=("</div><script>n</script>",),
    headline="<h1>",
    children=(replace(EMPTY, run_id="c", name="<script>c</script>"),),
)
ALL = {
    "running": RUNNING,
    "failed": FAILED,
    "waiting": WAITING,
    "stopping": STOPPING,
    "done": DONE,
    "empty": EMPTY,
    "million": MILLION,
    "forty": FORTY,
    "hostile": HOSTILE,
}


class Clock:
    """Seconds that pass when a test says so; it is also the timer that calls back."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self._calls: list[tuple[float, Callable[[], None]]] = []

    def __call__(self) -> float:
        return self.now_s

    def here(self) -> bool:
        return True

    def after(self, delay_s: float, call: Callable[[], None]) -> Callable[[], None]:
        entry = (self.now_s + delay_s, call)
        self._calls.append(entry)
        return lambda: self._calls.remove(entry) if entry in self._calls else None

    def advance(self, seconds: float) -> None:
        """Lets time pass and makes the calls that fall due, in order."""
        end = self.now_s + seconds
        while due := sorted((entry for entry in self._calls if entry[0] <= end), key=lambda entry: entry[0]):
            self._calls.remove(due[0])
            self.now_s = max(self.now_s, due[0][0])
            due[0][1]()
        self.now_s = end


class Display:
    """Takes what IPython's ``display`` takes, and keeps each output's bundles."""

    def __init__(self) -> None:
        self.outputs: dict[str, list[dict[str, Any]]] = {}

    def __call__(self, bundle: dict[str, Any], *, raw: bool, display_id: str, update: bool = False) -> None:
        assert raw
        assert update == (display_id in self.outputs)
        self.outputs.setdefault(display_id, []).append(bundle)

    def last(self) -> list[dict[str, Any]]:
        """The bundles that a reader sees now, from top to bottom."""
        return [bundles[-1] for bundles in self.outputs.values()]
