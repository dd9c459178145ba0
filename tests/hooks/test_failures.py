"""`hook.log`: one line a failure, kept short, and never a failure of its own."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from vaultmem.errors import EngineError
from vaultmem.hooks import failures
from vaultmem.hooks.failures import LOG_FILE, LOG_LIMIT_BYTES, log_failure


def log(state_dir: Path) -> list[str]:
    return (state_dir / "hook.log").read_text("utf-8").splitlines()


def test_a_line_says_when_who_what_and_why(tmp_path: Path) -> None:
    log_failure(tmp_path, "codex", "Stop", EngineError("no engine"))
    log_failure(tmp_path, "claude-code", "?", KeyError("x"))
    first, second = log(tmp_path)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ codex Stop no engine", first)
    assert second.endswith(" claude-code ? KeyError: 'x'"), "an error that was not expected is named"


def test_whatever_a_client_calls_itself_and_an_error_says_is_one_short_harmless_line(tmp_path: Path) -> None:
    log_failure(tmp_path, "a\nb", "\x1b[31mStop\r\n", ValueError("x\n" * 5000 + "\ud800"))
    (line,) = log(tmp_path)
    assert "\x1b" not in line and "\r" not in line and len(line) < 400


def test_the_log_is_kept_short(tmp_path: Path) -> None:
    state_dir = tmp_path / "state"
    state_dir.mkdir()
    (state_dir / "hook.log").write_text("x" * (LOG_LIMIT_BYTES + 1))
    log_failure(state_dir, "claude-code", "Stop", ValueError("y"))
    assert len(log(state_dir)) == 1 and (state_dir / "hook.log.1").exists()


def test_the_log_is_the_users_alone(tmp_path: Path) -> None:
    state_dir = tmp_path / "state"
    log_failure(state_dir, "claude-code", "Stop", ValueError("y"))
    assert stat.S_IMODE(state_dir.stat().st_mode) == 0o700
    assert stat.S_IMODE((state_dir / "hook.log").stat().st_mode) == 0o600


def test_where_the_settings_are_the_trouble_it_lies_where_they_do_not_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "_fallback_folder", lambda: tmp_path)
    log_failure(None, "codex", "?", EngineError("config.toml"))
    assert len(log(tmp_path)) == 1


def test_a_log_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    log_failure(tmp_path / "file" / "state", "claude-code", "Stop", ValueError("y"))


def test_a_link_in_its_place_is_not_written_through(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"x" * (LOG_LIMIT_BYTES + 1))
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (state / LOG_FILE).symlink_to(outside)
    log_failure(state, "c", "e", ValueError("v"))
    assert outside.stat().st_size == LOG_LIMIT_BYTES + 1
