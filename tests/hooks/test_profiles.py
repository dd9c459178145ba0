"""Profiles: made when missing, cut with a warning, harmless."""

from __future__ import annotations

import io
import json
import os
import stat
from pathlib import Path

import pytest

from vaultmem.config import Config
from vaultmem.hooks.profiles import (
    LIMIT,
    TEMPLATES,
    characters,
    profiles_block,
    read_profiles,
    run_profile,
    utf8_bytes,
)


def test_missing_profiles_are_made_from_short_templates_for_the_user_alone(tmp_path: Path) -> None:
    folder = tmp_path / ".march" / "memory" / "profiles"
    agent, user = read_profiles(folder)
    assert (folder / "agent.md").read_text() == TEMPLATES["agent"]
    assert (folder / "user.md").read_text() == TEMPLATES["user"]
    assert stat.S_IMODE((folder / "user.md").stat().st_mode) == 0o600
    assert (agent.warning, user.warning) == ("", "")


def test_an_untouched_template_reaches_no_agent(tmp_path: Path) -> None:
    assert profiles_block(read_profiles(tmp_path)) == ""
    stderr = io.StringIO()
    run_profile(Config(tmp_path, tmp_path, profiles_dir=tmp_path), io.StringIO(), stderr)
    assert stderr.getvalue().count("fill in") == 2


def test_existing_profiles_are_left_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "user.md").write_bytes("\ufeff我喜欢简短的回答。\r\n".encode())
    _, user = read_profiles(tmp_path)
    assert user.text == "我喜欢简短的回答。\n"
    assert (tmp_path / "user.md").read_bytes().startswith(b"\xef\xbb\xbf")


def test_the_block_has_the_designs_labels_in_order(tmp_path: Path) -> None:
    (tmp_path / "agent.md").write_text("Be brief.\n")
    (tmp_path / "user.md").write_text("Speaks 中文.\n")
    assert (
        profiles_block(read_profiles(tmp_path))
        == "[agent_profile]\nBe brief.\n\n[user_profile]\nSpeaks 中文."
    )


@pytest.mark.parametrize("measure", [characters, utf8_bytes])
def test_a_long_profile_is_cut_and_says_so(tmp_path: Path, measure: object) -> None:
    (tmp_path / "user.md").write_text("一条关于我的事实。\n" * 2000)
    _, user = read_profiles(tmp_path, measure)  # type: ignore[arg-type]
    assert user.is_cut and str(tmp_path / "user.md") in user.warning
    assert user.text.endswith("。\n…")
    size = measure(user.text)  # type: ignore[operator]
    assert LIMIT - 60 < size <= LIMIT


def test_one_endless_line_is_cut_as_well(tmp_path: Path) -> None:
    (tmp_path / "user.md").write_text("x" * 3_000_000)
    _, user = read_profiles(tmp_path)
    assert len(user.text) <= LIMIT and user.is_cut


def test_control_characters_do_not_reach_the_agent(tmp_path: Path) -> None:
    (tmp_path / "agent.md").write_bytes(b"a\x1b[31m\x00b\xff\n\tc")
    agent, _ = read_profiles(tmp_path)
    assert agent.text == "a[31mb\ufffd\n\tc"


def test_a_folder_that_cannot_be_made_is_an_error_of_the_system(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        read_profiles(tmp_path / "file" / "profiles")


def test_the_command_shows_both_and_warns_on_stderr(tmp_path: Path) -> None:
    (tmp_path / "user.md").write_text("x" * 9000)
    stdout, stderr = io.StringIO(), io.StringIO()
    assert run_profile(Config(tmp_path, tmp_path, profiles_dir=tmp_path), stdout, stderr) == 0
    assert "[agent_profile]" in stdout.getvalue() and "[user_profile]" in stdout.getvalue()
    assert "user.md is longer than 4,400 (9,000)" in stderr.getvalue()
    run_profile(Config(tmp_path, tmp_path, profiles_dir=tmp_path), out := io.StringIO(), stderr, as_json=True)
    assert [row["name"] for row in json.loads(out.getvalue())] == ["agent", "user"]


def test_a_pipe_in_the_place_of_a_profile_is_an_error_and_nobody_waits(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "agent.md")
    with pytest.raises(OSError, match="pipe"):
        read_profiles(tmp_path)
