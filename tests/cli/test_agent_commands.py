"""The commands of the agent's side: the words they take, and what each is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from vaultmem.config import Config
from vaultmem.hooks import entry
from vaultmem.mcp_server import server


@pytest.mark.parametrize(("words", "port"), [((), None), (("--http", "0"), 0), (("--http", "65535"), 65_535)])
def test_mcp_serves_over_stdio_or_the_port_that_is_named(shell, monkeypatch, words, port):
    told: list[Any] = []
    monkeypatch.setattr(server, "run_mcp", lambda config, http_port: told.extend((config, http_port)) or 0)
    assert shell("mcp", *words).code == 0
    assert isinstance(told[0], Config) and (told[0].root, told[1]) == (shell.root, port)


@pytest.mark.parametrize("port", ["65536", "-1", "abc", "80.5", "9" * 5000, "٨٠"])
def test_what_is_no_port_is_wrong_usage(shell, port):
    answer = shell("mcp", f"--http={port}")
    assert answer.code == 2 and f"{port!r} is not a port: 0 to 65535" in answer.complaint
    assert "_port" not in answer.complaint


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("hook", "codex"), ["codex"]),
        (("--root", "/a b", "hook", "codex"), ["codex", "--root=/a b"]),
        (("hook", "x", "--state-dir", "/s", "--root", "/r"), ["x", "--root=/r", "--state-dir=/s"]),
    ],
)
def test_a_hook_is_told_its_client_and_the_places_wherever_they_stood(shell, monkeypatch, words, told):
    heard: list[str] = []
    monkeypatch.setattr(entry, "run_hook", lambda words: heard.extend(words) or 0)
    assert shell(*words).code == 0 and heard == told


def test_integrate_shows_what_it_would_write_writes_it_and_takes_it_out(shell):
    (shell.home / ".claude").mkdir()
    settings = shell.home / ".claude" / "settings.json"
    assert "+" in shell("integrate", "claude-code", "--dry-run").out and not settings.exists()
    assert shell("integrate", "claude-code").code == 0
    assert "UserPromptSubmit" in json.loads(settings.read_text())["hooks"]
    assert shell("integrate", "claude-code", "--remove").code == 0
    assert not settings.exists()


def test_integrate_that_is_refused_for_one_file_writes_neither(shell):
    (shell.home / ".claude").mkdir()
    (shell.home / ".claude.json").write_text("[]")
    answer = shell("integrate", "claude-code")
    assert answer.code == 1 and ".claude.json" in answer.err and answer.out == ""
    assert list((shell.home / ".claude").iterdir()) == []


@pytest.mark.parametrize("words", [("integrate", "emacs"), ("integrate",), ("service", "restart"), ("hook",)])
def test_a_word_that_nobody_knows_is_wrong_usage(shell, words):
    assert shell(*words).code == 2


def test_the_service_is_not_there_and_nobody_answers(shell):
    answer = shell("service", "status")
    assert answer.code == 1 and "not installed" in answer.out and "no worker answers" in answer.out


def test_the_service_is_shown_before_it_is_installed(shell):
    answer = shell("service", "install", "--dry-run")
    assert answer.code == 0 and str(shell.root) in answer.out
    assert not (shell.home / ".config" / "systemd").exists()


def test_the_profiles_are_made_and_shown(shell, tmp_path, monkeypatch):
    monkeypatch.setenv("VAULTMEM_PROFILES_DIR", str(tmp_path / "profiles"))
    answer = shell("profile")
    assert answer.code == 0 and "# Agent profile" in answer.out and answer.err.count("fill in") == 2
    (tmp_path / "profiles" / "user.md").write_text("Speaks 中文.\n")
    assert [(each["name"], each["text"]) for each in shell.json("profile")][1] == ("user", "Speaks 中文.\n")
