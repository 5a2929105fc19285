"""When executions ran, along one axis without the time in which nothing did."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

GAP = 0.04
"""Longest idle time that is drawn, as a share of the time in which something ran."""


class Axis:
    """Time from the first execution to the last; where nothing ran for long, as overnight, it is cut.

    Args:
        spans: begin and end of each execution, seconds since the epoch.

    ``cut_s`` is how many seconds are not drawn.
    """

    def __init__(self, spans: Iterable[tuple[float, float]]) -> None:
        busy: list[list[float]] = []
        for begin, end in sorted(spans):
            if busy and begin <= busy[-1][1]:
                busy[-1][1] = max(busy[-1][1], end)
            else:
                busy.append([begin, max(begin, end)])
        most = GAP * sum(end - begin for begin, end in busy)
        self.cut_s = 0.0
        self._times: list[float] = []
        self._places: list[float] = []
        place = 0.0
        for begin, end in busy:
            if self._times:
                idle = begin - self._times[-1]
                self.cut_s += max(0.0, idle - most)
                place += min(idle, most)
            self._times += [begin, end]
            self._places += [place, place + (end - begin)]
            place += end - begin
        self._length = place or 1.0

    def share(self, time: float) -> float:
        """Where a time is on the axis, from 0 to 1.

        Args:
            time: seconds since the epoch.
        """
        after = bisect_right(self._times, time)
        if after == 0:
            return 0.0
        if after == len(self._times):
            return self._places[-1] / self._length
        begin, end = self._times[after - 1], self._times[after]
        left, right = self._places[after - 1], self._places[after]
        way = (time - begin) / (end - begin) if end > begin else 0.0
        return (left + way * (right - left)) / self._length
