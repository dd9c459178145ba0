"""The worker as a user's service: what is printed, written and run."""

from __future__ import annotations

import contextlib
import io
import os
import plistlib
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from vaultmem.config import Config, EngineChoice
from vaultmem.engine.engine import Engine
from vaultmem.errors import EngineError, UsageError
from vaultmem.install.service import run_service
from vaultmem.worker.server import Worker


class FakeManager:
    def __init__(self, code: int = 0) -> None:
        self.code = code
        self.ran: list[str] = []

    def __call__(self, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        self.ran.append(shlex.join(words))
        return subprocess.CompletedProcess(list(words), self.code, "", "Failed to connect to bus")


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(tmp_path / "100% Vault" / "March Memories", tmp_path / "state" / "march-memories-1a2b")


def run(action: str, config: Config, home: Path, **options: Any) -> tuple[int, str]:
    stdout = io.StringIO()
    standard = {"platform": "linux", "home": home, "environ": {}}
    code = run_service(action, config, stdout, **{**standard, **options})
    return code, stdout.getvalue()


def test_a_dry_run_prints_the_unit_and_the_commands_and_touches_nothing(
    config: Config, tmp_path: Path
) -> None:
    manager = FakeManager()
    code, text = run("install", config, tmp_path, dry_run=True, execute=manager)
    assert code == 0 and manager.ran == [] and not (tmp_path / ".config").exists()
    assert f'"--root" "{str(config.root).replace("%", "%%")}"' in text
    assert '"watch"' in text and "systemctl --user enable vaultmem-march-memories-1a2b.service" in text


def test_installing_writes_the_unit_and_starts_it_and_uninstalling_undoes_that(
    config: Config, tmp_path: Path
) -> None:
    manager = FakeManager()
    run("install", config, tmp_path, execute=manager)
    unit = tmp_path / ".config" / "systemd" / "user" / "vaultmem-march-memories-1a2b.service"
    assert "ExecStart=" in unit.read_text()
    assert manager.ran[-1] == f"systemctl --user restart {unit.name}"
    run("uninstall", config, tmp_path, execute=manager)
    assert not unit.exists()
    assert manager.ran[-2:] == [
        f"systemctl --user disable --now {unit.name}",
        "systemctl --user daemon-reload",
    ]
    assert "there is no" in run("uninstall", config, tmp_path, execute=manager)[1]


NO_BUS = FakeManager(1)
UNIT = Path("systemd", "user", "vaultmem-march-memories-1a2b.service")


def no_manager(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    raise FileNotFoundError(2, "No such file or directory", words[0])


@pytest.mark.parametrize("manager", [NO_BUS, no_manager])
def test_what_was_installed_without_a_manager_is_uninstalled_without_one(
    config: Config, tmp_path: Path, manager: Any
) -> None:
    with pytest.raises(EngineError, match="is written, but"):
        run("install", config, tmp_path, execute=manager)
    unit = tmp_path / ".config" / UNIT
    link = unit.parent / "default.target.wants" / unit.name
    link.parent.mkdir()
    link.symlink_to(unit)
    code, text = run("uninstall", config, tmp_path, execute=manager)
    assert code == 0 and not unit.exists() and not link.is_symlink()
    assert text.startswith(f"removed {unit}\n") and "no worker answers" in text
    assert "there is no" in run("uninstall", config, tmp_path, execute=manager)[1]


def test_a_worker_that_the_manager_did_not_stop_is_named(tmp_path: Path, runtime_dir: Path) -> None:
    config = Config(tmp_path / "root", tmp_path / "state", engine=EngineChoice.NONE)
    config.root.mkdir()
    with contextlib.suppress(EngineError):
        run("install", config, tmp_path, execute=NO_BUS)
    with (
        Engine.open(config=config, hold=True) as engine,
        Worker(engine, lambda *_: ""),
        pytest.raises(EngineError, match=f"pid {os.getpid()}") as failure,
    ):
        run("uninstall", config, tmp_path, execute=NO_BUS)
    assert f"kill {os.getpid()}" in failure.value.advice
    assert not list((tmp_path / ".config").rglob("*.service"))


def test_the_unit_lies_where_the_users_settings_do(config: Config, tmp_path: Path) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "settings")}
    run("install", config, tmp_path, environ=environ, execute=FakeManager())
    assert (tmp_path / "settings" / UNIT).exists() and not (tmp_path / ".config").exists()
    assert "installed" in run("status", config, tmp_path, environ=environ)[1]
    run("uninstall", config, tmp_path, environ=environ, execute=FakeManager())
    assert not (tmp_path / "settings" / UNIT).exists()


@pytest.mark.parametrize("value", ["", "settings"])
def test_a_settings_folder_that_is_no_full_path_counts_as_none(
    config: Config, tmp_path: Path, value: str
) -> None:
    run("install", config, tmp_path, environ={"XDG_CONFIG_HOME": value}, execute=FakeManager())
    assert (tmp_path / ".config" / UNIT).exists()


def test_a_unit_of_an_earlier_version_is_found_and_removed(config: Config, tmp_path: Path) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "settings")}
    run("install", config, tmp_path, execute=FakeManager())
    earlier = tmp_path / ".config" / UNIT
    assert f"installed ({earlier})" in run("status", config, tmp_path, environ=environ)[1]
    assert f"rm {earlier}" in run("uninstall", config, tmp_path, environ=environ, dry_run=True)[1]
    run("uninstall", config, tmp_path, environ=environ, execute=FakeManager())
    assert not earlier.exists()


def test_a_manager_that_refuses_is_told_with_what_to_do(config: Config, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="Failed to connect to bus") as failure:
        run("install", config, tmp_path, execute=FakeManager(1))
    assert "vaultmem watch" in failure.value.advice


def test_a_manager_that_is_missing_is_told(config: Config, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="systemctl"):
        run("install", config, tmp_path, execute=no_manager)


def test_status_tells_both_whether_it_is_installed_and_whether_it_answers(
    config: Config, tmp_path: Path
) -> None:
    code, text = run("status", config, tmp_path)
    assert code == 1 and "not installed" in text and "no worker answers" in text


def test_macos_gets_an_agent(config: Config, tmp_path: Path) -> None:
    manager = FakeManager()
    run("install", config, tmp_path, platform="darwin", execute=manager)
    (path,) = (tmp_path / "Library" / "LaunchAgents").iterdir()
    agent = plistlib.loads(path.read_bytes())
    assert agent["ProgramArguments"][-5:-2] == ["watch", "--root", str(config.root)]
    assert manager.ran == [f"launchctl load -w {shlex.quote(str(path))}"]


def test_other_systems_are_told_what_to_start(config: Config, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as failure:
        run("install", config, tmp_path, platform="freebsd14")
    assert "watch" in failure.value.advice


def test_an_unknown_action_is_wrong_usage(config: Config, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="restart"):
        run("restart", config, tmp_path)
