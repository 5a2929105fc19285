"""One cell's session: every run of a workflow inside it is durable."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar, Token
from dataclasses import replace
from types import TracebackType
from typing import Any

from ..effects import OPEN
from ..engine import (
    AttachedHandler,
    Context,
    Port,
    StartEvent,
    Workflow,
    basic_runtime_of,
    check_engine,
    offer_runs_to,
    recognize_waiters,
)
from ..errors import RunEnded, UsageError, WfresumeError
from ..fingerprint import digest_of
from ..journal import StoreBlobs
from ..records import Lease, Options, RunHeader, RunView
from ..runtime import CURRENT, Flight
from ..store import Store, is_alive, this_process
from . import words
from .begin import begin
from .called import below, blank_header, plan_of
from .checks import check_classes
from .codes import codes_of, moved_by
from .earlier import Earlier
from .fork import Fork
from .found import Decided, finder
from .gate import deciding
from .identity import ATTRIBUTES, call_digest
from .instances import remember
from .interrupt import Interrupts
from .life import STOP_GRACE_S, Life
from .movers import Movers
from .runs import headers_of, open_store, store_hint

BEAT_S = 5.0
"""How often a lease is renewed, in seconds."""

BEAT_ENDS_S = 1.0
"""How long the end of a session waits for a renewal under way, in seconds."""

_SESSION: ContextVar[Session | None] = ContextVar("wfresume_session", default=None)


class Session:
    """Drives the runs of one cell or one ``with durable(...)``.

    Args:
        name: NAME, or None for the workflow class's name.
        options: what the user set.
        on_view: given a function that makes the view of a run, whenever it changed.
        on_close_view: given the last view of a run.
        tell: prints one plain line before work starts.
        cell: the cell's source.
        notebook: where the cell is, as far as known.
        headless: nobody is there to answer.
        can_stop: a Stop button works while the cell runs.
        fork: the first run leaves another one here.
    """

    def __init__(
        self,
        name: str | None,
        options: Options,
        *,
        on_view: Callable[[Callable[[], RunView]], None],
        on_close_view: Callable[[RunView], None],
        tell: Callable[[str], None],
        cell: str = "",
        notebook: str = "",
        headless: bool = False,
        can_stop: bool = False,
        fork: Fork | None = None,
    ) -> None:
        self.fork = fork
        self.name = name
        self.options = options
        self.cell = cell
        self.notebook = notebook
        self.can_stop = can_stop
        self.tell = tell
        self.wait_s = options.wait_s if options.wait_s is not None else (0.0 if headless else None)
        if self.wait_s == float("inf"):
            self.wait_s = None
        self.stopped = False
        self.movers = Movers()
        self.store: Store
        self.hint = ""
        self._on_view = on_view
        self._on_close_view = on_close_view
        self._closed = True
        self._lives: list[Life] = []
        self._ended: list[Life] = []
        self._ports: list[Port] = []
        self._earlier = Earlier()
        self._listed: dict[str, list[RunHeader]] = {}
        self.previous_beat: float | None = None
        self._leases: dict[str, Lease] = {}
        self._token: Token[Session | None] | None = None
        self._exits = contextlib.ExitStack()
        self._beating = threading.Event()
        self._body: asyncio.Task[Any] | None = None
        self._interrupts = Interrupts(
            lambda: bool(self._lives), self.request_stop, STOP_GRACE_S, tell, lambda: self._body
        )

    def __enter__(self) -> Session:
        if _SESSION.get() is not None and not _SESSION.get()._closed:  # type: ignore[union-attr]  # just checked
            raise UsageError(
                "a durable cell runs already: %%wfrun and durable(...) cannot stand inside another"
            )
        check_engine()
        self.store = open_store(self.options.store)
        self.hint = store_hint(self.store.path)
        self._exits.callback(self.store.close)
        self._exits.enter_context(OPEN.counted())
        offer_runs_to(_offer)
        recognize_waiters()
        self._exits.enter_context(self._interrupts.installed())
        self._token = _SESSION.set(self)
        self._closed = False
        with contextlib.suppress(RuntimeError):
            self._body = asyncio.current_task()
        self._beats = threading.Thread(target=self._beat, daemon=True, name="wfresume-lease")
        self._beats.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Tasks that the body started inherit the variable for ever, so the
        # session itself has to know that it is over.
        self._closed = True
        if self._token is not None:
            with contextlib.suppress(ValueError):
                _SESSION.reset(self._token)
        for run_id in list(self._leases):
            if not any(self._root(life).header.run_id == run_id for life in self._lives):
                self._release(run_id)
        self._shut()

    def _shut(self) -> None:
        """Close the store, once no run is left that goes on."""
        if self._closed and not self._lives:
            self._beating.set()
            # Its connection goes first, so that closing ours tidies the store's write-ahead file away.
            self._beats.join(BEAT_ENDS_S)
            self._exits.close()

    def _beat(self) -> None:
        while not self._beating.wait(BEAT_S):
            for lease in list(self._leases.values()):
                with contextlib.suppress(WfresumeError):
                    # A lost lease stops the run at its next write, which says so.
                    self.store.renew(lease, now=time.time())

    def owns(self, value: object) -> bool:
        """Whether a value is the handler of one of this session's runs."""
        return isinstance(value, AttachedHandler) and any(p is value._port for p in self._ports)

    @property
    def ran(self) -> bool:
        """Whether the body has run a workflow."""
        return bool(self._ports)

    def awaited(self, handler: object) -> bool:
        """Whether the body has awaited a handler."""
        return isinstance(handler, AttachedHandler) and bool(getattr(handler._port, "was_awaited", False))

    async def take(self, handler: Any) -> object:
        """Await a handler and give its result."""
        result: object = await handler
        return result

    async def settle(self, *, whole: bool = False) -> None:
        """Await the runs that the body left running.

        Args:
            whole: a cell: also an ending without a result that its code has swallowed ends it.

        Raises:
            RunEnded: one of them ended without a result.
            Exception: the step's own, for one that failed.
        """
        self.movers.body_is_over = True
        left = [life for life in self._ended if not life.drive.was_awaited or (whole and life.error is None)]
        # A task of the body's that is new comes to its run; one that has a result may begin another.
        await _a_moment()
        while self._lives:
            under_way = list(self._lives)
            left += under_way
            for life in under_way:
                life.drive.awaited()
            for life in under_way:
                await life.closed.wait()
            await _a_moment()
        # What a nested run ended with is the affair of the step that runs it.
        for life in [one for one in left if one.parent is None]:
            if life.error is not None:
                raise life.error
            if life.status != "done" and not life.abandoned:
                raise RunEnded(life.header.run_id, life.status, life.sentence)

    def body_failed(self, error: BaseException) -> None:
        """The body ended with an exception: what nobody will look after any more is stopped.

        A run that failed leaves its siblings be. With an exception of the body's own all runs
        pause, so that it can be shown now and not when the last of them has ended.

        Args:
            error: the exception.
        """
        if self.sentence_for(error) is None:
            self.request_stop()
        for life in self._lives:
            if life.drive.consumed and life.status in ("waiting", "stuck"):
                life.request_stop()

    def request_stop(self) -> None:
        """Stop all runs: first with time for what is under way, a second time at once."""
        self.stopped = True
        for life in list(self._lives):
            life.request_stop()

    def sentence_for(self, error: BaseException) -> str | None:
        """The sentence to show below an exception that ended the body, or None."""
        if isinstance(error, RunEnded):
            return error.sentence
        if isinstance(error, WfresumeError):
            return str(error)
        for life in reversed(self._ended):
            if life.error is error:
                return life.sentence
        if self.stopped and isinstance(error, (asyncio.CancelledError, KeyboardInterrupt)):
            return next((life.sentence for life in reversed(self._ended) if life.sentence), "stopped")
        return None

    def show(self, life: Life) -> None:
        """A run changed."""
        if not life.concluded:
            self._on_view(life.view)

    def left(self, life: Life) -> None:
        """A life has ended."""
        if life in self._lives:
            self._lives.remove(life)
        self._ended.append(life)
        if life.parent is None:
            self._on_close_view(life.view())
            self._release(life.header.run_id)
        if self.stopped and not self._lives:
            self._free_body()
        self._shut()

    def _free_body(self) -> None:
        """After a stop the body ends too, even where it does not await a run."""
        body, loop = self._body, None
        if body is None or body.done():
            return
        loop = body.get_loop()

        def cancel() -> None:
            if not self._closed and not body.done():
                body.cancel()

        loop.call_soon_threadsafe(lambda: loop.call_later(1.0, cancel))

    def _release(self, run_id: str) -> None:
        lease = self._leases.pop(run_id, None)
        if lease is not None:
            self.store.release(lease)

    @staticmethod
    def _root(life: Life) -> Life:
        while life.parent is not None:
            life = life.parent
        return life

    def take_run(
        self, workflow: Workflow, ctx: Context[Any], start_event: StartEvent | None, run_id: str | None
    ) -> Port | None:
        """Take a run that the engine is about to start.

        Raises:
            RunEnded: it cannot be driven; the sentence says why.
        """
        if self._closed:
            self.tell(
                f"{type(workflow).__name__} runs without a record: a task began it after its cell had ended; "
                "await that task in the cell"
            )
            return None
        if self.stopped:
            raise RunEnded("", "paused", f"the cell was stopped: {words.GO_ON}")
        try:
            port = self._take(workflow, ctx, start_event, run_id)
        except WfresumeError as error:
            raise RunEnded("", "failed", str(error)) from error
        if port is not None:
            self._ports.append(port)
        return port

    def _take(
        self, workflow: Workflow, ctx: Context[Any], start_event: StartEvent | None, engine_run_id: str | None
    ) -> Port | None:
        basic_runtime_of(workflow)
        check_classes(workflow)
        flight = CURRENT.get()
        parent = None if flight is None else self._driving(flight)
        if flight is not None and parent is None:
            # Started by an execution that is no longer part of a run.
            return None
        call = call_digest(workflow, ctx, start_event, ATTRIBUTES.before(workflow))
        blank = blank_header(workflow, call, self.name, self.options.fresh)
        header = replace(blank, notebook=self.notebook, cell=self.cell)
        if parent is not None and flight is not None:
            header = below(header, parent, flight)
        else:
            header = replace(header, call=digest_of(call, str(self._earlier.order(call))))
        header = replace(header, engine_run_id=engine_run_id or header.run_id)
        alone = parent is not None or self.options.dry_run
        with contextlib.nullcontext() if alone else deciding(self.store, header.call):
            return self._decide(workflow, ctx, start_event, header, call, parent)

    def _decide(
        self,
        workflow: Workflow,
        ctx: Context[Any],
        start_event: StartEvent | None,
        header: RunHeader,
        call: str,
        parent: Life | None,
    ) -> Port:
        known = self._known(header, parent)
        codes = codes_of(workflow).without(moved_by(known))
        fork, self.fork = (self.fork, None) if parent is None else (None, self.fork)
        if fork is not None:
            header = replace(header, extra={"fork": fork.written(StoreBlobs(self.store), finder(workflow))})
            plan = fork.plan(known)
        else:
            above = None if parent is None else self._root(parent).header
            plan = plan_of(self.store, workflow, header, codes, known, above, self.options)
        if plan.action != "new" and plan.run is not None:
            header = replace(plan.run, parent_execution=header.parent_execution)
        if self.options.dry_run:
            lease = Lease(header.run_id, 0, this_process(), 0.0, 0.0)
        else:
            lease = self._lease(header, parent)
        try:
            root = header.run_id if parent is None else self._root(parent).header.run_id
            self._earlier.begins(header.run_id, root, call)
            reuse = self._earlier.reuse(self.store, workflow, known, codes, plan, header, root, fork)
            remember(workflow)
            decided = Decided(workflow, ctx, start_event, codes, header, plan, lease, parent, reuse)
            return self._open(decided)
        except BaseException:
            if parent is None and not any(life.header.run_id == header.run_id for life in self._lives):
                self._release(header.run_id)
            raise

    def _known(self, header: RunHeader, parent: Life | None) -> list[RunHeader]:
        """The runs of a name; below a run, those that stood there before it, and the one that goes on.

        A fan-out that runs a workflow for each item would otherwise list all of them for each.
        """
        if parent is None or header.name not in self._listed:
            runs = headers_of(self.store.runs(), self.store)
            self._listed[header.name] = [h for h in runs if h.name == header.name]
        listed = self._listed[header.name]
        if parent is None:
            return list(listed)
        above, wanted = parent, [header.run_id]
        while True:
            wanted.append(above.header.run_id)
            if above.parent is None:
                break
            above = above.parent
        rows = [(run_id, data) for run_id in wanted if (data := self.store.get_run(run_id)) is not None]
        own = [h for h in headers_of(rows, self.store) if h.run_id == header.run_id]
        return [*own, *(h for h in listed if h.run_id != header.run_id)]

    def _driving(self, flight: Flight) -> Life | None:
        return next(
            (one for one in self._lives if one.drive.flights.get(flight.invocation_id) is flight), None
        )

    def _lease(self, header: RunHeader, parent: Life | None) -> Lease:
        if parent is not None:
            return self._leases[self._root(parent).header.run_id]
        if header.run_id in self._leases:
            raise UsageError(f"run {words.short(header.run_id)} is driven by this cell already")
        held = self.store.lease_of(header.run_id)
        self.previous_beat = None if held is None else held.beat
        lease = self.store.acquire(header.run_id, this_process(), now=time.time(), alive=is_alive)
        self._leases[header.run_id] = lease
        return lease

    def _open(self, call: Decided) -> Port:
        port, life = begin(self, call)
        header, parent = call.header, call.parent
        if life is not None:
            self._lives.append(life)
            if parent is not None:
                parent.children.append(life)
        elif parent is None:
            self._release(header.run_id)
        return port


async def _a_moment() -> None:
    """Let the tasks that are ready go on, and those that they make."""
    for _ in range(3):
        await asyncio.sleep(0)


def _offer(
    workflow: Workflow, ctx: Context[Any], start_event: StartEvent | None, run_id: str | None
) -> Port | None:
    session = _SESSION.get()
    return None if session is None else session.take_run(workflow, ctx, start_event, run_id)
