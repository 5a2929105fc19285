"""On workflows that hypothesis makes up, every way of folding ticks gives the engine's own states."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from workflows.runtime.control_loop.reduce import _reduce_tick
from workflows.runtime.types.internal_state import BrokerState
from workflows.runtime.types.ticks import WorkflowTick

from jupyter_wfresume.engine import AttachedInternal, Holder, live
from jupyter_wfresume.journal import StoreBlobs, history, restore
from jupyter_wfresume.records import Options
from jupyter_wfresume.session import Session, list_runs
from jupyter_wfresume.session.found import finder
from jupyter_wfresume.store import Store
from tests.engine.generated import EVERYTHING, SPECS, laid_out, workflow_of

RUN_S = 30.0


async def ticks_of(spec: tuple[Any, ...], seed: int) -> tuple[BrokerState, list[WorkflowTick]]:
    """Run on the plain engine and return where it began and every tick."""
    handler = workflow_of(spec, seed)(timeout=60).run()
    adapter: Any = handler.ctx._face._external_adapter
    await asyncio.wait_for(handler, RUN_S)
    return adapter.init_state, list(adapter.replay())


@given(spec=SPECS, seed=st.integers(0, 10_000))
@example(spec=EVERYTHING, seed=1)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_cheap_copies_fold_to_the_same_states(spec: tuple[Any, ...], seed: int) -> None:
    """With copies that cost nothing the engine's reducer makes the same states and commands at every tick."""
    begun, ticks = asyncio.run(ticks_of(spec, seed))
    before = laid_out(begun)
    theirs: BrokerState = begun
    ours: BrokerState = live(begun, Holder())
    for number, tick in enumerate(ticks):
        theirs, their_commands = _reduce_tick(tick, theirs, 1.0, run_id="r")
        ours, our_commands = _reduce_tick(tick, ours, 1.0, run_id="r")
        assert laid_out(ours) == laid_out(theirs), f"after tick {number}, {tick.type}"
        assert laid_out(our_commands) == laid_out(their_commands), f"after tick {number}, {tick.type}"
    assert laid_out(begun) == before, "the state that the run began with has changed"


async def driven(spec: tuple[Any, ...], seed: int, store: Path) -> tuple[Any, dict[int, Any]]:
    """Run in a session; return the workflow and the live state after each number of ticks."""
    states: dict[int, Any] = {}
    plain_on_tick = AttachedInternal.on_tick

    async def on_tick(self: AttachedInternal, tick: WorkflowTick) -> None:
        drive: Any = self._port
        states[drive.state.journal_seq] = laid_out(drive.state)
        await plain_on_tick(self, tick)

    workflow = workflow_of(spec, seed)(timeout=60)
    session = Session(
        "generated",
        Options(store=str(store)),
        on_view=lambda view: None,
        on_close_view=lambda view: None,
        tell=lambda line: None,
    )
    with pytest.MonkeyPatch.context() as patch, session:
        patch.setattr(AttachedInternal, "on_tick", on_tick)
        await asyncio.wait_for(workflow.run(), RUN_S)
    return workflow, states


@given(spec=SPECS, seed=st.integers(0, 10_000))
@example(spec=EVERYTHING, seed=1)
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_each_prefix_of_the_journal_folds_to_the_live_state(spec: tuple[Any, ...], seed: int) -> None:
    """Folded from the ticks from outside alone, each prefix gives the state that the live loop had."""
    with tempfile.TemporaryDirectory() as folder:
        workflow, states = asyncio.run(driven(spec, seed, Path(folder) / "store"))
        with Store.open(Path(folder) / "store") as store:
            run = list_runs(store)[0]
            records = history(store, run.id).records
            for length in range(3, len(records) + 1):
                record = records[length - 1]
                if "q" not in record:
                    continue
                restored = restore(
                    workflow, run.header.engine_run_id, records[:length], StoreBlobs(store), finder(workflow)
                )
                assert restored.state.journal_seq == record["q"] + 1
                assert laid_out(restored.state) == states[record["q"] + 1], f"after record {length - 1}"
