"""A pytest plugin: under ``CI=true`` a skipped test is a failed test.

A skip that no tool can mend, such as a system call that the platform lacks, says so: its reason
starts with ``platform:``.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests import in_ci

PLATFORM = "platform:"


def _forbid(report: pytest.TestReport | pytest.CollectReport) -> None:
    if not in_ci() or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    reason = reason.removeprefix("Skipped: ")
    if reason.startswith(PLATFORM):
        return
    report.outcome = "failed"
    report.longrepr = (
        f"{report.nodeid} was skipped ({reason}), and under CI=true nothing is skipped for want of a tool: "
        f"install it in .ci/run, or start the reason with '{PLATFORM}' where no tool can help"
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skipped test into a failed one."""
    report = yield
    _forbid(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn a skipped module into a failed one."""
    report = yield
    _forbid(report)
    return report
