"""A note to read: its metadata, where its dates come from, and as much of its body as is quick to draw."""

from __future__ import annotations

from textual.widgets import Markdown

from tests.dashboard.stage import Stage
from tests.dashboard.steps import undated
from tui.testing.driving import screen_text, until
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import note_file
from tui.widgets.note_view import BODY_CHARS, NotePreview

FACTS: tuple[tuple[str, bytes, tuple[str, ...]], ...] = (
    (
        "a.md",
        note_file("[b]A", id="mem_a", description="[/]", tags=["x", "y"], body="Text."),
        ("[b]A", "[/]", "#x  #y", "● active   mem_a", "made 2026-05-14, updated 2026-05-14, "),
    ),
    ("b.md", note_file("B", status="deprecated"), ("▲ no description", "no tags", "× deprecated   no id")),
    ("2026-05-12-c.md", undated("C"), ("made 2026-05-12 (by its file name), ",)),
    ("2026/05/week1/d.md", undated("D"), ("made about 2026-05-01 (by its folder), ",)),
    ("e.md", undated("E"), ("no date, ",)),
)


async def test_a_note_s_facts_are_told_and_what_it_lacks():
    stage = Stage(NotePreview(id="preview"))
    async with stage.run_test(size=(80, 40)) as pilot:
        for path, data, facts in FACTS:
            engine = FakeEngine({path: data})
            stage.query_one(NotePreview).show(engine.read_note(path), engine.notes()[0])
            await until(pilot, lambda path=path: path in screen_text(stage))
            shown = screen_text(stage)
            assert [fact for fact in facts if fact not in shown] == []


async def test_of_a_long_note_the_beginning_is_drawn_and_the_rest_is_named():
    engine = FakeEngine({"a.md": note_file("A", id="a", body=("word " * 200 + "\n\n") * 9)})
    stage = Stage(NotePreview(id="preview"))
    async with stage.run_test():
        preview = stage.query_one(NotePreview)
        preview.show(engine.read_note("a.md"), None)
        path, body = preview._shown
        assert path == "a.md" and len(body) < BODY_CHARS + 100 and body.rstrip().endswith("whole note.*")


async def test_the_same_note_again_keeps_its_place_and_another_begins_at_its_top():
    files = {f"{name}.md": note_file(name, id=name, body="line\n\n" * 30) for name in "ab"}
    engine = FakeEngine(files)
    stage = Stage(NotePreview(id="preview"))
    async with stage.run_test() as pilot:
        preview = stage.query_one(NotePreview)
        preview.show(engine.read_note("a.md"), None)
        await until(pilot, lambda: preview.max_scroll_y > 20)
        preview.scroll_to(y=20, animate=False)
        await until(pilot, lambda: preview.scroll_y == 20)
        preview.show(engine.read_note("a.md"), None)
        assert preview.scroll_y == 20
        preview.show(engine.read_note("b.md"), None)
        await until(pilot, lambda: preview.scroll_y == 0)


async def test_what_cannot_be_read_is_said_and_then_nothing_is_left_of_the_note_before():
    stage = Stage(NotePreview(id="preview"))
    async with stage.run_test() as pilot:
        preview = stage.query_one(NotePreview)
        preview.show(FakeEngine({"a.md": note_file("A", id="a", body="Text.")}).read_note("a.md"), None)
        preview.complain("b.md", "permission [denied]")
        await until(pilot, lambda: "✖ permission [denied]" in screen_text(stage))
        assert "Text." not in screen_text(stage) and preview.query_one(Markdown).source == ""
        preview.clear()
        await until(pilot, lambda: not screen_text(stage).strip())
