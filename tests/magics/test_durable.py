"""``durable``, ``open_run`` and ``runs`` in a script."""

from __future__ import annotations

import asyncio
import builtins
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import jupyter_wfresume
from jupyter_wfresume import durable, open_run, runs
from jupyter_wfresume.durable import store_folder
from jupyter_wfresume.errors import UsageError

from .flows import Batch, executed


def test_the_public_names_are_a_sorted_list() -> None:
    """The package exports what the contract names, and each name is there."""
    assert jupyter_wfresume.__all__ == sorted(jupyter_wfresume.__all__)
    assert all(hasattr(jupyter_wfresume, name) for name in jupyter_wfresume.__all__)


def test_a_name_that_is_no_text_is_refused_in_a_sentence() -> None:
    """Whatever stands there, the sentence says what belongs there."""
    wrong: Any = 5
    with pytest.raises(UsageError, match="durable: the name is a text such as 'enrich', not 5"):
        durable(wrong)


def test_a_script_resumes_where_it_failed(
    store_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A with block around asyncio.run is durable, and what had finished is not executed again."""

    async def main() -> int:
        result: int = await Batch(tmp_path).run(size=4)
        return result

    (tmp_path / "bad3").touch()
    with pytest.raises(ValueError, match="document 3 is bad"), durable("sum", store=store_dir):
        asyncio.run(main())
    assert open_run("sum", store_dir).status == "failed"
    (tmp_path / "bad3").unlink()
    with durable("sum", store=store_dir):
        assert asyncio.run(main()) == 6
    assert executed(tmp_path) == [0, 1, 2, 3, 3]
    printed = capsys.readouterr()
    assert "sum: resumes run" in printed.out
    assert "✓ done" in printed.err
    assert "✓" not in printed.out


async def test_async_with_awaits_what_was_left_running(store_dir: Path, tmp_path: Path) -> None:
    """At the block's end every run of it has ended and is recorded."""
    async with durable("sum", store=store_dir, board="none"):
        handler = Batch(tmp_path).run(size=3)
    assert (open_run("sum", store_dir).status, await handler) == ("done", 3)


async def test_async_with_raises_what_a_run_left_running_raises(store_dir: Path, tmp_path: Path) -> None:
    """A failure of a run that nobody awaited is not lost, and the block is closed after it."""
    (tmp_path / "bad0").touch()
    with pytest.raises(ValueError, match="document 0 is bad"):
        async with durable("sum", store=store_dir, board="none"):
            Batch(tmp_path).run(size=1)
    (tmp_path / "bad0").unlink()
    async with durable("sum", store=store_dir, board="none"):
        assert await Batch(tmp_path).run(size=1) == 0


async def test_the_blocks_own_error_wins(store_dir: Path, tmp_path: Path) -> None:
    """What the block raises is what comes out, and the run that it left is paused."""

    async def block() -> None:
        async with durable("sum", store=store_dir, board="none"):
            Batch(tmp_path).run(size=1)
            raise KeyError("mine")

    (tmp_path / "bad0").touch()
    with pytest.raises(KeyError, match="mine"):
        await block()
    assert open_run("sum", store_dir).status == "paused"


def test_runs_lists_newest_first_and_prints_as_a_table(store_dir: Path, tmp_path: Path) -> None:
    """The list holds the runs, shows them as text and HTML, and becomes a frame."""

    async def main(size: int) -> None:
        await Batch(tmp_path).run(size=size)

    for name, size in (("first", 2), ("second", 3)):
        with durable(name, store=store_dir, board="none"):
            asyncio.run(main(size))
    found = runs(store=store_dir)
    assert [run.header.name for run in found] == ["second", "first"]
    assert [run.header.name for run in runs("first", store_dir)] == ["first"]
    assert "first" in repr(found)
    assert "<table" in (found._repr_html_() or "")
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame[["name", "status", "progress"]].to_numpy().tolist() == [
        ["second", "done", "3 of 3"],
        ["first", "done", "2 of 2"],
    ]


def test_looking_makes_no_store(work_dir: Path) -> None:
    """Listing and opening say that there is no store, and leave none behind."""
    assert repr(runs()) == f"no runs yet: there is no store at {work_dir / '.wfresume'}"
    with pytest.raises(UsageError, match="there is no run 'a': there is no store at"):
        open_run("a")
    assert list(work_dir.iterdir()) == []


def test_the_stores_folder_is_given_or_the_environments_or_the_working_folders(
    work_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An argument comes before the environment, and that before the default."""
    assert store_folder() == work_dir / ".wfresume"
    monkeypatch.setenv("JUPYTER_WFRESUME_STORE", "from_env")
    assert store_folder() == work_dir / "from_env"
    assert store_folder(Path("given")) == work_dir / "given"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"name": " "}, "the name is empty"),
        ({"board": "widget"}, "board is auto, text or none, not 'widget'"),
        ({"timeout": "soon"}, "timeout takes a number of seconds, not 'soon'"),
        ({"timeout": 0}, "timeout takes more than 0 seconds"),
        ({"timeout": math.nan}, "timeout takes a number of seconds"),
        ({"wait": -1}, "wait takes a number of seconds, not -1"),
        ({"wait": True}, "wait takes a number of seconds, not True"),
    ],
)
def test_a_wrong_argument_is_one_sentence(arguments: dict[str, Any], sentence: str) -> None:
    """What does not fit is named before anything runs."""
    with pytest.raises(UsageError, match=sentence):
        durable(**arguments)


def test_a_block_is_entered_once(store_dir: Path) -> None:
    """One durable(...) is one block; entering it again inside itself is refused."""
    block = durable("sum", store=store_dir, board="none")
    with block, pytest.raises(UsageError, match="already open"), block:
        pass


def test_a_frame_without_pandas_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """pandas is wanted for a frame alone."""
    real: Callable[..., Any] = builtins.__import__

    def without_pandas(name: str, *rest: Any, **more: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(UsageError, match="pip install pandas"):
        runs(store="nowhere").to_frame()
