"""Which engine versions this package knows."""

from __future__ import annotations

import functools
import warnings
from importlib.metadata import version

KNOWN = ("2.26.0", "2.26.1")
"""Versions whose reducer and runner the tests were run against."""

_warned: set[str] = set()


@functools.cache
def engine_version() -> str:
    """The version of ``llama-index-workflows`` that was installed when this process first asked."""
    return version("llama-index-workflows")


def check_engine() -> None:
    """Warn once where the installed engine is newer than what was tested."""
    installed = engine_version()
    if installed in KNOWN or installed in _warned:
        return
    _warned.add(installed)
    warnings.warn(
        f"llama-index-workflows {installed} was not tested with this jupyter_wfresume "
        f"(tested: {', '.join(KNOWN)}); runs may not resume: install a tested version",
        UserWarning,
        stacklevel=2,
    )
