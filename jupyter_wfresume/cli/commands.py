"""``jupyter wfresume``: the same store, without a notebook open."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ..durable import runs, store_folder
from ..errors import UsageError, WfresumeError
from ..session.runs import STORE_VARIABLE
from ..show import look_at

FAILED, MISUSED, INTERRUPTED = 1, 2, 130
"""Exit codes beside 0: no result; the command does not fit; ended from outside."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Args:
        arguments: what stands behind ``jupyter wfresume``; by default this process's.
    """
    asked = _parser().parse_args(arguments)
    try:
        return int(asked.do(asked))
    except UsageError as error:
        return _say(error, MISUSED)
    except WfresumeError as error:
        return _say(error, FAILED)
    except BrokenPipeError:
        sys.stdout = None  # the reader has gone, as `head` does; nothing is left to say to it
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="jupyter wfresume", description="List, show and continue recorded workflow runs."
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    lister = commands.add_parser("list", help="list recorded runs, newest first")
    lister.add_argument("name", nargs="?", metavar="NAME", help="only runs of this name")
    lister.set_defaults(do=_list)
    shower = commands.add_parser("show", help="show a run, or one execution of it, or what differs")
    shower.add_argument("run", metavar="RUN", help="a name, for its latest run; or the start of a run's id")
    shower.add_argument(
        "executions",
        nargs="?",
        metavar="STEP[N]",
        help="one execution, or several: work[3,40:45], work[failed]",
    )
    shower.add_argument("--diff", metavar="OTHER", help="a run to compare with")
    shower.set_defaults(do=_show)
    runner = commands.add_parser(
        "run",
        help="execute a notebook without a browser, in place",
        description="Execute a notebook in place, saving it as it goes. Run the same line again "
        "after a kill: its %%wfrun cells go on where they stopped.",
    )
    runner.add_argument("notebook", metavar="NOTEBOOK", type=Path, help="an .ipynb file")
    runner.add_argument("--kernel", metavar="NAME", help="the kernel to use; by default the notebook's own")
    runner.set_defaults(do=_run)
    for command in (lister, shower, runner):
        command.add_argument(
            "--store",
            metavar="DIR",
            help=f"the store's folder; by default {STORE_VARIABLE}, or .wfresume in the working folder"
            + (", which is the notebook's folder" if command is runner else ""),
        )
    return parser


def _list(asked: argparse.Namespace) -> int:
    print(runs(asked.name, asked.store))
    return 0


def _show(asked: argparse.Namespace) -> int:
    print(look_at(asked.run, asked.executions, other=asked.diff, store=asked.store))
    return 0


def _run(asked: argparse.Namespace) -> int:
    # Imported late: only this command needs nbclient, which is an optional part.
    try:
        from .headless import execute
    except ModuleNotFoundError as error:
        if error.name not in ("nbclient", "nbformat", "jupyter_client"):
            raise
        raise UsageError(f"running a notebook from here needs {error.name}: pip install nbclient") from None
    store = None if asked.store is None else str(store_folder(asked.store))
    sentence = execute(asked.notebook, store=store, kernel=asked.kernel)
    if sentence is None:
        return 0
    print(sentence, file=sys.stderr)
    return FAILED


def _say(error: WfresumeError, code: int) -> int:
    print(f"jupyter wfresume: {error}", file=sys.stderr)
    return code
