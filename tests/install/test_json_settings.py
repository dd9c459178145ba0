"""Our hooks and our server in a client's JSON: known again wherever they were moved, and no other's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.install.clients import commands, run
from vaultmem.config import Config
from vaultmem.errors import EditRefusedError


def test_a_moved_or_older_block_is_replaced_not_doubled(config: Config, home: Path) -> None:
    path = home / ".claude" / "settings.json"
    old = {"type": "command", "command": "/old/bin/vaultmem hook claude-code"}
    mine = {"type": "command", "command": "mine"}
    python = {"type": "command", "command": "python3 -m vaultmem hook claude-code --root /x"}
    path.write_text(
        json.dumps({"hooks": {"Stop": [{"hooks": [mine, old]}], "Notification": [{"hooks": [python]}]}})
    )
    run("claude-code", config, home)
    settings = json.loads(path.read_text())
    assert [command.split()[-1] for command in commands(settings, "Stop")] == ["mine", str(config.state_dir)]
    assert "Notification" not in settings["hooks"]


def test_another_clients_hook_and_other_programs_are_not_ours(config: Config, home: Path) -> None:
    path = home / ".claude" / "settings.json"
    others = [
        "vaultmem hook codex",
        "echo vaultmem hook claude-code",
        "vaultmem-x hook claude-code",
        "it's broken",
    ]
    text = json.dumps(
        {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": each} for each in others]}]}}
    )
    path.write_text(text)
    run("claude-code", config, home)
    run("claude-code", config, home, remove=True)
    assert path.read_text() == text


def test_a_server_of_the_same_name_that_is_another_program_is_left_alone(config: Config, home: Path) -> None:
    (home / ".claude.json").write_text('{"mcpServers": {"vaultmem": {"command": "docker", "args": ["run"]}}}')
    with pytest.raises(EditRefusedError, match="another program"):
        run("claude-code", config, home)


@pytest.mark.parametrize(
    "text",
    [
        '{"hooks": [1]}',
        '{"hooks": {"Stop": {}}}',
        "{ // comment\n}",
        "[]",
        '{"hooks": {"Stop": [3]}}',
        "\xff",
    ],
)
def test_settings_in_a_strange_form_are_refused_and_left(text: str, config: Config, home: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(EditRefusedError):
        run("claude-code", config, home)
    assert path.read_bytes() == text.encode("latin-1")
