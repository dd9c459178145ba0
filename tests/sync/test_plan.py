"""Planning is pure: a snapshot, what is on record and what was read give one plan, whatever the order of events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from vaultmem.files.snapshot import NO_FILE, FileStat, Snapshot
from vaultmem.files.vault import Reading
from vaultmem.notes.parse import Note, unknown_note
from vaultmem.notes.problems import Code
from vaultmem.stores.catalog_rows import Known
from vaultmem.sync.plan import (
    Differences,
    Plan,
    Step,
    as_unknown,
    find_differences,
    is_half_written,
    plan_steps,
)
from vaultmem.testing import make_note

SECOND_NS = 1_000_000_000


def stat_of(note: Note, *, written_s: int = 1, inode: int = 1) -> FileStat:
    return FileStat(len(note.body), written_s * SECOND_NS, written_s * SECOND_NS, inode)


def known_of(note: Note, key: int = 1, **fields) -> Known:
    facts = {
        "note_key": key,
        "path": note.path,
        "stat": stat_of(note),
        "digest": note.digest,
        "id": note.id,
        "is_readable": True,
        "lexical_digest": note.digest if note.id else None,
    }
    return Known(**{**facts, **fields})


def plan_of(
    on_disk: Sequence[Note],
    on_record: Sequence[Known] = (),
    *,
    stats: Mapping[str, FileStat] | None = None,
    unknown: Mapping[str, str] | None = None,
    placeholders: Sequence[str] = (),
    full: bool = False,
) -> Plan:
    """Scan, read what differs, plan: as `sync` does, with notes for files. A note of stat {} is unchanged by stat."""
    files = {note.path: (stats or {}).get(note.path, stat_of(note)) for note in on_disk if note.is_readable}
    snapshot = Snapshot(files, unknown or {}, tuple(placeholders), None)
    known = {row.path: row for row in on_record}
    differences = find_differences(snapshot, known, full=full)
    notes = {note.path: note for note in on_disk}
    readings = [
        Reading(notes[path], files.get(path, NO_FILE)) for path in differences.to_read if path in notes
    ]
    return plan_steps(differences, readings, known)


def paths(changes: Sequence[Step]) -> list[str]:
    return [change.reading.note.path for change in changes]


def moves(plan: Plan) -> dict[str, str]:
    return {change.known.path: change.reading.note.path for change in plan.moved if change.known}


A = make_note("a.md", id="a", body="alpha\n")
B = make_note("b.md", id="b", body="beta\n")


def test_nothing_on_record_means_everything_is_added():
    plan = plan_of([A, B])
    assert paths(plan.added) == ["a.md", "b.md"]
    assert plan.deleted == plan.updated == plan.moved == ()


def test_equal_stat_values_mean_that_nothing_is_read():
    plan = plan_of([A], [known_of(A)])
    assert plan.is_empty and plan.unchanged == 1


def test_any_one_differing_stat_value_makes_a_file_worth_reading():
    stat = stat_of(A)
    for field in ("size", "mtime_ns", "ctime_ns", "inode"):
        other = FileStat(**{**{n: getattr(stat, n) for n in FileStat.__slots__}, field: 99})
        snapshot = Snapshot({"a.md": other}, {}, (), None)
        assert find_differences(snapshot, {"a.md": known_of(A)}).to_read == ("a.md",)


def test_the_same_bytes_under_other_stat_values_are_touched_and_not_updated():
    plan = plan_of([A], [known_of(A)], stats={"a.md": stat_of(A, written_s=9)})
    assert paths(plan.touched) == ["a.md"]
    assert plan.written == ()


def test_full_reads_every_file_and_still_finds_the_same_bytes_unchanged():
    plan = plan_of([A], [known_of(A)], full=True)
    assert plan.is_empty and plan.unchanged == 1


def test_full_finds_other_bytes_under_equal_stat_values():
    edited = make_note("a.md", id="a", body="ALPHA\n")
    plan = plan_of([edited], [known_of(A, stat=stat_of(edited))], full=True)
    assert paths(plan.updated) == ["a.md"]


def test_other_bytes_are_an_update_of_the_same_key():
    edited = make_note("a.md", id="a", body="alpha and more\n")
    plan = plan_of([edited], [known_of(A, key=7)])
    assert [change.known.note_key for change in plan.updated] == [7]


def test_a_note_that_the_lexical_store_lacks_is_updated_though_its_file_is_the_same():
    plan = plan_of([A], [known_of(A, lexical_digest=None)])
    assert paths(plan.updated) == ["a.md"]


def test_a_file_that_vanished_is_deleted():
    plan = plan_of([A], [known_of(A), known_of(B, key=2)])
    assert [gone.path for gone in plan.deleted] == ["b.md"]


# --- moves


def test_a_note_with_the_same_id_elsewhere_has_moved_even_when_it_was_edited_on_the_way():
    there = make_note("2026/b.md", id="a", body="other text\n")
    plan = plan_of([there], [known_of(A, key=5)])
    assert moves(plan) == {"a.md": "2026/b.md"}
    assert [change.known.note_key for change in plan.moved] == [5]
    assert plan.deleted == plan.added == ()


def test_a_note_without_an_id_moves_by_its_bytes():
    here, there = make_note("a.md", id=None), make_note("z.md", id=None)
    assert moves(plan_of([there], [known_of(here)])) == {"a.md": "z.md"}


def test_a_note_without_an_id_and_with_other_bytes_has_not_moved():
    here, there = make_note("a.md", id=None), make_note("z.md", id=None, body="Other.\n")
    plan = plan_of([there], [known_of(here)])
    assert paths(plan.added) == ["z.md"] and len(plan.deleted) == 1


def test_a_note_that_got_an_id_while_it_moved_is_a_new_one():
    here, there = make_note("a.md", id=None), make_note("z.md", id="fresh")
    plan = plan_of([there], [known_of(here)])
    assert paths(plan.added) == ["z.md"]


def test_one_vanished_note_is_the_origin_of_one_of_two_that_appeared():
    copies = [make_note(path, id="a", body="alpha\n") for path in ("x.md", "y.md")]
    plan = plan_of(copies, [known_of(A)])
    assert moves(plan) == {"a.md": "x.md"}
    assert paths(plan.added) == ["y.md"]


def test_among_vanished_notes_with_one_id_the_one_with_the_same_bytes_moved():
    first, second = make_note("1.md", id="a", body="one\n"), make_note("2.md", id="a", body="two\n")
    there = make_note("3.md", id="a", body="two\n")
    plan = plan_of([there], [known_of(first, 1), known_of(second, 2)])
    assert moves(plan) == {"2.md": "3.md"}
    assert [gone.note_key for gone in plan.deleted] == [1]


def test_a_renamed_folder_is_as_many_moves_as_it_has_notes():
    before = [make_note(f"05/{n}.md", id=f"n{n}") for n in range(5)]
    after = [make_note(f"06/{n}.md", id=f"n{n}") for n in range(5)]
    plan = plan_of(after, [known_of(note, key) for key, note in enumerate(before)])
    assert moves(plan) == {f"05/{n}.md": f"06/{n}.md" for n in range(5)}
    assert plan.added == plan.deleted == ()


def test_a_copy_beside_the_original_is_added_and_moves_nothing():
    copy = make_note("a 1.md", id="a", body="alpha\n")
    plan = plan_of([A, copy], [known_of(A)])
    assert paths(plan.added) == ["a 1.md"]
    assert plan.moved == plan.deleted == ()


def test_two_notes_that_swap_their_paths_are_two_updates_in_place():
    plan = plan_of(
        [make_note("a.md", id="b", body="beta\n"), make_note("b.md", id="a", body="alpha\n")],
        [known_of(A, 1), known_of(B, 2)],
        stats={"a.md": stat_of(B, inode=2), "b.md": stat_of(A, inode=3)},
    )
    assert {change.known.note_key: change.reading.note.id for change in plan.updated} == {1: "b", 2: "a"}
    assert plan.moved == plan.deleted == plan.added == ()


def test_a_chain_of_moves_keeps_every_note_once():
    """b → c, then a → b: what lies at b.md is an update, c.md is new, a.md is gone."""
    plan = plan_of(
        [make_note("b.md", id="a", body="alpha\n"), make_note("c.md", id="b", body="beta\n")],
        [known_of(A, 1), known_of(B, 2)],
        stats={"b.md": stat_of(A, inode=5)},
    )
    assert paths(plan.updated) == ["b.md"]
    assert paths(plan.added) == ["c.md"]
    assert [gone.path for gone in plan.deleted] == ["a.md"]


# --- what cannot be known


def test_what_lies_under_a_folder_that_cannot_be_looked_at_is_not_deleted():
    inside = make_note("2026/05/a.md", id="a")
    plan = plan_of([], [known_of(inside)], unknown={"2026/05": "permission denied"})
    assert plan.deleted == ()
    assert paths(plan.unknown) == ["2026/05/a.md"]
    assert plan.unknown[0].reading.note.problems[0].code is Code.UNREADABLE


def test_a_folder_of_another_name_is_not_taken_for_the_unknown_one():
    sibling = make_note("2026/055/a.md", id="a")
    plan = plan_of([], [known_of(sibling)], unknown={"2026/05": "permission denied"})
    assert [gone.path for gone in plan.deleted] == ["2026/055/a.md"]


def test_an_unknown_root_makes_every_note_unknown():
    plan = plan_of([], [known_of(A), known_of(B, 2)], unknown={"": "stale handle"})
    assert len(plan.unknown) == 2 and plan.deleted == ()


def test_a_note_that_is_unknown_already_is_not_marked_again():
    plan = plan_of([], [known_of(A, is_readable=False)], unknown={"a.md": "permission denied"})
    assert plan.is_empty and plan.unchanged == 1


def test_a_file_or_folder_that_could_never_be_looked_at_is_put_on_record_once():
    unknown = {"caf\\xe9.md": "its name is not UTF-8; rename it", "locked": "permission denied"}
    plan = plan_of([], unknown=unknown)
    assert sorted(paths(plan.unknown)) == ["caf\\xe9.md", "locked"]
    on_record = [
        known_of(change.reading.note, key, is_readable=False, stat=NO_FILE)
        for key, change in enumerate(plan.unknown)
    ]
    assert plan_of([], on_record, unknown=unknown).is_empty


def test_a_folder_that_can_be_looked_at_again_is_no_longer_on_record():
    row = known_of(unknown_note("locked", Code.UNREADABLE, "x"), is_readable=False, stat=NO_FILE)
    assert [gone.path for gone in plan_of([], [row]).deleted] == ["locked"]


def test_a_note_that_cannot_be_read_keeps_its_row_and_is_named():
    unread = unknown_note("a.md", Code.UNREADABLE, "permission denied")
    snapshot = Snapshot({"a.md": stat_of(A, written_s=9)}, {}, (), None)
    known = {"a.md": known_of(A)}
    differences = find_differences(snapshot, known)
    plan = plan_steps(differences, [Reading(unread, stat_of(A, written_s=9))], known)
    assert paths(plan.unknown) == ["a.md"] and plan.updated == ()
    again = {"a.md": known_of(A, is_readable=False, stat=stat_of(A, written_s=9))}
    plan = plan_steps(find_differences(snapshot, again), [Reading(unread, stat_of(A, written_s=9))], again)
    assert plan.is_empty


def test_a_note_that_can_be_read_again_is_read_though_its_stat_values_are_the_same():
    plan = plan_of([A], [known_of(A, is_readable=False)])
    assert paths(plan.updated) == ["a.md"]


def test_an_unknown_note_is_never_the_other_end_of_a_move():
    snapshot = Snapshot({"z.md": stat_of(A)}, {}, (), None)
    known = {"a.md": known_of(A)}
    unread = unknown_note("z.md", Code.UNREADABLE, "permission denied")
    plan = plan_steps(find_differences(snapshot, known), [Reading(unread, stat_of(A))], known)
    assert plan.moved == () and [gone.path for gone in plan.deleted] == ["a.md"]


# --- placeholders


def test_a_cloud_stub_keeps_the_note_and_is_read_once():
    snapshot = Snapshot({}, {}, ("a.md",), None)
    differences = find_differences(snapshot, {"a.md": known_of(A)})
    assert (differences.to_read, differences.gone) == (("a.md",), ())
    settled = find_differences(snapshot, {"a.md": known_of(A, is_readable=False, stat=NO_FILE)})
    assert settled == Differences((), (), {}, 1)


def test_a_stub_beside_its_file_does_not_count():
    snapshot = Snapshot({"a.md": stat_of(A)}, {}, ("a.md",), None)
    assert find_differences(snapshot, {"a.md": known_of(A)}) == Differences((), (), {}, 1)


# --- half-written notes


def broken(written_s: float) -> Step:
    note = make_note("a.md", id=None)
    return Step(known_of(A), Reading(note, FileStat(1, int(written_s * SECOND_NS), 0, 1)))


def test_a_good_note_that_lost_its_id_a_moment_ago_may_be_half_written():
    now_ns = 100 * SECOND_NS
    assert is_half_written(broken(99.5), now_ns, SECOND_NS)
    assert not is_half_written(broken(98.5), now_ns, SECOND_NS)


def test_a_file_from_the_future_is_not_waited_for():
    assert not is_half_written(broken(101), 100 * SECOND_NS, SECOND_NS)


def test_neither_a_new_note_nor_one_that_was_wrong_before_is_waited_for():
    now_ns = 100 * SECOND_NS
    change = broken(99.5)
    assert not is_half_written(Step(None, change.reading), now_ns, SECOND_NS)
    wrong = known_of(make_note("a.md", id=None))
    assert not is_half_written(Step(wrong, change.reading), now_ns, SECOND_NS)


def test_what_is_waited_for_keeps_its_key_and_says_why():
    held = as_unknown(broken(99.5))
    assert held.known is not None and not held.reading.note.is_readable
    assert "looked at again" in held.reading.note.problems[0].detail


# --- laws

notes = st.builds(
    make_note,
    st.sampled_from(["a.md", "b.md", "x/a.md", "x/b.md", "y/c.md"]),
    id=st.sampled_from([None, "one", "two", "three"]),
    body=st.sampled_from(["alpha\n", "beta\n"]),
)
vaults = st.lists(notes, max_size=5, unique_by=lambda note: note.path)


@given(before=vaults, after=vaults)
def test_every_path_is_in_one_part_of_the_plan_and_every_key_is_used_once(before, after):
    rows = [known_of(note, key, stat=stat_of(note, inode=key)) for key, note in enumerate(before)]
    plan = plan_of(after, rows, stats={note.path: stat_of(note, inode=50) for note in after})
    named = paths(plan.written + plan.touched + plan.unknown)
    assert len(named) == len(set(named))
    assert set(named) <= {note.path for note in after}
    keys = [c.known.note_key for c in plan.written + plan.touched if c.known]
    keys += [gone.note_key for gone in plan.deleted]
    assert sorted(keys) == list(range(len(before)))


@given(before=vaults, after=vaults)
def test_applying_a_plan_leaves_what_is_on_disk_on_record(before, after):
    rows = {key: known_of(note, key, stat=stat_of(note, inode=key)) for key, note in enumerate(before)}
    stats = {note.path: stat_of(note, inode=50) for note in after}
    plan = plan_of(after, list(rows.values()), stats=stats)
    for gone in plan.deleted:
        del rows[gone.note_key]
    for change in plan.written + plan.touched:
        key = change.known.note_key if change.known else 100 + len(rows)
        rows[key] = known_of(change.reading.note, key, stat=change.reading.stat)
    assert sorted((row.path, row.digest) for row in rows.values()) == sorted(
        (n.path, n.digest) for n in after
    )
    assert plan_of(after, list(rows.values()), stats=stats).is_empty


@given(before=vaults, after=vaults, data=st.data())
def test_the_order_of_what_was_read_does_not_matter(before, after, data):
    known = {n.path: known_of(n, key, stat=stat_of(n, inode=key)) for key, n in enumerate(before)}
    snapshot = Snapshot({n.path: stat_of(n, inode=50) for n in after}, {}, (), None)
    readings = [Reading(note, snapshot.files[note.path]) for note in after]
    shuffled = data.draw(st.permutations(readings))
    differences = find_differences(snapshot, known)
    one, other = plan_steps(differences, readings, known), plan_steps(differences, shuffled, known)
    assert moves(one) == moves(other)
    for part in ("added", "updated", "moved", "touched"):
        assert sorted(paths(getattr(one, part))) == sorted(paths(getattr(other, part)))
