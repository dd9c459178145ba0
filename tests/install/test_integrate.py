"""Writing into the clients' configuration: our block and nothing else, again and again, and out again."""

from __future__ import annotations

import io
import json
import os
import shlex
import tomllib
from pathlib import Path

import pytest

from tests.install.clients import CODEX, SETTINGS, STATE, commands, files, run
from vaultmem.config import Config
from vaultmem.errors import EditRefusedError, UsageError
from vaultmem.hooks.entry import places_and_client
from vaultmem.install.integrate import BACKUP_SUFFIX, run_integrate
from vaultmem.install.invocation import HOOK_EVENTS


def test_claude_code_gets_its_hooks_and_the_server(config: Config, home: Path) -> None:
    (home / ".claude" / "settings.json").write_text(SETTINGS)
    (home / ".claude.json").write_text(STATE)
    run("claude-code", config, home)
    settings = json.loads((home / ".claude" / "settings.json").read_text())
    for event in HOOK_EVENTS:
        words = shlex.split(commands(settings, event)[-1])
        assert words[-6:-4] == ["hook", "claude-code"]
        assert words[-4:] == ["--root", str(config.root), "--state-dir", str(config.state_dir)]
        assert Path(words[0]).is_absolute()
    assert commands(settings, "PostToolUse")[0] == "ruff format"
    server = json.loads((home / ".claude.json").read_text())["mcpServers"]["vaultmem"]
    assert server["args"][-5:] == ["mcp", *words[-4:]]


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_a_second_time_changes_nothing_and_removing_restores_every_byte(
    client: str, config: Config, home: Path
) -> None:
    (home / ".claude" / "settings.json").write_text(SETTINGS)
    (home / ".claude.json").write_text(STATE)
    (home / ".codex" / "config.toml").write_text(CODEX)
    before = files(home)
    run(client, config, home)
    written = files(home)
    assert written != before
    assert "nothing to change" in run(client, config, home)
    assert files(home) == written
    run(client, config, home, remove=True)
    assert files(home) == before
    assert "nothing to remove" in run(client, config, home, remove=True)


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_a_fresh_client_gets_new_private_files(client: str, config: Config, home: Path) -> None:
    run(client, config, home)
    for name in files(home):
        assert (home / name).stat().st_mode & 0o077 == 0
    run(client, config, home, remove=True)
    assert {data.strip() for data in files(home).values()} <= {b"{}", b""}


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_a_dry_run_shows_the_difference_and_writes_nothing(client: str, config: Config, home: Path) -> None:
    (home / ".claude" / "settings.json").write_text(SETTINGS)
    (home / ".codex" / "config.toml").write_text(CODEX)
    before = files(home)
    text = run(client, config, home, dry_run=True)
    assert "+" in text and "hook" in text and "mcp" in text
    assert files(home) == before


def test_codex_hooks_go_where_the_users_hooks_are(config: Config, home: Path) -> None:
    (home / ".codex" / "hooks.json").write_text('{"hooks": {"Stop": [{"hooks": []}]}}')
    before = files(home)
    run("codex", config, home)
    assert "hooks" not in tomllib.loads((home / ".codex" / "config.toml").read_text())
    assert " hook codex " in commands(json.loads((home / ".codex" / "hooks.json").read_text()), "Stop")[0]
    run("codex", config, home, remove=True)
    assert files(home)[".codex/hooks.json"] == before[".codex/hooks.json"]


def test_the_backup_is_what_stood_there_before_and_files_of_our_own_go(config: Config, home: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.write_text('{"theme": "dark"}')
    for _ in range(2):
        run("claude-code", config, home)
        run("claude-code", config, home, remove=True)
    assert path.read_text() == '{"theme": "dark"}'
    assert path.with_name(path.name + BACKUP_SUFFIX).read_text() == '{"theme": "dark"}'
    assert not (home / ".claude.json").exists() and not list(home.glob(".claude.json*"))


def test_a_link_into_dotfiles_stays_a_link_and_a_backup_lies_beside_the_file(
    config: Config, home: Path
) -> None:
    target = home / "dotfiles" / "settings.json"
    target.parent.mkdir()
    target.write_text(SETTINGS)
    (home / ".claude" / "settings.json").symlink_to(target)
    run("claude-code", config, home)
    assert (home / ".claude" / "settings.json").is_symlink() and "vaultmem" in target.read_text()
    assert target.with_name("settings.json" + BACKUP_SUFFIX).read_text() == SETTINGS


def test_other_folders_are_honoured(config: Config, home: Path, tmp_path: Path) -> None:
    environ = {"CLAUDE_CONFIG_DIR": str(tmp_path / "cc"), "CODEX_HOME": str(tmp_path / "cx")}
    for client in ("claude-code", "codex"):
        run_integrate(client, config, io.StringIO(), environ=environ, home=home)
    assert files(home) == {}
    assert (tmp_path / "cc" / "settings.json").exists() and (tmp_path / "cc" / ".claude.json").exists()
    assert (tmp_path / "cx" / "config.toml").exists()


def test_generic_prints_and_writes_nothing(config: Config, home: Path) -> None:
    text = run("generic", config, home)
    assert '"mcpServers"' in text and "http://127.0.0.1:8765/mcp" in text and str(config.root) in text
    assert files(home) == {}


def test_a_device_or_a_pipe_in_the_place_of_a_clients_file_is_refused(config: Config, home: Path) -> None:
    (home / ".claude" / "settings.json").symlink_to("/dev/zero")
    with pytest.raises(EditRefusedError, match="device"):
        run("claude-code", config, home)
    os.mkfifo(home / ".codex" / "config.toml")
    with pytest.raises(EditRefusedError, match="pipe"):
        run("codex", config, home)


def test_an_unknown_client_is_wrong_usage(config: Config, home: Path) -> None:
    with pytest.raises(UsageError, match="no client 'emacs'"):
        run("emacs", config, home)


def test_a_projects_files_and_environment_cannot_redirect_what_was_integrated(
    config: Config, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("claude-code", config, home)
    settings = json.loads((home / ".claude" / "settings.json").read_text())
    project = tmp_path / "project"
    for name in ("config.toml", "vaultmem.toml", ".vaultmem/config.toml", ".env", "pyproject.toml"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text('memory_root = "/evil"\n[embedding]\nengine = "sentence-transformers"\n')
    monkeypatch.chdir(project)
    words = shlex.split(commands(settings, "UserPromptSubmit")[0])
    named, client = places_and_client(words[words.index("hook") + 1 :])
    environ = {"MARCH_MEMORY_ROOT": "/evil", "VAULTMEM_STATE_DIR": "/evil", "HOME": str(home)}
    loaded = Config.load(root=named["--root"], state_dir=named["--state-dir"], environ=environ)
    assert (client, loaded.root, loaded.state_dir) == ("claude-code", config.root, config.state_dir)
    assert loaded.engine == "auto" and loaded.config_file is None
