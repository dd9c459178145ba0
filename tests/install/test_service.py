"""The worker as a user's service: what is printed, written and run."""

from __future__ import annotations

import io
import os
import plistlib
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.worker.served import FakeEngine, serving
from vaultmem.config import Config
from vaultmem.errors import EngineError, UsageError
from vaultmem.install.service import run_service


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
    usual = {"platform": "linux", "home": home, "environ": {}}
    code = run_service(action, config, stdout, **{**usual, **options})
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


def test_a_manager_that_refuses_is_told_with_what_to_do(config: Config, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="Failed to connect to bus") as failure:
        run("install", config, tmp_path, execute=FakeManager(1))
    assert "vaultmem watch" in failure.value.advice


def test_a_manager_that_is_missing_is_told(config: Config, tmp_path: Path) -> None:
    def missing(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        raise FileNotFoundError(2, "No such file or directory", words[0])

    with pytest.raises(EngineError, match="systemctl"):
        run("install", config, tmp_path, execute=missing)


NAME = "vaultmem-march-memories-1a2b.service"


def files(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() or path.is_symlink()
    )


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_without_a_manager_to_ask_uninstalling_removes_what_installing_wrote(
    config: Config, tmp_path: Path, platform: str
) -> None:
    with pytest.raises(EngineError):
        run("install", config, tmp_path, platform=platform, execute=FakeManager(1))
    (written,) = files(tmp_path)
    code, text = run("uninstall", config, tmp_path, platform=platform, execute=FakeManager(1))
    assert code == 0 and files(tmp_path) == []
    assert (
        str(tmp_path / written) in text and "nothing was" not in text and "Failed to connect to bus" in text
    )
    assert "there is no" in run("uninstall", config, tmp_path, platform=platform, execute=FakeManager(1))[1]


def test_the_managers_own_link_goes_as_well_where_it_cannot_be_told(config: Config, tmp_path: Path) -> None:
    run("install", config, tmp_path, execute=FakeManager())
    place = tmp_path / ".config" / "systemd" / "user"
    (place / "default.target.wants").mkdir()
    (place / "default.target.wants" / NAME).symlink_to(place / NAME)
    run("uninstall", config, tmp_path, execute=FakeManager(1))
    assert files(tmp_path) == []


def test_a_manager_that_answers_and_refuses_to_stop_it_leaves_everything(
    config: Config, tmp_path: Path
) -> None:
    def refusing(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(list(words), int("disable" in words), "", "not allowed")

    run("install", config, tmp_path, execute=FakeManager())
    with pytest.raises(EngineError, match="not allowed"):
        run("uninstall", config, tmp_path, execute=refusing)
    assert [Path(path).name for path in files(tmp_path)] == [NAME]


def test_a_worker_that_still_runs_is_named_with_what_ends_it(
    config: Config, tmp_path: Path, runtime_dir: Path
) -> None:
    run("install", config, tmp_path, execute=FakeManager())
    engine = FakeEngine(config.root, config.state_dir)
    with serving(engine):
        text = run("uninstall", config, tmp_path, execute=FakeManager(1))[1]
    assert f"`kill {os.getpid()}` ends it" in text


def test_the_unit_lies_where_the_users_settings_do(config: Config, tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", {"XDG_CONFIG_HOME": str(tmp_path / "settings")}
    run("install", config, home, execute=FakeManager(), environ=elsewhere)
    assert files(tmp_path) == [f"settings/systemd/user/{NAME}"]
    assert str(tmp_path / "settings") in run("status", config, home, environ=elsewhere)[1]
    run("install", config, home, execute=FakeManager())  # as an earlier version did, whatever was set
    run("uninstall", config, home, execute=FakeManager(), environ=elsewhere)
    assert files(tmp_path) == []
    run("install", config, home, execute=FakeManager(), environ={"XDG_CONFIG_HOME": "relative"})
    assert files(tmp_path) == [f"home/.config/systemd/user/{NAME}"]


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
