"""The kernel's interrupt, in a real kernel: nothing of a run is executing when the cell has returned."""

from __future__ import annotations

import time

import pytest

from tests.kernels import CellResult, plain
from tests.stop.conftest import Bench


def paused(shown: CellResult) -> str:
    """Return the one sentence that a stopped cell ends with."""
    assert (shown.status, shown.ename) == ("error", "RunEnded"), shown.text
    assert plain(shown.traceback) == shown.evalue
    assert shown.evalue.endswith("run this cell again to go on")
    return shown.evalue


def begun(log: dict[str, int]) -> list[str]:
    """The items that were begun."""
    return sorted(line.split()[1] for line in log if line.endswith("begins"))


def test_a_first_interrupt_lets_steps_finish_and_starts_nothing_new(bench: Bench) -> None:
    """What is under way is finished and recorded; the other items are executed by the next run, once."""
    body = "await run(Batch, size=9)"
    pending = bench.start(body, "work 3 begins")
    bench.interrupt(pending)
    bench.let_go()
    assert paused(pending.wait()).startswith("paused at 4 of 9")
    log = bench.log()
    assert begun(log) == ["0", "1", "2", "3"]
    assert sum(line.endswith("ends") for line in log) == 4
    assert bench.again(body).result == {"text/plain": "36"}
    assert bench.log() == {
        "split": 1,
        **{f"work {n} {what}": 1 for n in range(9) for what in ("begins", "ends")},
    }


def test_a_second_interrupt_cancels_at_once_and_a_rerun_charges_once(bench: Bench) -> None:
    """Every step under way is dead when the cell returns, so that running it at once pays nothing twice."""
    body = "await run(Batch, size=5)"
    pending = bench.start(body, "work 3 begins")
    bench.interrupt(pending)
    began = time.monotonic()
    bench.kernel.interrupt()
    assert paused(pending.wait()).startswith("paused at 0 of 5")
    assert time.monotonic() - began < 5
    assert sum(line.endswith("cancelled") for line in bench.log()) == 4
    assert bench.again(body).result == {"text/plain": "10"}
    assert {line: n for line, n in bench.log().items() if line.endswith("ends")} == {
        f"work {n} ends": 1 for n in range(5)
    }


def test_a_step_that_blocks_the_loop_is_named_and_may_finish(bench: Bench) -> None:
    """After one interrupt the blocking step's result is recorded, and nothing behind it starts."""
    body = "await run(Blocks)"
    pending = bench.start(body, "second begins")
    bench.kernel.interrupt()
    bench.kernel.wait_for_output(pending, lambda shown: "second[0] keeps the event loop busy" in shown.text)
    bench.let_go()
    assert paused(pending.wait()).startswith("paused at 2 of 3")
    assert bench.again(body).result == {"text/plain": "'through'"}
    assert bench.log() == {"first": 1, "second begins": 1, "second ends": 1, "third": 1}


def test_a_second_interrupt_cuts_a_step_off_that_blocks_the_loop(bench: Bench) -> None:
    """The step ends within 2 s, the kernel lives, and the next run executes that step again."""
    body = "await run(Blocks)"
    pending = bench.start(body, "second begins")
    bench.kernel.interrupt()
    bench.kernel.wait_for_output(pending, lambda shown: "keeps the event loop busy" in shown.text)
    began = time.monotonic()
    bench.kernel.interrupt()
    assert paused(pending.wait()).startswith("paused at 1 of 2")
    assert time.monotonic() - began < 2
    assert bench.kernel.run("1 + 1").result == {"text/plain": "2"}
    assert bench.again(body).result == {"text/plain": "'through'"}
    assert bench.log() == {"first": 1, "second begins": 2, "second ends": 1, "third": 1}


@pytest.mark.parametrize("workflow", ["Swallows", "Threaded"])
def test_what_cannot_be_stopped_is_named_waited_for_and_recorded(bench: Bench, workflow: str) -> None:
    """A thread, or a step that swallows its cancel: the cell waits, names it, and keeps its result."""
    body = f"await run({workflow})"
    pending = bench.start(body, "second begins")
    bench.interrupt(pending)
    bench.kernel.interrupt()
    bench.kernel.wait_for_output(pending, lambda shown: "waits for second[0]" in shown.text)
    assert not pending.ended
    bench.let_go()
    assert paused(pending.wait()).startswith("paused at 2 of 3")
    assert bench.again(body).result == {"text/plain": "'through'"}
    log = bench.log()
    assert (log["first"], log["second begins"], log["second ends"], log["third"]) == (1, 1, 1, 1)


