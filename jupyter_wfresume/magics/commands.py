"""The magics themselves: each reads its line, calls once, and shows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NoReturn

from IPython.core.error import UsageError as ShellUsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, line_cell_magic, line_magic, magics_class
from IPython.display import display
from IPython.utils.text import DollarFormatter

from ..board import make_board, show_run_live
from ..durable import RunList, answerer, open_run, runs
from ..errors import DryRun, MissingClassError, UsageError
from ..explore import explorer
from ..records import Options, RunHeader
from ..session import Session, read_field
from ..show import Shown, look_at
from . import frontend, replaying
from .arguments import LIST_OPTIONS, RESUME_OPTIONS, RUN_OPTIONS, SHOW_OPTIONS, Arguments, parse
from .body import Body, Cell, execute, prepare
from .endings import show_next


@magics_class
class WfresumeMagics(Magics):
    """``%%wfrun``, ``%wfruns``, ``%wfshow``, ``%wfreplay`` and ``%wfresume``."""

    shell: InteractiveShell

    @cell_magic
    def wfrun(self, line: str, cell: str) -> NoReturn:
        """Run the cell's workflows durably: what has finished is not executed again.

        %%wfrun [NAME] [--fresh] [-k | --keep-going] [--timeout SECONDS|none] [--stale auto|rerun|keep]
                [--store DIR] [--wait SECONDS|forever] [--board auto|widget|text|none] [--dry-run]

        Put it on the first line of a cell that already works. Every ``Workflow.run(...)`` in that cell is
        recorded. After a kernel's death, an interrupt or an error, run the cell again: it goes on where
        it stopped.

        NAME       groups runs in the store; by default the workflow class's name
        --fresh    start over; older runs stay in the history. Left in a cell, it resumes its own unfinished
                   run rather than throw paid work away; --fresh --fresh insists
        --keep-going
                   or -k: an execution that fails for good is set aside, and all else goes on; the run then
                   ends as failed, and running the cell again executes only those
        --timeout  replaces the workflow's own total time budget, in seconds, for this run; none removes it
        --stale    finished executions whose code has changed since: run them again, or keep them; auto keeps
                   them when an unfinished run is resumed, and runs them again when the run had finished
        --store    the store's folder; by default JUPYTER_WFRESUME_STORE, or .wfresume in the working folder
        --wait     how many seconds the cell stays while a run waits for a person; by default for ever, and
                   not at all in a headless run
        --board    how progress is shown
        --dry-run  say what would be answered, what would run and why, and run nothing

        Example:

            %%wfrun enrich
            result = await EnrichBatch(timeout=None).run(item_ids=ids)
        """
        if not self.shell.autoawait:
            raise ShellUsageError("%%wfrun needs await in cells: run %autoawait True, then this cell again")
        raise ShellUsageError(
            "%%wfrun works on the first line of a cell only: no other magic, and no code, can run it"
        )

    @line_magic
    def wfruns(self, line: str) -> RunList:
        """List the recorded runs, newest first: id, name, status, progress, cost, age and size.

        %wfruns [NAME] [--store DIR]

        step time  seconds of its executions, added up over workers and lives: no duration
        attempts   how often steps ran, where some have failed or were cut off
        lives      how often the run was started
        tokens     what calls of llama-index-core's models reported
        saved      executions that were not executed again, by resume and by reuse, and their seconds

        A column that has nothing to say of any run is left out.

        The call's value is the list of runs:

            runs = %wfruns enrich
            runs[0].status
            runs[0].cost.tokens.total
        """
        try:
            arguments = parse("%wfruns", line, LIST_OPTIONS, 1, "NAME")
            name = arguments.words[0] if arguments.words else None
            return runs(name, arguments.given.get("store"))
        except UsageError as error:
            raise ShellUsageError(str(error)) from None

    @line_magic
    def wfshow(self, line: str) -> Shown:
        """Show a recorded run, some of its executions, one of them, or how it differs from another run.

        %wfshow RUN [STEP[N]] [--diff OTHER] [--store DIR]

        RUN        a name, for its latest run; or a run id or its unique prefix
        STEP[N]    one execution: its input, output, error and times. work[3,17,40:45], work[failed],
                   work[skipped] and work give a table
        --diff     which executions differ from those of another run, and how
        --store    the store's folder; by default JUPYTER_WFRESUME_STORE, or .wfresume in the working folder

        The call's value has what is shown in ``.value``:

            shown = %wfshow enrich work[17]
            shown.value.input
        """
        try:
            arguments = parse("%wfshow", line, SHOW_OPTIONS, 2, "RUN and STEP[N]")
            if not arguments.words:
                raise UsageError(
                    "%wfshow needs a RUN: a name, or the start of a run's id; %wfruns lists them"
                )
            store = arguments.given.get("store")
            shown = look_at(*arguments.words, other=arguments.given.get("diff"), store=store)
            front = frontend.look(self.shell)
            if shown.page is not None and front.widgets and not front.headless:
                shown.live = partial(show_run_live, shown.page, explorer(store)(shown.value.id), display)
            return shown
        except (UsageError, MissingClassError) as error:
            raise ShellUsageError(str(error)) from None

    @line_cell_magic
    def wfreplay(self, line: str, cell: str | None = None) -> NoReturn:
        """Execute a recorded execution again, alone, with today's code; nothing is written.

        %wfreplay RUN STEP[N] [--continue] [--store DIR] [--board auto|widget|text|none]

        %%wfreplay RUN STEP[N] [--continue]
        ev.text = "another text"

        It shows the recorded output beside the new one, what differs, and how long both took.

        RUN         a name, for its latest run; or a run id or its unique prefix
        STEP[N]     one execution; work[3,17,40:45], work[failed] and work replay several, shown as a table
        --continue  go on from there in a new run, which reuses all that the change does not reach; the
                    recorded run stays as it is
        --store     the store's folder; by default JUPYTER_WFRESUME_STORE, or .wfresume in the working folder
        --board     how the progress of --continue is shown

        The cell's body edits the input: ``ev`` is a copy of the recorded event, ``events`` the list of a
        step that takes several. Change it, or assign another. Both names are gone afterwards.

        The call's value is the replay, a list of several, or with --continue the new run's result:

            done = %wfreplay enrich work[17]
            done.differences
        """
        if not self.shell.autoawait:
            raise ShellUsageError("%wfreplay needs await in cells: run %autoawait True, then this cell again")
        raise ShellUsageError(
            "%wfreplay stands alone on its line, %%wfreplay on the first line of its cell, below the cell "
            "with %load_ext: no other magic, and no code, can run it"
        )

    @line_magic
    def wfresume(self, line: str) -> NoReturn:
        """Run a recorded run's cell again, so that the run goes on.

        %wfresume RUN [--timeout SECONDS|none] [--store DIR] [--wait SECONDS|forever]
                  [--board auto|widget|text|none]

        RUN is a name, for its latest run, or a run id or its unique prefix. The options replace those that
        the cell was run with. The classes that the cell uses must be defined in this kernel.
        """
        raise ShellUsageError("%wfresume stands alone on its line, in a cell without another magic on top")

    def refuse(self, wrapper: str, ours: str) -> NoReturn:
        """End a cell where another cell magic stands above one of ours."""
        raise ShellUsageError(
            f"%%{wrapper} cannot wrap %%{ours}: put %%{ours} on the first line of the cell, "
            f"without %%{wrapper}"
        )

    def show_in_passing(self, value: Any) -> None:
        """Show the value of a line magic that is not the last of its cell, where IPython would not."""
        if self.shell.ast_node_interactivity != "all":
            _show(value)

    async def run_cell_awaited(self, line: str, body: str) -> None:
        """Run ``%%wfrun``; the input transformer sends the cell here.

        Raises:
            BaseException: whatever ends the body; it is shown in our way when it reaches the shell.
        """
        try:
            arguments = parse("%%wfrun", self._expanded(line), RUN_OPTIONS, 1, "NAME")
            name = arguments.words[0] if arguments.words else None
            cell = Cell(self._source("%%wfrun", line, body), body)
            await self._run(name, arguments.options(), cell)
        except UsageError as error:
            raise ShellUsageError(str(error)) from None

    async def resume_awaited(self, line: str) -> None:
        """Run ``%wfresume``; the input transformer sends the line here.

        Raises:
            BaseException: as for ``%%wfrun``.
        """
        try:
            arguments = parse("%wfresume", self._expanded(line), RESUME_OPTIONS, 1, "RUN")
            if not arguments.words:
                raise UsageError(
                    "%wfresume needs a RUN: a name, or the start of a run's id; %wfruns lists them"
                )
            header = open_run(arguments.words[0], arguments.given.get("store")).header
            if header.cell.lstrip("%").startswith("wfreplay"):
                await self._fork_again(header, arguments.given.get("store"))
            else:
                name, options, cell = self._recorded(header, arguments)
                await self._run(name, options, cell, again=f"%wfresume {line.strip()}")
        except UsageError as error:
            raise ShellUsageError(str(error)) from None

    async def replay_awaited(self, line: str) -> Any:
        """Run ``%wfreplay``; the input transformer sends the line here.

        Raises:
            BaseException: what a new run that goes on from there raises.
        """
        return await self._replay("%wfreplay", line, None)

    async def replay_cell_awaited(self, line: str, body: str) -> Any:
        """Run ``%%wfreplay``; the input transformer sends the cell here.

        Raises:
            BaseException: what the body raises, or a new run that goes on from there.
        """
        return await self._replay("%%wfreplay", line, body)

    async def _replay(self, magic: str, line: str, body: str | None) -> Any:
        try:
            asked = replaying.read(magic, self._expanded(line))
            cell = None if body is None else Cell(self._source(magic, line, body), body)
            source = f"{magic} {line}" if cell is None else cell.source
            return await replaying.Replaying(self.shell, asked, cell, source).run()
        except (UsageError, MissingClassError) as error:
            raise ShellUsageError(str(error)) from None

    async def _run(self, name: str | None, options: Options, cell: Cell, again: str = "") -> None:
        """Run a cell's body.

        Args:
            name: NAME.
            options: what was set.
            cell: the cell.
            again: what was typed, where the cell stands elsewhere and other cells may be needed first.
        """
        front = frontend.look(self.shell)
        body = self._prepared(cell)
        board = make_board(
            options.board,
            display=display if front.kernel else None,
            has_front_end=front.widgets and not front.headless,
            on_stop=(lambda: session.request_stop()) if front.can_stop else None,
            on_answer=answerer(options.store),
            on_check=read_field,
            on_explore=explorer(options.store),
        )
        session = Session(
            name,
            options,
            on_view=board.update,
            on_close_view=board.close,
            tell=print,
            cell=cell.source,
            notebook=frontend.notebook(self.shell),
            # Where no click is handled beside a cell, nobody can answer before it has ended.
            headless=front.headless or (front.kernel and not front.can_stop),
            can_stop=front.can_stop,
        )
        try:
            with session:
                await self._execute(session, body)
        except DryRun:
            return
        except BaseException as error:
            said = [session.sentence_for(error), self._undefined(error, again) if again else None]
            show_next(self.shell, error, "; ".join(one for one in said if one) or None)
            raise
        if not session.ran:
            print("the cell ran no workflow: nothing was recorded")

    def _undefined(self, error: BaseException, again: str) -> str | None:
        """What is to be done where a cell was run again in a kernel that does not know a name."""
        name = error.name if isinstance(error, NameError) else None
        if not name or name in self.shell.user_ns:
            return None
        return f"{name} is not defined in this kernel: run the cells that define it first, then {again}"

    async def _fork_again(self, header: RunHeader, store: str | None) -> None:
        """Leave the same run at the same place again, which goes on with a fork that is unfinished."""
        if header.status == "done":
            print(f"{header.name}: recorded result of run {header.run_id[:4]}; no step is executed")
            _show(open_run(header.run_id, store).result)
            return
        first, _, body = header.cell.partition("\n")
        magic, _, line = first.partition(" ")
        asked = replaying.read(magic, self._expanded(line), header.extra["fork"]["run"], store)
        cell = Cell(header.cell, body) if magic.startswith("%%") else None
        result = await replaying.Replaying(self.shell, asked, cell, header.cell).run()
        if result is not None:
            _show(result)

    def _recorded(self, header: RunHeader, arguments: Arguments) -> tuple[str | None, Options, Cell]:
        """Return name, options and cell that run a recorded run's cell again."""
        first, _, body = header.cell.lstrip().partition("\n")
        if first.split(None, 1)[:1] != ["%%wfrun"]:
            raise UsageError(f"code started run {header.run_id[:8]}, not %%wfrun: run that code again")
        recorded = parse("%%wfrun", self._expanded(first.removeprefix("%%wfrun")), RUN_OPTIONS, 1, "NAME")
        # To resume is never to start over, and the store is the one that the run was found in.
        options = replace(recorded.options(), fresh=0, store=None)
        name = recorded.words[0] if recorded.words else None
        return name, replace(options, **arguments.given), Cell(header.cell, body)

    def _prepared(self, cell: Cell) -> Body:
        try:
            body = prepare(self.shell, cell)
        except BaseException as error:
            show_next(self.shell, error)
            raise
        if not body.statements:
            raise UsageError("the cell is empty: put the code that runs the workflow below its %%wfrun line")
        return body

    async def _execute(self, session: Session, body: Body) -> None:
        async def replace_handler(value: Any) -> Any:
            if session.owns(value) and not session.awaited(value):
                return await session.take(value)
            return value

        try:
            await execute(self.shell, body, replace_handler)
        except BaseException as error:
            session.body_failed(error)
            await _settle_quietly(session)
            raise
        await session.settle(whole=True)

    def _expanded(self, line: str) -> str:
        """Fill ``{name}`` and ``$name`` in, as IPython does for a magic's line."""
        try:
            return str(DollarFormatter().vformat(line, args=[], kwargs=self.shell.user_ns.copy()))
        except Exception:  # noqa: BLE001  # braces that are no expression are meant as they stand
            return line

    def _source(self, magic: str, line: str, body: str) -> str:
        """Return the whole cell as the user wrote it."""
        result = self.shell.displayhook.exec_result
        written = "" if result is None else str(result.info.raw_cell)
        if written.lstrip().startswith(magic):
            return written
        return f"{magic} {line}".rstrip() + f"\n{body}"


async def _settle_quietly(session: Session) -> None:
    """Let a stopped body's other runs end; what stopped the body is what the cell reports."""
    try:
        await session.settle()
    except BaseException:  # noqa: BLE001  # the body's own exception is raised next, and their boards show these
        return


def _show(value: Any) -> None:
    show: Any = display  # it has no types
    show(value)
