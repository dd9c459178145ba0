"""What leaves the dashboard: the command of an editor, the link to Obsidian."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.notifications import Notify

from tests.dashboard.stage import Stage
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


async def test_a_copied_text_is_told_by_its_beginning_and_nothing_is_not_copied():
    stage = Stage()
    async with stage.run_test():
        leave.copy(stage, "[b]\n" + "x" * 200, "hint lines")
        leave.copy(stage, "", "id")
        assert stage.clipboard == "[b]\n" + "x" * 200
    (said,) = stage.told(Notify)
    assert said.notification.message == "Copied the hint lines: [b] " + "x" * 76 + "…"


async def test_without_an_editor_and_without_a_desktop_the_person_is_told_what_to_do(monkeypatch):
    monkeypatch.setattr(leave, "editor_command", lambda path, line: ())
    monkeypatch.setattr(leave, "open_link", lambda link: False)
    stage = Stage()
    async with stage.run_test():
        leave.open_in_editor(stage, NOTE, None)
        leave.open_in_obsidian(stage, NOTE)
        assert stage.clipboard == leave.obsidian_link(NOTE)
    assert [said.notification.severity for said in stage.told(Notify)] == ["error", "warning"]
    assert "set EDITOR" in stage.told(Notify)[0].notification.message
