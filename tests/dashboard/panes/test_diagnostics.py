"""What is wrong with the notes, and the keys that mend it."""

from __future__ import annotations

import pytest

from tests.dashboard.stage import Stage
from tests.dashboard.steps import go_to_finding, ready
from tui.dialogs.choose import ChooseDialog
from tui.messages import StatusAsked
from tui.models.findings import Group
from tui.models.shelf import Shelf
from tui.panes.diagnostics import DiagnosticsPane
from tui.requests import leave
from tui.testing.driving import screen_text, until
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import note_file
from tui.widgets.filter_bar import FilterBar
from tui.widgets.rows import Rows
from vaultmem.notes.metadata import Status

SIZE = (110, 34)


async def test_several_findings_of_one_code_are_mended_at_once(open_dashboard):
    engine = FakeEngine({f"2026/05/week2/loose{at}.md": note_file(f"Loose {at}") for at in range(4)})
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await go_to_finding(app, pilot, "missing_id")
        await pilot.press("A", "a")
        await until(pilot, lambda: all(note.id for note in engine.notes()))


async def test_the_note_of_a_broken_block_opens_in_the_editor_at_its_line(
    engine, open_dashboard, monkeypatch
):
    opened: list[tuple[str, int | None]] = []
    monkeypatch.setattr(leave, "open_in_editor", lambda app, path, line: opened.append((path.name, line)))
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        await go_to_finding(app, pilot, "bad_yaml")
        await until(pilot, lambda: "╰─" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: opened)
        assert opened[0][0] == "broken.md" and opened[0][1]


async def staged(stage: Stage, pilot, engine: FakeEngine) -> Rows:
    pane = stage.query_one(DiagnosticsPane)
    pane.show_shelf(Shelf.of(engine.notes()))
    pane.show_diagnostics(engine.diagnostics())
    pane.enter()
    rows = stage.query_one("#findings", Rows)
    await until(pilot, lambda: rows.has_focus)
    return rows


async def test_a_group_is_folded_from_each_of_its_rows_and_opened_again(engine):
    stage = Stage(DiagnosticsPane(id="diagnostics-pane"), engine=engine)
    async with stage.run_test(size=SIZE) as pilot:
        rows = await staged(stage, pilot, engine)
        every, group = list(rows.keys), rows.keys[0]
        await pilot.press("down", "left")
        assert rows.key == group and len(rows.keys) < len(every)
        await pilot.press("right")
        assert list(rows.keys) == every
        await pilot.press("enter", "enter")
        assert list(rows.keys) == every


async def test_findings_are_narrowed_by_severity_by_folder_and_by_words_and_escape_shows_all(engine):
    stage = Stage(DiagnosticsPane(id="diagnostics-pane"), engine=engine)
    async with stage.run_test(size=SIZE) as pilot:
        rows = await staged(stage, pilot, engine)
        bar, every = stage.query_one(FilterBar), list(rows.keys)
        total = len(engine.diagnostics())
        await pilot.press("s")
        errors = sum(each.severity == "error" for each in engine.diagnostics())
        assert bar.note == f"errors · {errors} of {total}"
        await pilot.press("f")
        await until(pilot, lambda: isinstance(stage.screen, ChooseDialog) and stage.focused)
        await pilot.press("down", "enter")
        await until(pilot, lambda: bar.note == f"errors · 2026/ · {errors} of {total}")
        await pilot.press("slash", *"nothing like it", "enter")
        await until(pilot, lambda: "nothing matches; esc shows all" in screen_text(stage))
        await pilot.press("escape")
        assert list(rows.keys) == every and bar.note == f"all · {total} of {total}"


async def test_a_marked_heading_means_all_its_notes(engine):
    stage = Stage(DiagnosticsPane(id="diagnostics-pane"), engine=engine)
    async with stage.run_test(size=SIZE) as pilot:
        rows = await staged(stage, pilot, engine)
        pane = stage.query_one(DiagnosticsPane)
        assert list(pane.chosen()) == [], "a heading under the cursor is no note"
        rows.go_to(Group.key_of("conflict_id"))
        await pilot.press("space")
        assert ["gitignore" in note.path for note in pane.chosen()] == [True, True]
        await pilot.press("escape")
        assert not rows.marked


async def test_enter_on_a_note_without_status_makes_it_active():
    engine = FakeEngine({"a.md": b"---\nid: a\nname: A\n---\nBody.\n"})
    stage = Stage(DiagnosticsPane(id="diagnostics-pane"), engine=engine)
    async with stage.run_test(size=SIZE) as pilot:
        rows = await staged(stage, pilot, engine)
        rows.go_to(next(key for key in rows.keys if key.startswith("missing_status")))
        await pilot.press("enter")
        await until(pilot, lambda: stage.told(StatusAsked))
    (asked,) = stage.told(StatusAsked)
    assert (asked.paths, asked.status) == (("a.md",), Status.ACTIVE)


@pytest.mark.parametrize(("key", "status"), [("enter", Status.ACTIVE), ("d", Status.DEPRECATED)])
async def test_each_status_that_is_none_becomes_active_or_deprecated_with_one_key(key, status):
    text = b"---\nid: %b\nname: A\nstatus: archived\n---\nBody.\n"
    engine = FakeEngine({f"{name}.md": text % name.encode() for name in "ab"})
    stage = Stage(DiagnosticsPane(id="diagnostics-pane"), engine=engine)
    async with stage.run_test(size=SIZE) as pilot:
        rows = await staged(stage, pilot, engine)
        rows.go_to(next(key for key in rows.keys if key.startswith("invalid_status")))
        await until(pilot, lambda: "deprecate" in screen_text(stage) and "active" in screen_text(stage))
        await pilot.press("A", key)
        await until(pilot, lambda: stage.told(StatusAsked))
    (asked,) = stage.told(StatusAsked)
    assert (asked.paths, asked.status) == (("a.md", "b.md"), status)


async def test_where_every_note_is_well_that_is_said():
    stage = Stage(DiagnosticsPane(id="diagnostics-pane"), engine=FakeEngine())
    async with stage.run_test(size=SIZE) as pilot:
        await staged(stage, pilot, FakeEngine())
        await until(pilot, lambda: "✔ every note is well" in screen_text(stage))
