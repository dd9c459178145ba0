"""What a process that may not write knows better than the catalog: rows as they would be after a sync."""

from __future__ import annotations

import math
import os

import pytest

from tests.worlds import World
from vaultmem.errors import RootMissingError
from vaultmem.files.vault import Vault
from vaultmem.stores.caches import Caches
from vaultmem.stores.catalog import Catalog
from vaultmem.stores.catalog_rows import NoteRow
from vaultmem.sync import lexical
from vaultmem.sync.overlay import OverlaidMemories, Overlay, look


@pytest.fixture
def catalog(world: World, vault: Vault, caches: Caches) -> Catalog:
    """Three notes on record, as they are on disk."""
    for name in ("a", "b", "c"):
        world.note(f"{name}.md", name, "alpha\n")
    lexical.sync(caches, vault)
    return caches.catalog


def seen(catalog: Catalog, over: Overlay) -> dict[str, NoteRow | None]:
    return {row.path: over.apply(catalog, row) for row in catalog.rows()}


def test_where_nothing_changed_nothing_is_overlaid(catalog: Catalog, vault: Vault) -> None:
    over = look(catalog, vault, math.inf)
    assert over == Overlay() and over.count == 0
    assert seen(catalog, over) == {row.path: row for row in catalog.rows()}


def test_rows_are_as_a_sync_would_make_them(
    world: World, vault: Vault, caches: Caches, catalog: Catalog
) -> None:
    world.note("a.md", "a", "alpha\n", name="New name", status="deprecated")
    (world.root / "b.md").unlink()
    (world.root / "c.md").rename(world.root / "moved.md")
    over = look(catalog, vault, math.inf)
    assert (over.count, over.has_work, over.moved) == (3, True, {"c.md": "moved.md"})
    now = {row.note_key: row for row in seen(catalog, over).values() if row is not None}
    assert over.paths_with_id(catalog, "c") == ("moved.md",)
    lexical.sync(caches, vault)
    after = catalog.rows()
    assert {row.note_key for row in after} == now.keys()
    for row in after:
        mine = now[row.note_key]
        assert (mine.metadata, mine.path, mine.problems) == (row.metadata, row.path, row.problems)
        assert mine.in_conflict == row.in_conflict


def test_digests_stay_since_they_say_what_the_stores_hold(
    world: World, vault: Vault, catalog: Catalog
) -> None:
    (before,) = (row for row in catalog.rows() if row.path == "a.md")
    world.note("a.md", "a", "other text\n", name="New")
    row = seen(catalog, look(catalog, vault, math.inf))["a.md"]
    assert row is not None and row.name == "New"
    assert (row.digest, row.lexical_digest) == (before.digest, before.lexical_digest)


def test_a_copy_is_a_conflict_and_its_end_is_the_end(world: World, vault: Vault, catalog: Catalog) -> None:
    copy = world.note("copy.md", "a", "alpha\n")
    over = look(catalog, vault, math.inf)
    assert over.paths_with_id(catalog, "a") == ("a.md", "copy.md")
    assert {path: row.in_conflict for path, row in seen(catalog, over).items() if row} == {
        "a.md": True,
        "b.md": False,
        "c.md": False,
    }
    copy.unlink()
    assert look(catalog, vault, math.inf) == Overlay()


def test_a_note_that_is_being_written_keeps_what_was_known_and_shows_its_problem(
    world: World, vault: Vault, catalog: Catalog
) -> None:
    world.write("a.md", "---\nid: a\nname: being ty")
    over = look(catalog, vault, math.inf)
    row = seen(catalog, over)["a.md"]
    assert row is not None and (row.id, row.name) == ("a", "Note a")
    assert [problem.code.value for problem in row.problems] == ["bad_yaml"]
    assert over.paths_with_id(catalog, "a") == ("a.md",)


def test_a_half_of_a_character_is_in_no_id(catalog: Catalog) -> None:
    assert Overlay().paths_with_id(catalog, "\ud800") == ()
    assert Overlay().paths_with_id(catalog, "nobody") == ()


def test_other_stat_values_alone_are_work_and_no_difference(
    world: World, vault: Vault, catalog: Catalog
) -> None:
    os.utime(world.root / "a.md", (1, 1))
    over = look(catalog, vault, math.inf)
    assert (over.count, over.has_work) == (0, True)


def test_past_the_deadline_nothing_is_read_and_it_is_known_that_there_is_work(
    world: World, vault: Vault, catalog: Catalog
) -> None:
    world.note("a.md", "a", "other\n")
    assert look(catalog, vault, -math.inf) == Overlay(has_work=True)


def test_a_root_that_is_gone_is_an_error(world: World, vault: Vault, catalog: Catalog) -> None:
    world.root.rename(world.folder / "away")
    with pytest.raises(RootMissingError):
        look(catalog, vault, math.inf)


def test_recall_reads_rows_through_it_and_what_is_gone_is_left_out(
    world: World, vault: Vault, catalog: Catalog
) -> None:
    keys = {row.path: row.note_key for row in catalog.rows()}
    world.note("a.md", "a", "alpha\n", name="New")
    (world.root / "b.md").unlink()
    memories = OverlaidMemories(catalog, look(catalog, vault, math.inf))
    rows = memories.rows_by_key(keys.values())
    assert {key: row.name for key, row in rows.items()} == {keys["a.md"]: "New", keys["c.md"]: "Note c"}
    assert memories.admitted_count() == 3
    plain = OverlaidMemories(catalog, Overlay())
    assert plain.rows_by_key([keys["b.md"]]) == catalog.rows_by_key([keys["b.md"]])
