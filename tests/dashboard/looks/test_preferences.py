"""What is remembered between two starts is never needed."""

from __future__ import annotations

import sys

import pytest

from tui.looks.preferences import DARK, LIGHT, Preferences, default_preferences, theme_for_terminal


def test_a_theme_is_remembered_in_a_folder_that_is_made_for_it(tmp_path):
    preferences = Preferences(tmp_path / "new" / "tui.json")
    assert preferences.theme() is None
    preferences.remember_theme("nord")
    assert preferences.theme() == "nord"


@pytest.mark.parametrize("stored", [b"", b"[]", b"{", b'{"theme": 3}', b"{}", b"\xff"])
def test_a_file_that_says_nothing_is_as_good_as_none(tmp_path, stored):
    (tmp_path / "tui.json").write_bytes(stored)
    assert Preferences(tmp_path / "tui.json").theme() is None


def test_a_file_that_cannot_be_written_breaks_nothing(tmp_path):
    (tmp_path / "folder").write_bytes(b"")
    preferences = Preferences(tmp_path / "folder" / "tui.json")
    preferences.remember_theme("nord")
    assert preferences.theme() is None


def test_the_file_lies_in_the_state_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert default_preferences().file == tmp_path / "vaultmem" / "tui.json"


@pytest.mark.parametrize(
    ("environ", "theme"),
    [
        ({}, DARK),
        ({"COLORFGBG": "15;0"}, DARK),
        ({"COLORFGBG": "0;15"}, LIGHT),
        ({"COLORFGBG": "0;default;7"}, LIGHT),
    ],
)
def test_a_terminal_that_says_that_it_is_light_gets_the_light_theme(environ, theme):
    assert theme_for_terminal(environ) == theme


def test_a_link_in_its_place_is_not_written_through(tmp_path):
    outside, file = tmp_path / "outside", tmp_path / "tui.json"
    outside.write_bytes(b"mine")
    file.symlink_to(outside)
    Preferences(file).remember_theme(DARK)
    assert outside.read_bytes() == b"mine"
