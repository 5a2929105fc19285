"""Under ``CI=true`` a skip is a failure."""

from __future__ import annotations

import pytest

SAMPLE = """
import pytest

def test_skips():
    pytest.skip("no browser")

@pytest.mark.skipif(True, reason="no tool")
def test_marked():
    pass

def test_platform():
    pytest.skip("platform: no such system call")

@pytest.mark.xfail(strict=True)
def test_expected():
    assert False
"""


# The inner run is no worker, and says what pytest-asyncio else warns about.
QUIET = ("-p", "no:xdist", "-o", "asyncio_default_fixture_loop_scope=function")


@pytest.mark.parametrize(
    ("ci", "outcomes"),
    [
        ("true", {"failed": 1, "errors": 1, "skipped": 1, "xfailed": 1}),
        ("", {"skipped": 3, "xfailed": 1}),
    ],
)
def test_a_skip_fails_in_ci_unless_the_platform_asks_for_it(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, ci: str, outcomes: dict[str, int]
) -> None:
    """Under CI=true each skip fails but those that no tool can mend; elsewhere a skip is a skip."""
    monkeypatch.setenv("CI", ci)
    pytester.makepyfile(SAMPLE)
    result = pytester.runpytest_inprocess("-p", "tests.no_skips", *QUIET)
    assert result.parseoutcomes() == outcomes


def test_a_module_that_skips_itself_fails_in_ci(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A skip at the top of a module counts too."""
    monkeypatch.setenv("CI", "true")
    pytester.makepyfile("import pytest\npytest.importorskip('no_such_module_here')\n")
    result = pytester.runpytest_inprocess("-p", "tests.no_skips", *QUIET)
    result.stdout.fnmatch_lines(["*nothing is skipped for want of a tool*"])
    assert result.ret != 0
