"""Every tab has its list, and a way to it from each of its parts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from textual.widgets import Input

from tests.dashboard.stage import Stage
from tests.dashboard.steps import many_notes
from tui.messages import CopyAsked
from tui.panes.pane import WRITING, NotePane
from tui.testing.driving import screen_text, until
from tui.widgets.rows import Rows
from vaultmem.views import NoteView

SIZE = (120, 34)


@pytest.mark.parametrize("tab", ["2", "4", "5"])
async def test_a_filter_says_how_it_is_left(open_dashboard, tab):
    app = open_dashboard(many_notes())
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.engine is not None and app.dashboard.shelf.notes)
        await pilot.press(tab, "slash")
        assert "esc To the list" in screen_text(app).splitlines()[-1]
        await pilot.press("z")
        line = screen_text(app).splitlines()[-1]
        assert "esc Clear" in line and "⏎ To the list" in line
        await pilot.press("escape", "escape")
        pane = app.dashboard.pane({"2": "diagnostics", "4": "memories", "5": "activity"}[tab])
        assert pane.query_one(pane.LIST).has_focus


async def test_escape_leads_from_the_parts_of_a_tab_to_its_list(open_dashboard):
    app = open_dashboard(many_notes())
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.engine is not None and app.dashboard.shelf.notes)
        for part in ("#preview", "#places", "#tabs"):
            await pilot.press("4", "slash", *"note", "enter")
            app.screen.set_focus(app.dashboard.query_one(part))
            await pilot.press("escape")
            assert app.dashboard.query_one("#memories", Rows).has_focus
            assert app.dashboard.query_one("#memories-filter Input", Input).value.endswith("note")


class Chosen(NotePane):
    """A tab on which these notes are chosen."""

    def __init__(self, notes: Sequence[NoteView], *, is_read_only: bool = False) -> None:
        super().__init__()
        self._notes, self._is_read_only = notes, is_read_only

    @property
    def is_read_only(self) -> bool:
        return self._is_read_only

    def chosen(self) -> Sequence[NoteView]:
        return self._notes


ACTIONS = (
    "edit_tags", "describe", "deprecate", "activate", "resolve", "adopt",
    "open_editor", "open_obsidian", "copy_id", "copy_link", "trash",
)  # fmt: skip
LOOKING = {"open_editor", "open_obsidian", "copy_id", "copy_link"}


def offered(pane: NotePane) -> set[str]:
    return {action for action in ACTIONS if pane.check_action(action, ())}


@pytest.mark.parametrize(
    ("names", "actions"),
    [
        ((), set()),
        (("cache-order",), LOOKING | {"edit_tags", "describe", "deprecate", "trash"}),
        (("retry",), LOOKING | {"edit_tags", "describe", "activate", "trash"}),
        (("no-id",), LOOKING | {"edit_tags", "describe", "deprecate", "adopt", "trash"}),
        (("gitignore",), LOOKING | {"edit_tags", "describe", "deprecate", "adopt", "trash", "resolve"}),
        (("broken",), LOOKING | {"trash"}),
        (("cache-order", "broken"), {"edit_tags", "deprecate", "copy_id", "copy_link", "trash"}),
        (("cache-order", "retry"), {"edit_tags", "deprecate", "copy_id", "copy_link", "trash"}),
    ],
)
def test_the_keys_that_would_do_something_to_the_chosen_notes_are_there(engine, names, actions):
    by_name = {note.path.rpartition("/")[2].removesuffix(".md")[-11:]: note for note in engine.notes()}
    notes = [note for name in names for key, note in by_name.items() if key.endswith(name)]
    assert len(notes) == len(names)
    assert offered(Chosen(notes)) == actions
    assert offered(Chosen(notes, is_read_only=True)) == actions - WRITING


async def test_what_is_copied_is_every_chosen_note_s(engine):
    notes = engine.notes()[:2]
    stage = Stage(Chosen(notes))
    async with stage.run_test() as pilot:
        pane = stage.query_one(Chosen)
        pane.action_copy_id()
        pane.action_copy_link()
        await pilot.pause()
    assert [(each.text, each.what) for each in stage.told(CopyAsked)] == [
        ("mem_cache_order\nmem_seen_set", "2 ids"),
        ("[[2026-05-11-cache-order]]\n[[2026-05-12-seen-set]]", "2 wikilinks"),
    ]
