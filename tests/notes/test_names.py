"""What counts as a note, what looks like a copy of one, and what new ones are called."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.notes.reading import note
from vaultmem.notes.names import (
    is_note_name,
    is_skipped_folder,
    new_id,
    note_path,
    placeholder_of,
    sync_copy_of,
)
from vaultmem.text.visible import is_anything_seen


@given(st.text(max_size=80), st.datetimes(min_value=datetime(1970, 1, 2), max_value=datetime(2200, 1, 1)))
def test_a_new_note_gets_a_name_every_system_can_store(name: str, created: datetime) -> None:
    path = note_path(name, created)
    folder, _, file = path.rpartition("/")
    assert folder == f"{created:%Y/%m}/week{(created.day - 1) // 7 + 1}"
    assert file.startswith(f"{created:%Y-%m-%d}-") and is_note_name(file)
    assert len(file.encode()) <= 140
    assert not set(file) & set('<>:"/\\|?* \0')
    assert all(is_anything_seen(c) or unicodedata.category(c) in ("Mn", "Mc") for c in file)


@given(st.text(max_size=200))
def test_a_new_id_is_a_valid_one(name: str) -> None:
    id_ = new_id(name, datetime(2026, 5, 14, tzinfo=UTC))
    assert id_.startswith("mem_01krhw") and id_ == id_.strip()
    assert note(f"id: {id_}\n").id == id_
    assert all(is_anything_seen(c) or unicodedata.category(c) in ("Mn", "Mc") for c in id_)


def test_a_new_id_is_readable() -> None:
    assert (
        new_id("Context cache: ordering!", datetime(2026, 5, 14, tzinfo=UTC))[14:]
        == "_context_cache_ordering"
    )


@pytest.mark.parametrize(
    ("day", "week"), [(1, 1), (7, 1), (8, 2), (21, 3), (22, 4), (28, 4), (29, 5), (31, 5)]
)
def test_a_month_has_five_weeks_at_most(day: int, week: int) -> None:
    assert note_path("x", datetime(2026, 5, day)) == f"2026/05/week{week}/2026-05-{day:02}-x.md"


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Cache & 缓存!", "cache-缓存"),
        ("../../etc", "etc"),
        ("🧠", "note"),
        ("", "note"),
        ("⚠\ufe0f Warning: disk pressure", "warning-disk-pressure"),
        ("1\ufe0f\u20e3 plan", "1-plan"),
        ("👍🏽", "note"),
        ("\u0301", "note"),
        ("pay\u202eload\U000e0041", "payload"),
        ("a\u3164", "a"),
        ("हिन्दी", "हिन्दी"),
        ("記" * 99, "記" * 42),
    ],
)
def test_a_slug_keeps_letters_of_any_script(name: str, slug: str) -> None:
    assert note_path(name, datetime(2026, 5, 14)) == f"2026/05/week2/2026-05-14-{slug}.md"


def test_a_cut_slug_ends_between_characters() -> None:
    path = note_path("हिन्दी" * 30, datetime(2026, 5, 14))
    assert unicodedata.category(("हिन्दी" * 30)[len(path.split("-")[-1]) - 3])[0] != "M"


@pytest.mark.parametrize("name", ["a.md", "A.MD", "-dash.md", "#a.md", "a b.md", "~a.md", "x\ny.md", "🧠.md"])
def test_these_names_are_notes(name: str) -> None:
    assert is_note_name(name)


@pytest.mark.parametrize(
    "name",
    [".md", ".a.md", "._a.md", "a.md~", "#a.md#", ".#a.md", "a.md.tmp", ".a.md.swp", "4913", "a.txt", "~$a.md",
     "~syncthing~a.md", "a.md.bak", "a.md.crswap", ".a.md.icloud"],
)  # fmt: skip
def test_these_names_are_no_notes(name: str) -> None:
    assert not is_note_name(name)


def test_dot_folders_are_skipped() -> None:
    assert is_skipped_folder(".trash") and not is_skipped_folder("trash.")


def test_a_cloud_stub_stands_for_a_note() -> None:
    assert placeholder_of(".plan.md.icloud") == "plan.md"
    assert placeholder_of(".plan.txt.icloud") is None
    assert placeholder_of("plan.md.icloud") is None


@pytest.mark.parametrize(
    "name",
    [
        "plan.sync-conflict-20260806-034350-ABCDEF7.md",
        "plan (conflicted copy 2026-05-14).md",
        "plan (Ann's conflicted copy 2026-05-14).md",
        "plan (Conflict 2026-05-14).md",
        "plan (Conflicted copy iPhone 202605141030).md",
        "plan (SFConflict ann@x 2026-05-14-10-30-00).md",
        "plan (Case Conflict 1).md",
        "plan（Ann 的冲突副本 2026-05-14）.md",
        "plan [conflicted].md",
        "plan (Ann的冲突文件 2026-05-14).md",
        "plan (NSConflict-ann 2026-05-14).md",
        "plan (In Konflikt stehende Kopie von Ann 2026-05-14).md",
        "plan (Anns in Konflikt stehende Kopie 2026-05-14).md",
        "plan (Konfliktkopie 2026-05-14 103000).md",
        "plan (Konflikt 2026-05-14).md",
        "plan (Copie en conflit de Ann 2026-05-14).md",
        "plan (Annの競合コピー 2026-05-14).md",
        "plan_conflict-20260514-103000.md",
        "plan_conflict-2026-05-14.md",
        "plan_DiskStation_May-14-103000-2026_Conflict.md",
        "plan.conflict1.md",
        "plan..path2.md",
        "plan~HEAD.md",
        "plan~HEAD_0.md",
        "plan.md~HEAD.md",
        "plan_REMOTE_4711.md",
    ],
)
def test_a_sync_tools_copy_is_known_by_its_name(name: str) -> None:
    assert sync_copy_of(f"a/{name}") == "plan.md"


@pytest.mark.parametrize(
    "name",
    [
        "plan 2.md",
        "plan (1).md",
        "plan-Work-Laptop.md",
        "plan copy.md",
        "plan - Copy (2).md",
        "plan - Kopie.md",
        "plan~feature-x.md",
        "plan.orig.md",
        "plan.md.orig.md",
        "plan.remote.md",
        "plan.local.md",
        "plan_BACKUP.md",
        "plan.conflict.md",
        "plan_conflict.md",
        "plan Konflikt.md",
        "plan的冲突文件.md",
        "plan-Ann的冲突文件.md",
        "plan_冲突文件_20260514.md",
    ],
)
def test_a_likely_copy_counts_only_beside_its_original(name: str) -> None:
    assert sync_copy_of(f"a/{name}") is None
    assert sync_copy_of(f"a/{name}", ["b/other.md"]) is None
    assert sync_copy_of(f"a/{name}", ["a/plan.md"]) == "plan.md"


@pytest.mark.parametrize(
    "name",
    [
        "plan.md",
        "Design (conflict resolution).md",
        "conflict copy.md",
        "2026-05-14-Plan.md",
        "Konflikt.md",
        "Konflikt (Anna).md",
        "git.remote.md",
        "merge.conflict.md",
        "处理冲突文件.md",
        "~HEAD.md",
    ],
)
def test_an_ordinary_name_is_no_copy(name: str) -> None:
    assert sync_copy_of(name) is None
