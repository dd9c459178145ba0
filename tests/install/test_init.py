"""The memory root in the settings: put there, and the rest left as it is."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from vaultmem.config import Config
from vaultmem.errors import RefusedError
from vaultmem.install.init import known_vaults, set_up, with_root

ROOT = Path("/notes/March Memories")
ENTRY = 'memory_root = "/notes/March Memories"'


def obsidian(folder: Path, vaults: Any) -> dict[str, str]:
    """The environment of somebody whose Obsidian remembers these."""
    linux, mac = folder / ".config/obsidian", folder / "Library/Application Support/obsidian"
    place = mac if sys.platform == "darwin" else linux
    place.mkdir(parents=True)
    (place / "obsidian.json").write_text(json.dumps({"vaults": vaults}), "utf-8")
    return {"HOME": str(folder)}


def test_the_vault_that_is_open_comes_first_then_the_one_that_was_last(tmp_path: Path) -> None:
    folders = {name: tmp_path / name for name in ("old", "new", "open")}
    for folder in folders.values():
        folder.mkdir()
    environ = obsidian(
        tmp_path / "home",
        {
            "1": {"path": str(folders["old"]), "ts": 1},
            "2": {"path": str(folders["new"]), "ts": 9},
            "3": {"path": str(folders["open"]), "ts": 5, "open": True},
            "4": {"path": str(tmp_path / "gone"), "ts": 99},
            "5": {"path": "relative", "ts": 99},
        },
    )
    assert known_vaults(environ) == (folders["open"], folders["new"], folders["old"])


@pytest.mark.parametrize("ts", ["yesterday", [1], None, float("inf"), -1])
def test_a_vault_whose_time_is_damaged_is_still_a_vault(tmp_path: Path, ts: object) -> None:
    assert known_vaults(obsidian(tmp_path, {"1": {"path": str(tmp_path), "ts": ts}})) == (tmp_path,)


@pytest.mark.parametrize("vaults", [None, 3, [], [1], {"1": 1}, {"1": {}}, {"1": {"path": "\0"}}])
def test_a_list_that_is_damaged_names_no_vault(tmp_path: Path, vaults: object) -> None:
    assert known_vaults(obsidian(tmp_path, vaults)) == ()


def test_without_obsidian_no_vault_is_known(tmp_path: Path) -> None:
    assert known_vaults({"HOME": str(tmp_path)}) == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"{ENTRY}\n"),
        (f"{ENTRY}\n", f"{ENTRY}\n"),
        (f"{ENTRY}", f"{ENTRY}"),
        ('# mine\nmemory_root = "/old"\nlimit = 3', f"# mine\n{ENTRY}\nlimit = 3"),
        ('"memory_root" = "/old"\n', f"{ENTRY}\n"),
        ("[recall]\nlimit = 7\n", f"{ENTRY}\n[recall]\nlimit = 7\n"),
        ("a = 1\r\n[recall]\r\n", f"{ENTRY}\r\na = 1\r\n[recall]\r\n"),
        ('\ufeffmemory_root = "/old"\n', f"\ufeff{ENTRY}\n"),
        ("\ufeffa = 1\n", f"\ufeff{ENTRY}\na = 1\n"),
    ],
    ids=[
        "none",
        "so already",
        "no last line end",
        "old",
        "quoted key",
        "table",
        "CRLF",
        "mark",
        "mark, none",
    ],
)
def test_the_root_is_put_into_the_settings_and_the_rest_keeps_its_bytes(before: str, after: str) -> None:
    assert with_root(before, ROOT) == after
    assert tomllib.loads(after.removeprefix("\ufeff"))["memory_root"] == str(ROOT)


@pytest.mark.parametrize(
    "text",
    [
        "=",
        "\"memory\\u005froot\" = '/old'\n",
        "a = '''\nmemory_root = 1\n'''\n",
        f"a = '''\nmemory_root = 1\n'''\n{ENTRY}\n",
    ],
    ids=["no TOML", "escaped key", "within a text", "within a text as well"],
)
def test_what_cannot_be_proven_is_refused(text: str) -> None:
    with pytest.raises(RefusedError) as refused:
        with_root(text, ROOT)
    assert ENTRY in refused.value.advice


def test_a_settings_file_that_is_a_link_into_dotfiles_stays_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dotfile, link = tmp_path / "dotfiles.toml", tmp_path / "config.toml"
    dotfile.write_text("watch.debounce_ms = 1\n")
    dotfile.chmod(0o640)
    link.symlink_to(dotfile)
    monkeypatch.setenv("VAULTMEM_CONFIG", str(link))
    for name in ("MARCH_MEMORY_ROOT", "VAULTMEM_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)
    made = set_up(vault=None, root=str(tmp_path / "root"))
    assert made.created == ("root", "config") and link.is_symlink()
    assert dotfile.stat().st_mode & 0o777 == 0o640
    assert Config.load().root == tmp_path / "root" and Config.load().debounce_ms == 1
    assert set_up(vault=None, root=str(tmp_path / "root")).created == ()
