"""Saving through the editor: a new memory, and changed fields of one."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from tests.clock import in_zone
from tests.engine.asking import hinted, save_new, tree
from vaultmem.engine import editor
from vaultmem.errors import EditRefusedError, NoteNotFoundError, UsageError
from vaultmem.notes.metadata import Status


def test_a_new_memory_lies_by_its_date_and_can_be_opened_hinted_and_searched(world, engine):
    saved = save_new(engine, "Context cache ordering!", tags=["Cache", "project/March"])
    now = datetime.now()
    week = (now.day - 1) // 7 + 1
    assert saved.created
    assert saved.memory.path == f"{now:%Y/%m}/week{week}/{now:%Y-%m-%d}-context-cache-ordering.md"
    opened = engine.open_memory(saved.memory.id or "")
    assert opened == saved.memory
    assert (opened.tags, opened.status) == (("cache", "project/march"), Status.ACTIVE)
    assert hinted(engine, "alpha") == [saved.memory.id]
    (note,) = engine.notes()
    assert note.diagnostics == ()
    assert note.created_at is not None and note.created_at == note.updated_at


@pytest.mark.parametrize(
    ("zone", "instant", "path"),
    [
        ("UTC0", "2026-11-30T19:21:00Z", "2026/11/week5/2026-11-30-n.md"),
        ("CST-8", "2026-11-30T19:21:00Z", "2026/12/week1/2026-12-01-n.md"),
        ("PST8", "2027-01-01T05:00:00Z", "2026/12/week5/2026-12-31-n.md"),
        ("<+14>-14", "2026-12-31T10:00:00Z", "2027/01/week1/2027-01-01-n.md"),
        ("<+0545>-5:45", "2026-05-07T18:14:59Z", "2026/05/week1/2026-05-07-n.md"),
        ("<+0545>-5:45", "2026-05-07T18:15:00Z", "2026/05/week2/2026-05-08-n.md"),
    ],
)
def test_a_new_memory_lies_under_the_day_of_this_machine_and_its_instants_are_utc(
    engine, monkeypatch, zone, instant, path
):
    monkeypatch.setattr(editor, "utc_now", lambda: datetime.fromisoformat(instant))
    with in_zone(zone):
        saved = save_new(engine, "N")
    assert saved.memory.path == path
    assert saved.memory.created_at == saved.memory.updated_at == instant.replace("Z", ".000Z")


@pytest.mark.parametrize("missing", ["name", "description", "tags", "body"])
def test_a_new_memory_that_lacks_something_is_wrong_usage_and_makes_no_file(world, engine, missing):
    with pytest.raises(UsageError, match=missing):
        save_new(engine, **{missing: None}) if missing != "name" else engine.save(
            description="d", tags=["t"], body="b"
        )
    assert tree(world.root) == {}


@pytest.mark.parametrize(
    "fields",
    [{"name": " "}, {"description": "\n"}, {"tags": []}, {"tags": ["!"]}, {"tags": ["\ufe0f/\u0301"]},
     {"name": "\u200b\ufe0f"}, {"description": "\u2060"}, {"body": "\u3164\n"}],
)  # fmt: skip
def test_a_field_that_says_nothing_is_wrong_usage(world, engine, fields):
    with pytest.raises(UsageError):
        save_new(engine, **fields)
    assert tree(world.root) == {}


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "a/b\\c",
        "CON",
        ".hidden",
        "🧠",
        "-x",
        "a: b # c",
        "'\"",
        "\x00\x07name",
        "名" * 300,
        "ﷺ" * 300,
    ],
)
def test_no_name_is_too_odd_for_a_file(world, engine, name):
    saved = save_new(engine, name)
    file = world.root / saved.memory.path
    assert file.is_file() and file.resolve().is_relative_to(world.root.resolve())
    assert len(file.name.encode()) <= 143
    assert engine.open_memory(saved.memory.id or "").name == saved.memory.name


def test_a_name_keeps_letters_of_any_script_in_the_file_name(engine):
    path = save_new(engine, "缓存 Ordnung für Größe").memory.path
    assert path.endswith("-缓存-ordnung-für-größe.md")


def test_notes_of_one_name_never_overwrite_each_other(world, engine, monkeypatch):
    frozen = datetime(2026, 5, 14, 10, 30, tzinfo=UTC)
    monkeypatch.setattr(editor, "utc_now", lambda: frozen)
    saved = [save_new(engine, body=f"text {n}\n") for n in range(3)]
    assert len({s.memory.path for s in saved}) == len({s.memory.id for s in saved}) == 3
    assert [engine.open_memory(s.memory.id or "").body for s in saved] == [f"\ntext {n}\n" for n in range(3)]
    assert not any(note.in_conflict for note in engine.notes())


def test_an_update_changes_the_given_fields_alone(world, engine):
    file = world.note("a.md", "a", "# Body\n", extra="'kept as it is'", tags="[T]  # comment")
    before = file.read_text()
    saved = engine.save(id="a", description="new words")
    assert not saved.created
    lines = set(before.splitlines()) ^ set(file.read_text().splitlines())
    assert {line.split(":")[0] for line in lines} == {"description", "updated_at"}


def test_an_update_replaces_the_body_or_the_tags_when_given(world, engine):
    world.note("a.md", "a", "old\n", tags="[x, y]")
    saved = engine.save(id="a", tags=["z"], body="new\n")
    assert (saved.memory.tags, saved.memory.body.strip()) == (("z",), "new")


def test_an_update_that_says_the_same_changes_nothing(world, engine):
    file = world.note("a.md", "a", "text\n")
    before = file.read_bytes()
    engine.save(id="a", name="Note a", description="about a", tags=["t"])
    assert file.read_bytes() == before


def test_an_update_of_an_unknown_id_is_refused_and_makes_nothing(world, engine):
    with pytest.raises(NoteNotFoundError):
        engine.save(id="nobody", name="N", description="d", tags=["t"], body="b")
    assert tree(world.root) == {}


def test_a_body_that_begins_with_its_own_block_does_not_store_it_twice(engine):
    first = save_new(engine)
    again = engine.save(id=first.memory.id, body=first.memory.text + "more\n")
    assert again.memory.text.count("id: mem_") == 1
    assert again.memory.body.endswith("alpha\nmore\n")


@pytest.mark.parametrize(
    "body",
    ["", " \n\t\n", "\u200b\ufeff\n", "\u0301", "---\nid: a\nname: N\n---\n", "\n---\nid: a\n---\n \u2800\n"],
)
@pytest.mark.parametrize("dry_run", [True, False])
def test_a_body_that_shows_nothing_is_refused_and_erases_none(world, engine, body, dry_run):
    file = world.note("a.md", "a", "the lesson\n")
    before = file.read_bytes()
    with pytest.raises(UsageError, match="the body is empty") as caught:
        engine.save(id="a", description="new", body=body, dry_run=dry_run)
    assert "without a body keeps" in caught.value.advice
    assert file.read_bytes() == before


SKILL = "---\nname: pdf-helper\ndescription: reads PDF\n---\n\n# Use\n"
OTHERS_BLOCKS = [
    SKILL,
    "---\nid: intro\ntitle: Intro\n---\ntext\n",
    "---\napiVersion: v1\nkind: Pod\n---\n",
    "---\nid: mem_other\nname: O\ndescription: o\ntags: [t]\nstatus: active\n---\nits text\n",
    "---\nid: A\n---\n",
    "----\nid: a\n----\n",
    "---\n\n---\n",
]


@pytest.mark.parametrize("body", OTHERS_BLOCKS)
def test_a_block_that_is_not_the_notes_own_is_text_and_the_note_stays_whole(world, engine, body):
    world.note("a.md", "a", "old\n")
    made = save_new(engine, "Blocks", body=body)
    for note_id in ("a", made.memory.id or ""):
        assert engine.save(id=note_id, body=body).memory.body.lstrip("\n") == body
        engine.edit_tags(note_id, add=["more"])
        engine.set_status(note_id, Status.DEPRECATED)
        engine.set_status(note_id, Status.ACTIVE)
        engine.edit_description(note_id, "another")
        whole = engine.open_memory(note_id)
        assert engine.save(id=note_id, body=whole.text).memory.body == whole.body
        assert (whole.body.lstrip("\n"), whole.id, whole.description) == (body, note_id, "another")
    assert not any(note.in_conflict or note.diagnostics for note in engine.notes())


def test_a_new_memory_keeps_the_block_of_the_note_that_it_was_copied_from(engine):
    first = save_new(engine)
    again = save_new(engine, "Copy", body=first.memory.text)
    assert again.memory.body.lstrip("\n") == first.memory.text
    assert again.memory.id != first.memory.id


@pytest.mark.parametrize("name", ["a" * 301, "a" * 100_000, "名 " * 200, "\u0301\u0323" * 50_000 + "a"])
def test_a_name_without_end_is_refused_at_once(world, engine, name):
    world.note("a.md", "a")
    before = tree(world.root)
    for note_id in (None, "a"):
        with pytest.raises(UsageError, match="characters, more than 300"):
            engine.save(id=note_id, name=name, description="d", tags=["t"], body="b")
    assert tree(world.root) == before


@pytest.mark.parametrize(
    "text", ["a" * 100_000, "a_" * 50_000, "a" + "\u0301\u0323" * 30_000, "word " * 20_000]
)
def test_a_description_and_a_name_by_hand_may_be_long_and_cost_little(world, engine, text):
    started = time.monotonic()
    world.note("a.md", "a", name=f"'{text}'")
    made = save_new(engine, "N", description=text, tags=["t", text])
    engine.save(id="a", description="new")
    engine.adopt(world.note("b.md", "a", name=f"'{text}'").name)
    assert made.memory.description == " ".join(text.split())
    assert time.monotonic() - started < 60  # by the square of its length it takes minutes


def test_a_block_that_nobody_would_read_is_refused_with_its_reason(world, engine):
    with pytest.raises(EditRefusedError, match="longer than 256 KiB"):
        save_new(engine, description="记忆" * 50_000)
    assert tree(world.root) == {}
