"""The words for what has changed."""

from __future__ import annotations

import pytest

from jupyter_wfresume.fingerprint import changes

TABLE = [
    ({"helper clean()": "1"}, {"helper clean()": "2"}, ["helper clean() differs"]),
    ({"helper clean()": "1"}, {}, ["helper clean() is no longer used"]),
    ({}, {"constant PROMPT": "1"}, ["constant PROMPT is new"]),
    ({"package httpx 0.27": "1"}, {"package httpx 0.28": "2"}, ["package httpx: 0.27 -> 0.28"]),
    ({"package httpx": "1"}, {"package httpx 0.28": "2"}, ["package httpx: unknown -> 0.28"]),
    (
        {"package httpx 0.27": "1"},
        {"package aiohttp 3": "2"},
        ["package aiohttp 3 is new", "package httpx 0.27 is no longer used"],
    ),
    ({"opaque: client (OpenAI)": "1"}, {"opaque: client (Azure)": "2"}, ["type of client: OpenAI -> Azure"]),
    ({"constant LIMIT": "1"}, {"global LIMIT (list)": "2"}, ["global LIMIT (list) differs"]),
    (
        {"the step itself": "1", "package a 1": "1", "helper b()": "1"},
        {"the step itself": "2", "package a 2": "1", "helper b()": "2"},
        ["the step itself differs", "helper b() differs", "package a: 1 -> 2"],
    ),
    ({"helper clean()": "1"}, {"helper clean()": "1"}, []),
]


@pytest.mark.parametrize(("old", "new", "said"), TABLE)
def test_changes_are_said_in_plain_words(old: dict[str, str], new: dict[str, str], said: list[str]) -> None:
    """Each difference is one reason, the step itself first, packages last."""
    assert changes(old, new) == said
