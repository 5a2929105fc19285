"""The axis along which executions are drawn."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_wfresume.board.timeline import GAP, Axis

SPANS = st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e3)), min_size=1, max_size=30)


def test_time_in_which_something_ran_is_drawn_to_scale() -> None:
    """Without long gaps a place on the axis is the share of the whole time."""
    axis = Axis([(10.0, 20.0), (15.0, 30.0)])
    assert [axis.share(time) for time in (10.0, 15.0, 30.0)] == [0.0, 0.25, 1.0]
    assert axis.cut_s == 0.0


def test_a_night_between_two_lives_is_cut() -> None:
    """Idle time takes four percent of the busy time at the most, and what was cut is known."""
    night = 36_000.0
    axis = Axis([(0.0, 10.0), (10.0 + night, 20.0 + night)])
    assert axis.share(10.0) == pytest.approx(10 / (20 + GAP * 20))
    assert axis.share(10.0 + night / 2) == pytest.approx(0.5)
    assert axis.cut_s == pytest.approx(night - GAP * 20)


@given(SPANS)
def test_later_is_never_further_left(spans: list[tuple[float, float]]) -> None:
    """Places keep the order of times and stay between 0 and 1."""
    known = [(begin, begin + length) for begin, length in spans]
    axis = Axis(known)
    times = sorted(time for span in known for time in span)
    places = [axis.share(time) for time in [times[0] - 1, *times, times[-1] + 1]]
    # A share is a quotient of sums of times as large as 1e6 s, so it is exact to about 1e-6 of a short bar.
    assert all(later >= earlier - 1e-6 for earlier, later in pairwise(places))
    assert places[0] >= 0
    assert places[-1] <= 1 + 1e-6
