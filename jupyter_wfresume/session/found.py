"""What the store holds of a run that a call is about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..codec import Migrating, decode, encode
from ..engine import (
    Context,
    StartEvent,
    StateModel,
    Workflow,
    default_state,
    engine_version,
    event_classes,
    state_of,
)
from ..errors import CannotKeepError, JournalError, MigrationError, MissingClassError, WfresumeError
from ..journal import Final, Record, Restored, StoreBlobs, final, history, restore
from ..migrations import migrate
from ..plan import Plan
from ..records import Lease, RunHeader
from ..store import Store
from . import words
from .codes import Codes
from .fits import misfits
from .migrating import migrate_state, renamed, strayed, untaken_of
from .skips import pending
from .supply import Supply

if TYPE_CHECKING:
    from .life import Life
    from .reuse import Reuse


@dataclass(frozen=True)
class Decided:
    """A call, and what was decided for it.

    Args:
        workflow: the instance.
        ctx: the context passed or made for the call.
        start_event: the start event of the call.
        codes: the code of the workflow's steps.
        header: of a new run, or of the one found.
        plan: what the call does.
        lease: the right to write.
        parent: the life whose step runs this run, or None.
        reuse: answers executions of a new run from earlier ones, or None.
    """

    workflow: Workflow
    ctx: Context[Any]
    start_event: StartEvent | None
    codes: Codes
    header: RunHeader
    plan: Plan
    lease: Lease
    parent: Life | None
    reuse: Reuse | None


@dataclass
class Found:
    """What the store holds of a run that goes on."""

    records: list[Record]
    restored: Restored | None
    damage: str
    migrated: Record = field(default_factory=dict)


def finder(workflow: Workflow) -> Migrating:
    """Finds a class among the workflow's own events, which a re-run cell may have made anew."""
    classes = event_classes(workflow)

    def find(module: str, qualname: str) -> type | None:
        return classes.get((module, qualname))

    return Migrating(find, migrate.of_class)


class Past:
    """Reads a run back, as far as it can go on.

    Args:
        store: the store.
        call: the call and what was decided for it.

    Attributes:
        records: of a run whose end was read.
    """

    def __init__(self, store: Store, call: Decided) -> None:
        self.records: list[Record] = []
        self._store = store
        self._call = call
        self._header = call.header
        self.blobs = StoreBlobs(store)
        self.find = finder(call.workflow)
        self.model = self._own_model()

    def ended(self) -> Final | None:
        """How the run ended, where it did and its result was kept."""
        records = self.records = history(self._store, self._header.run_id).records
        return final(records, self.blobs, self.find, self.model) if records else None

    def _own_model(self) -> StateModel:
        """The state to begin with: a copy by our codec, so that both lives begin with the same."""
        given = state_of(self._call.ctx)
        if given is None:
            return default_state(self._call.workflow)
        try:
            copy = decode(encode(given, self.blobs, self.find), self.blobs, self.find)
        except CannotKeepError:
            return given
        assert isinstance(copy, StateModel)
        return copy

    def leaves_out(self, records: list[Record]) -> tuple[list[str], str]:
        """What a person has left out of a run that goes on, and how its line says so.

        Args:
            records: the run's.
        """
        skips = pending(self._store, self._header, records)
        return skips, f"; leaves out {words.listed(skips)}" if skips else ""

    def found(self) -> Found:
        """The run as its records leave it; what is damaged is cut off.

        Raises:
            JournalError: it does not fit the workflow as it is now.
        """
        header, store = self._header, self._store
        if self._call.plan.action == "new":
            return Found([], None, "")
        read = history(store, header.run_id)
        damage = ""
        written = int(header.extra.get("records", 0))
        if read.damage is None and len(read.records) < written:
            damage = (
                f"{written - len(read.records)} records at the end of run {words.short(header.run_id)} "
                "are missing: what they held runs again"
            )
        if read.damage is not None:
            lost = store.cut(header.run_id, len(read.records), lease=self._call.lease)
            from_there = f"{lost} record{'' if lost == 1 else 's'} from there on were dropped and run again"
            damage = f"{read.damage}; {from_there}"
        if not read.records:
            return Found([], None, damage)
        _check_engine(header, read.records[0])
        records, names = renamed(self._call.workflow, read.records)
        restored, ops = self.restored(records)
        migrated: Record = {"rn": names} if names else {}
        return Found(records, restored, damage, {**migrated, "st": ops} if ops else migrated)

    def restored(self, records: list[Record]) -> tuple[Restored, list[Any]]:
        """The run as its records leave it, and what its state's migration changed.

        Args:
            records: the run's, its steps by the names that they have now.

        Raises:
            JournalError: it does not fit the workflow as it is now.
        """
        call = self._call
        reader = Supply.reader(self.blobs, self.find)
        try:
            restored = restore(
                call.workflow,
                self._header.engine_run_id,
                records,
                self.blobs,
                self.find,
                call.start_event,
                self.model,
            )
        except JournalError as error:
            stray = strayed(call.workflow, records, reader)
            if stray and not isinstance(error, MigrationError):
                raise MigrationError(stray) from error
            raise _refusal(self._header, error, self._unmatched(records)) from error
        untaken = untaken_of(self.find, restored)
        if untaken:
            raise MigrationError(untaken)
        ops = migrate_state(call.workflow, restored, self.blobs)
        wrong = misfits(records, restored, call.codes.parts, reader.value)
        if wrong:
            raise JournalError(
                f"cannot resume run {words.short(self._header.run_id)} of {self._header.name}: {wrong}; "
                "restore the class or give what is new a default, register a migration (README"
                f"{self._unmatched(records)}), make them again in a new run with --stale rerun, or start "
                "over with --fresh"
            )
        return restored, ops

    def _unmatched(self, records: list[Record]) -> str:
        """What is registered and fits nothing of the run, as a sentence goes on."""
        steps = {record["s"] for record in records if "s" in record}
        said = migrate.unmatched(type(self._call.workflow).__name__, steps)
        return f"; registered, but nothing in the run is called so: {said}" if said else ""


def _check_engine(header: RunHeader, opening: Record) -> None:
    written = str(opening.get("engine", ""))
    if written.split(".")[:2] != engine_version().split(".")[:2]:
        raise JournalError(
            f"run {words.short(header.run_id)} was written with llama-index-workflows {written}, and "
            f"{engine_version()} may read it wrongly: install that version to go on, or start over with "
            "--fresh"
        )


def _refusal(header: RunHeader, error: JournalError, unmatched: str) -> WfresumeError:
    """A journal that cannot be folded, in one sentence with the way out."""
    if isinstance(error, MissingClassError) and unmatched:
        return JournalError(f"{error}{unmatched}")
    if type(error) is not JournalError:
        return error
    return JournalError(
        f"cannot resume run {words.short(header.run_id)} of {header.name}: {error}{unmatched}; restore what "
        "was changed, reuse what still fits in a new run with --stale rerun, or start over with --fresh"
    )
