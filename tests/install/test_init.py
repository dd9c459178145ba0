"""The memory root in the settings: put there, and the rest left as it is."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from vaultmem.config import Config
from vaultmem.errors import RefusedError
from vaultmem.install.init import set_up, with_root

ROOT = Path("/notes/March Memories")
ENTRY = 'memory_root = "/notes/March Memories"'


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
