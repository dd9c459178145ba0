"""The token of this user's servers: made once, and neither told to nor taken from anybody else."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from vaultmem.install.token import kept_token, token_file


def test_it_is_made_once_and_is_the_users_alone(tmp_path: Path) -> None:
    state_dir = tmp_path / "state"
    token = kept_token(state_dir)
    assert len(token) >= 40 and kept_token(state_dir) == token
    assert token_file(state_dir).read_text() == token + "\n"
    assert stat.S_IMODE(token_file(state_dir).stat().st_mode) == 0o600
    assert kept_token(tmp_path / "other") != token


def test_whoever_asks_at_once_gets_the_same(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: kept_token(tmp_path / "state"), range(32)))) == 1


@pytest.mark.parametrize("left", ["", "half", "x" * 60, "\xff\xfe"])
def test_what_is_no_whole_token_is_made_anew(tmp_path: Path, left: str) -> None:
    token_file(tmp_path).write_text(left, "latin-1")
    token = kept_token(tmp_path)
    assert len(token) == 43 and token_file(tmp_path).read_text() == token + "\n"


def test_one_that_others_could_read_is_closed(tmp_path: Path) -> None:
    token = kept_token(tmp_path)
    token_file(tmp_path).chmod(0o644)
    assert kept_token(tmp_path) == token
    assert stat.S_IMODE(token_file(tmp_path).stat().st_mode) == 0o600


def test_a_link_a_folder_or_a_pipe_in_its_place_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    token_file(tmp_path).symlink_to(outside)
    with pytest.raises(OSError, match="symbolic link"):
        kept_token(tmp_path)
    assert not outside.exists()
    token_file(tmp_path).unlink()
    token_file(tmp_path).mkdir()
    with pytest.raises(OSError, match="directory"):
        kept_token(tmp_path)
    token_file(tmp_path).rmdir()
    os.mkfifo(token_file(tmp_path))
    with pytest.raises(OSError, match="no file of this user"):
        kept_token(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_somebody_elses_is_refused(tmp_path: Path) -> None:
    kept_token(tmp_path)
    os.chown(token_file(tmp_path), 65534, 65534)
    with pytest.raises(PermissionError, match="no file of this user"):
        kept_token(tmp_path)
