"""What all tests share: a clean environment, a store's folder, a browser's path."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests import in_ci

pytest_plugins = ["pytester", "tests.no_skips"]

# No deadline: a slow machine is no failure. In CI the examples are the same each time, so that a
# red run can be run again as it was; elsewhere each run looks at new ones.
settings.register_profile("house", deadline=None, derandomize=in_ci(), print_blob=True)
settings.load_profile("house")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep all browser tests on one worker; first, since xdist reads the groups in this same hook."""
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="session", autouse=True)
def clean_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the user's Jupyter and IPython settings, and their store, out of every test and kernel."""
    home = tmp_path_factory.mktemp("jupyter")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("JUPYTER_WFRESUME_STORE", "JUPYTER_PATH", "JUPYTER_CONFIG_PATH", "PYTHONSTARTUP"):
            patch.delenv(name, raising=False)
        for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
            folder = home / name.lower()
            folder.mkdir(mode=0o700)
            patch.setenv(name, str(folder))
        patch.setenv("JUPYTER_PLATFORM_DIRS", "1")
        yield


@pytest.fixture
def store_dir(tmp_path: Path) -> Path:
    """Return a folder for a store of this test's own; it does not exist yet."""
    return tmp_path / "store"


@pytest.fixture
def work_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a fresh folder the working folder, so that the default store lands in it."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Return the path of Debian's Chromium; without it the test is skipped, or fails under CI=true."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        reason = "no chromium on PATH: install Debian's package 'chromium'"
        if in_ci():
            pytest.fail(reason)
        pytest.skip(reason)
    return found