def test_what_a_step_started_beside_itself_is_ended_too(bench: Bench) -> None:
    """Awaited children, a task that nobody awaits, and a call in a thread do not outlive the cell."""
    body = "await run(Family)"
    pending = bench.start(body, "thread begins")
    bench.interrupt(pending)
    bench.kernel.interrupt()
    bench.kernel.wait_for_output(pending, lambda shown: "waits for second[0]" in shown.text)
    log = bench.log()
    assert {"kid 0 cancelled", "kid 1 cancelled", "loner cancelled"} <= log.keys()
    assert not pending.ended
    bench.let_go()
    assert paused(pending.wait()).startswith("paused at 1 of 2")
    assert bench.log() == {**log, "thread ends": 1}
    assert bench.again(body).result == {"text/plain": "'through'"}
    assert bench.log()["first"] == 1


def test_the_body_is_interrupted_as_in_a_plain_cell(bench: Bench) -> None:
    """Where no run is under way, an interrupt ends an awaiting body and a blocking one, at once."""
    for body, expected in (
        ("await asyncio.sleep(3600)", "CancelledError"),
        ("time.sleep(3600)", "KeyboardInterrupt"),
    ):
        pending = bench.start(f"bump(LOG, {expected!r})\n{body}", expected)
        bench.kernel.interrupt()
        shown = pending.wait()
        assert (shown.status, shown.ename) == ("error", expected)
        assert body in plain(shown.traceback)
        assert bench.kernel.run("1 + 1").result == {"text/plain": "2"}


def test_a_body_that_blocks_beside_its_run_is_interrupted(bench: Bench) -> None:
    """The body's own line is shown, and below it how to go on; the run's steps may finish first."""
    body = "handler = run(Batch, size=2)\nawait reached('work 1 begins')\n"
    body += "bump(LOG, 'body')\ntime.sleep(0 if go() else 3600)\nawait handler"
    pending = bench.start(body, "body")
    bench.kernel.interrupt()
    bench.let_go()
    shown = pending.wait()
    assert (shown.status, shown.ename) == ("error", "KeyboardInterrupt")
    assert plain(shown.traceback).splitlines()[-1] == "paused at 2 of 2: run this cell again to go on"
    assert bench.again(body).result == {"text/plain": "1"}
    assert (bench.log()["work 0 begins"], bench.log()["work 1 begins"]) == (1, 1)


def test_a_nested_run_finishes_or_is_cut_off_with_the_step_that_runs_it(bench: Bench) -> None:
    """After one interrupt the inner run and its step may finish; after two both are cancelled."""
    body = "await run(Outer)"
    pending = bench.start(body, "inner begins")
    bench.interrupt(pending)
    bench.kernel.interrupt()
    paused(pending.wait())
    assert bench.log() == {"first": 1, "outer begins": 1, "inner begins": 1, "inner cancelled": 1}
    pending = bench.start(f"bump(LOG, 'again')\n{body}", "again")
    bench.kernel.wait_for(lambda: bench.log()["inner begins"] == 2, pending)
    bench.interrupt(pending)
    bench.let_go()
    shown = pending.wait()
    assert shown.status in ("ok", "error")
    assert bench.again(body).result == {"text/plain": "'through'"}
    log = bench.log()
    assert (log["first"], log["inner begins"], log["inner ends"], log["third"]) == (1, 2, 1, 1)
    assert log["outer got inner result"] == 1


def test_a_retry_that_waits_is_stopped_at_once(bench: Bench) -> None:
    """A delay before the next attempt is no execution: nothing is waited for."""
    pending = bench.start("await run(Retries)", "second fails")
    began = time.monotonic()
    bench.kernel.interrupt()
    paused(pending.wait())
    assert time.monotonic() - began < 5
    assert bench.log() == {"first": 1, "second fails": 1}


def test_a_step_that_swallows_how_its_runs_ended_is_not_done(bench: Bench) -> None:
    """``gather(..., return_exceptions=True)`` over runs that an interrupt stopped gives no result, ever."""
    bench.kernel.run(
        "class Inner(Batch):\n    pass\n"
        "class Swallows(Workflow):\n"
        "    @step\n"
        "    async def all(self, ev: StartEvent) -> StopEvent:\n"
        "        runs = [Inner(timeout=None).run(size=n) for n in (3, 4)]\n"
        "        found = await asyncio.gather(*runs, return_exceptions=True)\n"
        "        return StopEvent(result=[str(one) for one in found])"
    )
    body = "await Swallows(timeout=None).run()"
    pending = bench.start(body, "work 2 begins")
    bench.interrupt(pending)
    bench.let_go()
    paused(pending.wait())
    assert bench.again(body).result == {"text/plain": "['3', '6']"}
    assert all(count == 2 for line, count in bench.log().items() if line.startswith(("work 0", "work 1")))


def test_a_body_that_swallows_how_its_run_ended_ends_in_an_error(bench: Bench) -> None:
    """The cell stops a "run all" though its own code went on where there is no result."""
    body = "found = await asyncio.gather(run(Batch, size=9), return_exceptions=True)\nlen(found)"
    pending = bench.start(body, "work 3 begins")
    bench.interrupt(pending)
    bench.let_go()
    assert paused(pending.wait()).startswith("paused at 4 of 9")
