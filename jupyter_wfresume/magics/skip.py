"""``%wfskip``: a person leaves a failed execution out."""

from __future__ import annotations

from IPython.core.error import UsageError as ShellUsageError
from IPython.core.magic import Magics, line_magic, magics_class

from ..durable import open_run
from ..errors import UsageError, WfresumeError
from ..replay import choose
from ..session import Run
from ..session.words import listed
from .arguments import SKIP_OPTIONS, parse

_MAGIC = "%wfskip"


@magics_class
class SkipMagics(Magics):
    """``%wfskip``."""

    @line_magic
    def wfskip(self, line: str) -> None:
        """Leave a failed execution out, for this run; the decision is on disk when this returns.

        %wfskip RUN STEP[N] [--undo] [--store DIR]

        RUN        a name, for its latest run; or a run id or its unique prefix
        STEP[N]    one execution; work[3,17,40:45] or work[failed] for several
        --undo     take it back, as long as the run has not gone on
        --store    the store's folder; by default JUPYTER_WFRESUME_STORE, or .wfresume in the working folder

        A fan-in then gets that much fewer, because you said so, and the run's record says that. A new
        run with the same input executes it again.

        Example:

            %wfskip enrich work[37]
        """
        try:
            arguments = parse(_MAGIC, line, SKIP_OPTIONS, 2, "RUN and STEP[N]")
            run, places = _read(arguments.words, arguments.given.get("store"))
            print(_undone(run, places) if arguments.given.get("undo") else _left_out(run, places))
        except WfresumeError as error:
            raise ShellUsageError(str(error)) from None


def _read(words: tuple[str, ...], store: str | None) -> tuple[Run, list[tuple[str, int]]]:
    if not words:
        raise UsageError(
            f"{_MAGIC} needs RUN and STEP[N], as in {_MAGIC} enrich work[37]; %wfruns lists runs"
        )
    run = open_run(words[0], store)
    if len(words) == 1:
        failed = [f"{one.step}[{one.index}]" for one in run.executions if one.status == "failed"]
        raise UsageError(
            f"{_MAGIC} needs STEP[N] behind the run, as in work[37]; failed: {listed(failed, 8) or 'none'}"
        )
    return run, choose(run.records, words[1], run.left_out)


def _left_out(run: Run, places: list[tuple[str, int]]) -> str:
    step = places[0][0]
    run.skip(step, *(index for _, index in places))
    labels = [f"{step}[{index}]" for _, index in places]
    be = "is" if len(labels) == 1 else "are"
    return "; ".join([f"{listed(labels, 8)} {be} left out: {run.how_to_go_on}", *_what_follows(run, step)])


def _what_follows(run: Run, step: str) -> list[str]:
    """What is still in the way, or what the fan-in that waits will get."""
    rows = [one for one in run.executions if one.step == step]
    failed = sum(one.status == "failed" for one in rows)
    if failed:
        runs = "has failed and runs" if failed == 1 else "have failed and run"
        return [f"{failed:,} more of {step} {runs} again then"]
    known = next((one.total for one in run.header.steps if one.name == step), len(rows))
    joins = [one.name for one in run.header.steps if one.note.startswith("waits for ") and one.name != step]
    got = known - sum(one.status == "skipped" for one in rows)
    return [f"`{join}` then gets {got:,} of {known:,}" for join in joins[:1] if known > 1]


def _undone(run: Run, places: list[tuple[str, int]]) -> str:
    step = places[0][0]
    run.unskip(step, *(index for _, index in places))
    labels = [f"{step}[{index}]" for _, index in places]
    runs = "it runs" if len(labels) == 1 else "they run"
    return f"{listed(labels, 8)} taken back: {runs} again when the run goes on"
