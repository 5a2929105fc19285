"""Who may write a run: taking, renewing, losing and giving back the lease."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from jupyter_wfresume.errors import LeaseError
from jupyter_wfresume.records import Lease, Owner
from jupyter_wfresume.store import Store, is_alive, this_process
from tests.store.helpers import ME, NOW, OTHER, RUN, in_child, python


def living(_: Owner) -> bool:
    """Say that a process lives."""
    return True


def dead(_: Owner) -> bool:
    """Say that a process is dead."""
    return False


def unknown(_: Owner) -> None:
    """Say that a process cannot be looked at from here."""


def test_a_free_run_is_taken_and_told(store: Store) -> None:
    """The first to ask holds the lease, with token 1, and everybody can see who it is."""
    lease = store.acquire(RUN, ME, now=NOW, alive=living)
    assert lease == Lease(RUN, 1, ME, since=NOW, beat=NOW)
    assert store.lease_of(RUN) == lease


def test_the_token_grows_over_release_and_reopening(store: Store) -> None:
    """An older holder never has the same token as a newer one."""
    first = store.acquire(RUN, ME, now=NOW, alive=living)
    store.release(first)
    assert store.lease_of(RUN) is None
    with Store.open(store.path) as again:
        second = again.acquire(RUN, ME, now=NOW, alive=living)
        assert second.token == first.token + 1


def test_a_living_holder_is_named(store: Store) -> None:
    """The second kernel is told which process holds the run, where, since when, and what to do."""
    store.acquire(RUN, OTHER, now=NOW, alive=living)
    with pytest.raises(
        LeaseError,
        match=r"run 7f3a0001 is driven by process 4242 on host there since \d\d:\d\d: "
        "interrupt its cell or shut that kernel down, then run this cell again",
    ):
        store.acquire(RUN, ME, now=NOW + 3, alive=living)


def test_a_holder_since_another_day_is_told_with_the_date(store: Store) -> None:
    """A time alone would mislead a day later."""
    store.acquire(RUN, OTHER, now=NOW, alive=living)
    with pytest.raises(LeaseError, match=r"since 20\d\d-\d\d-\d\d \d\d:\d\d"):
        store.acquire(RUN, ME, now=NOW + 3 * 86400, alive=living)


def test_this_kernel_itself_is_no_exception(store: Store) -> None:
    """Two cells of one kernel cannot drive one run at once either."""
    store.acquire(RUN, ME, now=NOW, alive=living)
    with pytest.raises(LeaseError, match="already driven by this kernel since"):
        store.acquire(RUN, ME, now=NOW, alive=living)


def test_a_dead_holder_is_replaced_at_once(store: Store) -> None:
    """On the same machine nobody waits for a dead process."""
    store.acquire(RUN, OTHER, now=NOW, alive=living)
    assert store.acquire(RUN, ME, now=NOW, alive=dead).token == 2


@pytest.mark.parametrize("silent_s", [0, 59, 60])
def test_a_holder_elsewhere_is_given_time(store: Store, silent_s: int) -> None:
    """A process that cannot be looked at keeps its lease for a while, and the sentence says for how long."""
    store.acquire(RUN, OTHER, now=NOW, alive=living)
    with pytest.raises(
        LeaseError, match=f"last seen {silent_s} s ago: .* run this cell again in {61 - silent_s} s"
    ):
        store.acquire(RUN, ME, now=NOW + silent_s, alive=unknown)


def test_a_silent_holder_elsewhere_is_replaced(store: Store) -> None:
    """After that time its lease is free."""
    store.acquire(RUN, OTHER, now=NOW, alive=living)
    assert store.acquire(RUN, ME, now=NOW + 60.1, alive=unknown).token == 2


def test_a_sign_of_life_counts(store: Store) -> None:
    """The time runs from the last renewal; a renewal changes nothing else."""
    lease = store.acquire(RUN, OTHER, now=NOW, alive=living)
    renewed = store.renew(lease, now=NOW + 50)
    assert renewed == replace(lease, beat=NOW + 50)
    assert store.lease_of(RUN) == renewed
    with pytest.raises(LeaseError):
        store.acquire(RUN, ME, now=NOW + 100, alive=unknown)
    store.append(RUN, 0, b"zero", lease=lease)


LOST: dict[str, Callable[[Store, Lease], object]] = {
    "append": lambda store, lease: store.append(RUN, 0, b"stale", lease=lease),
    "append to a run below": lambda store, lease: store.append("c0ffee", 0, b"stale", lease=lease),
    "append_many": lambda store, lease: store.append_many(RUN, 0, [b"stale"], lease=lease, header=b"stale"),
    "put_run": lambda store, lease: store.put_run(RUN, b"stale", lease=lease),
    "cut": lambda store, lease: store.cut(RUN, 0, lease=lease),
    "renew": lambda store, lease: store.renew(lease, now=NOW),
}


@pytest.mark.parametrize("name", LOST)
def test_a_holder_that_lost_its_lease_writes_nothing(store: Store, name: str) -> None:
    """A kernel that was frozen while another took over is told who did, and leaves no trace."""
    old = store.acquire(RUN, OTHER, now=NOW, alive=living)
    new = store.acquire(RUN, ME, now=NOW, alive=dead)
    with pytest.raises(
        LeaseError, match=rf"no longer drives run 7f3a0001: process {ME.pid} on host here took it over"
    ):
        LOST[name](store, old)
    assert store.get_run(RUN) is None
    assert store.read(RUN).records == store.read("c0ffee").records == []
    assert store.lease_of(RUN) == new


@pytest.mark.parametrize("name", LOST)
def test_a_released_lease_does_not_write(store: Store, name: str) -> None:
    """What was given back, or deleted with its run, is gone."""
    lease = store.acquire(RUN, ME, now=NOW, alive=living)
    store.release(lease)
    with pytest.raises(LeaseError, match="given up or the run was deleted"):
        LOST[name](store, lease)
    store.delete_run(RUN)
    with pytest.raises(LeaseError, match="given up or the run was deleted"):
        LOST[name](store, lease)


def test_releasing_a_lost_lease_does_not_free_the_new_one(store: Store) -> None:
    """It is silent, since the holder wanted to be rid of it anyway."""
    old = store.acquire(RUN, OTHER, now=NOW, alive=living)
    new = store.acquire(RUN, ME, now=NOW, alive=dead)
    store.release(old)
    assert store.lease_of(RUN) == new


def test_a_holder_with_an_equal_token_and_another_name_is_refused(store: Store) -> None:
    """The owner is part of the check, not the token alone."""
    lease = store.acquire(RUN, ME, now=NOW, alive=living)
    with pytest.raises(LeaseError):
        store.append(RUN, 0, b"stale", lease=replace(lease, owner=OTHER))


def test_a_change_between_look_and_take_is_noticed(store: Store) -> None:
    """Who was overtaken while it asked about the holder looks again instead of overwriting."""
    store.acquire(RUN, OTHER, now=NOW, alive=living)
    third = Owner(5, 5, "this-boot", "third")
    asked: list[Owner] = []

    def overtaken(owner: Owner) -> bool:
        if not asked:
            asked.append(owner)
            store.acquire(RUN, third, now=NOW, alive=dead)
            return False
        asked.append(owner)
        return True

    with pytest.raises(LeaseError, match="process 5 on host third"):
        store.acquire(RUN, ME, now=NOW, alive=overtaken)
    assert asked == [OTHER, third]


HOLD = """
import sys, time
from jupyter_wfresume.store import Store, is_alive, this_process
store = Store.open(sys.argv[1])
store.acquire(sys.argv[2], this_process(), now=time.time(), alive=is_alive)
print("held", flush=True)
sys.stdin.readline()
"""


def test_real_processes_hand_over_only_by_dying(store_dir: Path) -> None:
    """A living process keeps its run; killed, also while nobody has waited for it, it loses it at once."""
    holder = python(HOLD, store_dir, RUN)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with Store.open(store_dir) as store:
        with pytest.raises(LeaseError, match=f"driven by process {holder.pid} on host"):
            store.acquire(RUN, this_process(), now=NOW, alive=is_alive)
        holder.kill()
        os.waitid(os.P_PID, holder.pid, os.WEXITED | os.WNOWAIT)  # dead, and a zombie until it is waited for
        lease = store.acquire(RUN, this_process(), now=NOW, alive=is_alive)
        assert lease.token == 2
        holder.communicate()
        store.append(RUN, 0, b"zero", lease=lease)


def test_only_one_of_many_takes_a_free_run(store_dir: Path) -> None:
    """Of processes that ask at the same time, one gets the lease."""
    Store.open(store_dir).close()
    holders = [python(HOLD, store_dir, RUN) for _ in range(4)]
    heard = []
    with Store.open(store_dir) as store:
        for holder in holders:
            assert holder.stdout is not None
            heard.append(holder.stdout.readline())
            lease = store.lease_of(RUN)
            assert lease is not None
            assert (lease.token, lease.owner.pid in [each.pid for each in holders]) == (1, True)
    for holder in holders:
        holder.communicate("\n")
    assert sorted(heard) == ["", "", "", "held\n"]


def test_a_forked_child_is_another_owner() -> None:
    """Identity is asked for anew, not remembered from the parent."""
    mine = this_process()
    pid, started = in_child(lambda: [this_process().pid, this_process().started])
    assert pid != mine.pid
    assert started >= mine.started
