"""Our block in Codex's config.toml: at its end, once, and out again; what is in the way is refused."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.install.clients import CODEX, run
from vaultmem.config import Config
from vaultmem.errors import EditRefusedError
from vaultmem.install.invocation import HOOK_EVENTS


def test_codex_gets_one_block_at_the_end(config: Config, home: Path) -> None:
    path = home / ".codex" / "config.toml"
    path.write_text(CODEX)
    run("codex", config, home)
    text = path.read_text()
    assert text.startswith(CODEX)
    parsed = tomllib.loads(text)
    assert parsed["mcp_servers"]["vaultmem"]["args"][0] in ("mcp", "-m")
    assert [len(parsed["hooks"][event]) for event in HOOK_EVENTS] == [1, 1, 1, 2]
    hook = parsed["hooks"]["UserPromptSubmit"][0]["hooks"][0]
    assert hook["type"] == "command" and " hook codex " in hook["command"] and hook["timeout"] == 5


@pytest.mark.parametrize("text", ["a = ", "[mcp_servers]\nvaultmem = { command = 'x' }\n", "hooks = 3\n"])
def test_codex_settings_in_the_way_are_refused_and_left(text: str, config: Config, home: Path) -> None:
    path = home / ".codex" / "config.toml"
    path.write_text(text)
    with pytest.raises(EditRefusedError):
        run("codex", config, home)
    assert path.read_text() == text


def test_windows_line_ends_and_a_missing_last_one_survive(config: Config, home: Path) -> None:
    path = home / ".codex" / "config.toml"
    for text in ('a = 1\r\nb = "x"\r\n', "a = 1", "", "\n\n", "a = 1\n\n"):
        path.write_bytes(text.encode())
        run("codex", config, home)
        run("codex", config, home, remove=True)
        assert path.read_bytes().decode().rstrip("\r\n") == text.rstrip("\r\n")


def test_what_comes_after_our_block_stays(config: Config, home: Path) -> None:
    path = home / ".codex" / "config.toml"
    run("codex", config, home)
    path.write_text(path.read_text() + "\n[added.later]\nx = 1\n")
    run("codex", config, home, remove=True)
    assert path.read_text() == "\n[added.later]\nx = 1\n"
