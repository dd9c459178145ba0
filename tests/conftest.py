"""What every room shares: a memory root, a user's machine, how workers share tests, who may accept pictures."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.shell import Shell
from tests.worlds import World

CONSTRAINTS = Path(__file__).parents[1] / "constraints.txt"


def pytest_configure(config: pytest.Config) -> None:
    """Refuse `--snapshot-update` under another Textual: every picture would change, for no change of ours."""
    if config.getoption("update_snapshots", default=False):
        pinned, here = pinned_version("textual"), version("textual")
        if here != pinned:
            raise pytest.UsageError(
                f"snapshots are drawn with Textual {pinned}, and this is {here}: "
                f"pip install -c {CONSTRAINTS.name} textual"
            )


def pinned_version(name: str) -> str:
    """The version that `constraints.txt` names."""
    (found,) = re.findall(rf"^{name}==(\S+)$", CONSTRAINTS.read_text("utf-8"), flags=re.M)
    return str(found)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(tmp_path, capsys, monkeypatch)


@pytest.fixture
def runtime_dir(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where workers put their sockets: no other's, and with a path that is short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="vaultmem-", dir="/tmp"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def make_world() -> Iterator[Callable[[], World]]:
    """Worlds for tests that need more than one, such as Hypothesis's examples."""
    folders: list[Path] = []

    def make() -> World:
        folders.append(Path(tempfile.mkdtemp(prefix="vaultmem-world-")))
        return World(folders[-1])

    yield make
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """What `--dist worksteal` does, for whoever asked for `-n` alone.

    xdist's own choice gives each worker an eighth of the suite beforehand: the one with the cases' processes was at
    it for minutes after the other had nothing left to do.
    """
    if config.getvalue("dist") != "load":
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)
