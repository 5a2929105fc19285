"""What earlier runs of a name bring to one that begins now."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from ..engine import Workflow
from ..errors import WfresumeError
from ..journal import Evidence, StoreBlobs, history
from ..plan import Plan
from ..records import RunHeader
from ..store import Store
from .codes import Codes, effective
from .fork import Fork
from .found import finder
from .match import Matcher, Taken
from .migrating import renamed
from .reuse import Reuse
from .supply import Supply


class Earlier:
    """The runs that answer what runs of one cell would execute.

    Equal calls of a cell, and equal runs below one run, are each wanted: one
    is not answered from another, nor two from the same execution.
    """

    def __init__(self) -> None:
        self._equal: defaultdict[str, list[str]] = defaultdict(list)
        self._taken: defaultdict[str, Taken] = defaultdict(Taken)
        self._orders: Counter[str] = Counter()
        self._call_of: dict[str, str] = {}
        self._counted: set[str] = set()
        self._evidence: dict[tuple[str, ...], Evidence] = {}

    def order(self, call: str) -> int:
        """How many equal calls the cell has made before.

        Args:
            call: digest of the call without its place in the cell.
        """
        order = self._orders[call]
        self._orders[call] += 1
        return order

    def begins(self, run_id: str, root: str, call: str) -> None:
        """A run begins, goes on, or gives its recorded result.

        Args:
            run_id: the run.
            root: the top-level run that it is, or is below of.
            call: digest of its call without its place in the cell.
        """
        if run_id == root:
            self._equal[call].append(run_id)
            self._call_of[run_id] = call

    def reuse(
        self,
        store: Store,
        workflow: Workflow,
        known: Sequence[RunHeader],
        codes: Codes,
        plan: Plan,
        header: RunHeader,
        root: str,
        fork: Fork | None,
    ) -> Reuse | None:
        """Answers for a run, or None where nothing can answer.

        Args:
            store: the store.
            workflow: the workflow as it is now.
            known: the runs of the name, newest first.
            codes: its code as it is now.
            plan: what was decided for the run.
            header: the run's.
            root: the top-level run that it is, or is below of.
            fork: where it leaves another run, or None.
        """
        if not plan.reuse:
            return None
        roots = roots_of(known)
        call = self._call_of[root]
        own = {root, *self._equal[call]}
        others = [h for h in known if roots[h.run_id] not in own]
        # An equal call at the same place of the cell comes first.
        others.sort(key=lambda h: h.call != header.call)
        evidence = self._of(others, {h.run_id for h in known}, store, workflow, codes)
        if not evidence.steps:
            return None
        taken = self._taken[call]
        for run_id in (h.run_id for h in known if roots[h.run_id] in own):
            if run_id not in self._counted:
                # From now on what answers it is counted as it happens.
                self._counted.add(run_id)
                taken.ones.update(_answered(store, run_id))
        trusted = "" if fork is None else fork.run_id
        matcher = Matcher(
            evidence,
            Supply.reader(StoreBlobs(store), finder(workflow)),
            type(workflow).__name__,
            codes.digests,
            plan.any_code,
            trusted,
        )
        return Reuse(matcher, taken, fork)

    def _of(
        self,
        runs: Sequence[RunHeader],
        known: Set[str],
        store: Store,
        workflow: Workflow,
        codes: Codes,
    ) -> Evidence:
        """What runs have finished; a step that runs many workflows looks once."""
        moved = sorted(
            f"{step} {digest} {sorted(values.items())}"
            for step, known in codes.moved.items()
            for digest, values in known.items()
        )
        key = (str(id(type(workflow))), *moved, *(h.run_id for h in runs))
        if key in self._evidence:
            return self._evidence[key]
        reader = Supply.reader(StoreBlobs(store), finder(workflow))
        found = Evidence(lambda step, parts: effective(step, parts, codes.moved), known)
        for header in runs:
            try:
                records = history(store, header.run_id).records
            except WfresumeError:
                # A run that cannot be read answers nothing; its own call says so.
                continue
            if header.workflow == type(workflow).__name__:
                records, _ = renamed(workflow, records)
            found.add(header.run_id, records, reader, header.workflow)
        self._evidence[key] = found
        return found


def versioned(header: RunHeader, store: Store, workflow: Workflow, codes: Codes) -> RunHeader:
    """A header that says of which code its run's finished executions are, by its journal.

    A process that is killed leaves a header that is older than its last records.

    Args:
        header: the run's.
        store: the store.
        workflow: the workflow as it is now.
        codes: its code as it is now.
    """
    reader = Supply.reader(StoreBlobs(store), finder(workflow))
    try:
        records = history(store, header.run_id).records
    except WfresumeError:
        # What is damaged is named where the run goes on.
        return header
    versions = codes.versions(renamed(workflow, records)[0], reader.value)
    return replace(header, extra={**header.extra, "versions": versions})


def roots_of(known: Sequence[RunHeader]) -> Mapping[str, str]:
    """By run, the top-level run that it is, or is below of."""
    parents = {h.run_id: h.parent for h in known}
    found: dict[str, str] = {}
    for run_id in parents:
        top = run_id
        while parents.get(top):
            top = parents[top] or ""
        found[run_id] = top
    return found


def _answered(store: Store, run_id: str) -> Iterator[tuple[str, int]]:
    """The executions of other runs that have answered one's own."""
    for record in history(store, run_id).records:
        if "u" in record:
            yield record["u"][0], record["u"][1]
