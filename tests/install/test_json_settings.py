"""Our hooks and our server in a client's JSON: known again wherever they were moved, and no other's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.install.clients import commands, run
from vaultmem.clients import Client
from vaultmem.config import Config
from vaultmem.errors import EditRefusedError
from vaultmem.install.invocation import HOOK_EVENTS
from vaultmem.install.json_settings import Hook, hook_of, server_of, with_hooks, with_server


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


HOOK = Hook(Client.CODEX, "/bin/vaultmem hook codex --root /x")
NO_HOOK = Hook(Client.CODEX, None)
HANDLERS = st.sampled_from(["ruff format", "vaultmem hook claude-code", "echo 'half a quote"]).map(
    lambda command: {"type": "command", "command": command}
)
GROUPS = st.lists(
    st.fixed_dictionaries({"hooks": st.lists(HANDLERS, min_size=1, max_size=3)}), min_size=1, max_size=3
)
SETTINGS = st.fixed_dictionaries(
    {"model": st.text(max_size=5)},
    optional={"hooks": st.dictionaries(st.sampled_from([*HOOK_EVENTS, "Notification"]), GROUPS, min_size=1)},
)
"""Settings with hooks of others."""


@given(SETTINGS, st.sampled_from([None, 2, "\t"]))
def test_our_hooks_go_in_once_and_out_again_and_others_stay_as_they_are(
    settings: dict[str, Any], indent: int | str | None
) -> None:
    text = json.dumps(settings, indent=indent)
    written = with_hooks(text, HOOK)
    assert written is not None and with_hooks(written, HOOK) == written
    hooks = json.loads(written)["hooks"]
    assert all(commands({"hooks": hooks}, event).count(str(HOOK.command)) == 1 for event in HOOK_EVENTS)
    assert json.loads(with_hooks(written, NO_HOOK) or "") == settings
    assert with_hooks(text, NO_HOOK) == text


@pytest.mark.parametrize("edited", [with_hooks(None, NO_HOOK), with_server(None, None)])
def test_without_a_file_there_is_nothing_to_take_out(edited: str | None) -> None:
    assert edited is None


def test_an_empty_file_gets_our_part_alone(config: Config) -> None:
    server = server_of(config, remove=False)
    assert json.loads(with_server(" \n", server) or "") == {"mcpServers": {"vaultmem": server}}
    hook = hook_of(Client.CLAUDE_CODE, config, remove=False)
    assert set(json.loads(with_hooks("", hook) or "")["hooks"]) == set(HOOK_EVENTS)


def test_our_server_is_replaced_beside_others_and_taken_out_alone(config: Config) -> None:
    other = {"command": "other"}
    old = {"command": "/old/vaultmem", "args": ["mcp"]}
    text = json.dumps({"mcpServers": {"vaultmem": old, "other": other}, "x": 1})
    server = server_of(config, remove=False)
    written = with_server(text, server)
    assert json.loads(written or "") == {"mcpServers": {"other": other, "vaultmem": server}, "x": 1}
    assert with_server(written, server) == written
    assert json.loads(with_server(written, None) or "") == {"mcpServers": {"other": other}, "x": 1}
