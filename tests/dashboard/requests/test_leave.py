"""What leaves the dashboard: the command of an editor, the link to Obsidian."""

from __future__ import annotations

from pathlib import Path

import pytest

from tui.requests import leave

NOTE = Path("/vault/a b.md")


@pytest.mark.parametrize(
    ("environ", "line", "command"),
    [
        ({"EDITOR": "nano"}, None, ("nano", "/vault/a b.md")),
        ({"EDITOR": "nano"}, 7, ("nano", "+7", "/vault/a b.md")),
        ({"EDITOR": "vi", "VISUAL": "hx"}, 7, ("hx", "/vault/a b.md:7")),
        ({"EDITOR": "code -n"}, 7, ("code", "-n", "--wait", "--goto", "/vault/a b.md:7")),
        ({"EDITOR": "/usr/bin/subl --wait"}, None, ("/usr/bin/subl", "--wait", "/vault/a b.md")),
    ],
)
def test_an_editor_is_called_in_its_own_way(environ, line, command):
    assert leave.editor_command(NOTE, line, environ) == command


def test_without_a_setting_the_first_editor_that_is_there_is_taken(monkeypatch):
    there = {"vim": "/bin/vim", "vi": "/bin/vi"}
    monkeypatch.setattr(leave.shutil, "which", there.get)
    assert leave.editor_command(NOTE, None, {}) == ("/bin/vim", "/vault/a b.md")
    there.clear()
    assert leave.editor_command(NOTE, None, {}) == ()


def test_the_link_names_the_note_by_its_whole_path():
    assert leave.obsidian_link(NOTE) == "obsidian://open?path=%2Fvault%2Fa%20b.md"


@pytest.mark.parametrize(
    ("platform", "environ", "opener"),
    [
        ("darwin", {}, "open"),
        ("linux", {"DISPLAY": ":0"}, "/bin/xdg-open"),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, "/bin/xdg-open"),
        ("linux", {}, None),
    ],
)
def test_a_link_goes_to_the_desktop_if_there_is_one(monkeypatch, platform, environ, opener):
    opened: list[list[str]] = []
    monkeypatch.setattr(leave.sys, "platform", platform)
    monkeypatch.setattr(leave.shutil, "which", {"xdg-open": "/bin/xdg-open"}.get)
    monkeypatch.setattr(leave.subprocess, "Popen", lambda command, **_: opened.append(command))
    assert leave.open_link("obsidian://x", environ) is (opener is not None)
    assert opened == ([[opener, "obsidian://x"]] if opener else [])


def test_an_opener_that_cannot_be_run_opened_nothing(monkeypatch):
    def fails(command: list[str], **_: object) -> None:
        raise OSError

    monkeypatch.setattr(leave.sys, "platform", "darwin")
    monkeypatch.setattr(leave.subprocess, "Popen", fails)
    assert not leave.open_link("obsidian://x", {})
