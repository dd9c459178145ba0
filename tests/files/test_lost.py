"""Lost versions: where they are kept, and that they are read back with the name of their note."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.files.disk import put
from vaultmem.files import beneath, lost


def keep(root: Path, name: str, data: bytes = b"saved") -> str:
    (root / ".vaultmem-x.old").write_bytes(data)
    with beneath.folder(root) as folder:
        return lost.keep(root, folder, ".vaultmem-x.old", name)


def test_a_version_is_kept_for_this_user_alone_and_read_back(root: Path) -> None:
    place = keep(root, "缓存.md")
    file = root / place
    assert place.startswith(".vaultmem/lost/") and place.endswith("Z-缓存.md")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {stat.S_IMODE((root / folder).stat().st_mode) for folder in (".vaultmem", ".vaultmem/lost")} == {
        0o700
    }
    (found,) = lost.lost_versions(root)
    assert (found.place, found.name, found.data) == (place, "缓存.md", b"saved")
    assert os.listdir(root) == [".vaultmem"]


def test_it_stays_the_file_into_which_somebody_still_writes(root: Path) -> None:
    (root / ".vaultmem-x.old").write_bytes(b"old")
    with (root / ".vaultmem-x.old").open("ab", buffering=0) as editor, beneath.folder(root) as folder:
        place = lost.keep(root, folder, ".vaultmem-x.old", "n.md")
        editor.write(b" and late")
    assert (root / place).read_bytes() == b"old and late"


def test_versions_of_one_instant_and_names_of_any_length_have_room(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lost, "utc_text", lambda _: "2026-05-14T12:00:00.000Z")
    places = [keep(root, "n.md", data) for data in (b"1", b"2")]
    assert [Path(place).name for place in places] == [
        "2026-05-14T120000.000Z-n.md",
        "2026-05-14T120000.000Z-n-2.md",
    ]
    long = "缓" * 84 + ".md"
    assert (root / keep(root, long)).read_bytes() == b"saved"
    assert [version.data for version in lost.lost_versions(root)][:2] == [b"2", b"1"]


def test_what_is_no_lost_version_is_not_read(root: Path, tmp_path: Path) -> None:
    put(tmp_path, "outside.md", "secret")
    put(root, ".vaultmem/lost/readme.md", "text")
    (root / ".vaultmem/lost/2026-05-14T120000.000Z-n.md").symlink_to(tmp_path / "outside.md")
    os.mkfifo(root / ".vaultmem/lost/2026-05-14T120000.000Z-m.md")
    assert list(lost.lost_versions(root)) == []
    assert list(lost.lost_versions(tmp_path / "gone")) == []


@pytest.mark.parametrize("place", [".vaultmem", ".vaultmem/lost"])
def test_nothing_is_kept_behind_a_link(root: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / "outside").mkdir()
    (root / place).parent.mkdir(exist_ok=True)
    (root / place).symlink_to(tmp_path / "outside")
    with pytest.raises(beneath.LinkOnTheWayError):
        keep(root, "n.md")
    assert os.listdir(tmp_path / "outside") == [] and (root / ".vaultmem-x.old").read_bytes() == b"saved"
