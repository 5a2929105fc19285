"""Tests of jupyter_wfresume, and the helpers they share."""

import os


def in_ci() -> bool:
    """Return whether nothing may be skipped for want of a tool."""
    return os.environ.get("CI") == "true"
