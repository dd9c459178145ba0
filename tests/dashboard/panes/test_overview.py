"""Overview: what there is, what is wrong and what wants to be looked at, at a glance."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from textual.widgets import Digits, Static

from tests.dashboard.stage import Stage
from tui.messages import DiagnosticsAsked, TagAsked
from tui.models.shelf import Shelf
from tui.panes.overview import TILES, OverviewPane
from tui.testing.driving import screen_text, until
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import NOW
from tui.widgets.rows import Rows
from vaultmem.events import SyncFinished, SyncReport

SIZE = (120, 50)


def tiles(stage: Stage) -> dict[str, str]:
    return {key: stage.query_one(f"#tile-{key} Digits", Digits).value for key in TILES}


async def test_the_notes_are_counted_and_a_conflict_alarms(engine):
    stage = Stage(OverviewPane(id="overview-pane"))
    async with stage.run_test(size=SIZE):
        pane = stage.query_one(OverviewPane)
        pane.show_shelf(Shelf.of(engine.notes()))
        assert tiles(stage) == {
            "notes": "8",
            "memories": "2",
            "deprecated": "1",
            "conflicts": "2",
            "pending": "0",
        }
        assert stage.query_one("#tile-conflicts").has_class("-alarming")
        assert not stage.query_one("#tile-deprecated").has_class("-alarming")
        pane.show_pending(1200)
        assert tiles(stage)["pending"] == "1,200"


async def test_a_row_leads_to_the_findings_or_to_the_notes_it_counts(engine):
    stage = Stage(OverviewPane(id="overview-pane"))
    async with stage.run_test(size=SIZE) as pilot:
        pane = stage.query_one(OverviewPane)
        pane.show_shelf(Shelf.of(engine.notes()))
        pane.show_diagnostics(engine.diagnostics())
        pane.enter()
        keys = stage.query_one("#severities", Rows).keys
        assert list(keys[:3]) == ["error", "warning", "info"] and "code:conflict_id" in keys
        await pilot.press("down", "enter")
        stage.query_one("#severities", Rows).go_to("code:conflict_id")
        await pilot.press("enter")
        stage.query_one("#top-tags").focus()
        await pilot.press("down", "enter")
        asked = [(each.severity, each.text) for each in stage.told(DiagnosticsAsked)]
        assert asked == [("warning", ""), ("", "conflict_id")]
        assert [each.tag for each in stage.told(TagAsked)] == ["git"]


async def test_the_engine_and_its_last_syncs_are_told_and_what_is_wrong_with_it(engine):
    stage = Stage(OverviewPane(id="overview-pane"))
    async with stage.run_test(size=SIZE) as pilot:
        pane = stage.query_one(OverviewPane)
        pane.show_status(replace(engine.status(), message="The [model] cannot be loaded."))
        pane.show_syncs([SyncFinished(NOW, SyncReport(added=at)) for at in range(1, 6)])
        await until(pilot, lambda: "▲ The [model] cannot be loaded." in screen_text(stage))
        shown = screen_text(stage)
        assert "multilingual-e5-small (bundled)" in shown and "native" in shown
        syncs = str(stage.query_one("#last-syncs", Static).content).splitlines()
        assert [line.split("  ")[1] for line in syncs] == [f"{at} added" for at in (5, 4, 3, 2)]


async def test_an_empty_vault_says_what_to_do_and_one_that_was_never_read_does_not():
    engine = FakeEngine()
    stage = Stage(OverviewPane(id="overview-pane"))
    async with stage.run_test(size=SIZE) as pilot:
        pane = stage.query_one(OverviewPane)
        pane.show_status(engine.status())
        await until(pilot, lambda: "No notes yet" in screen_text(stage))
        pane.show_status(replace(engine.status(), state="never_synced"))
        await until(pilot, lambda: "No notes yet" not in screen_text(stage))
        pane.show_weeks(date(2026, 5, 20))
        await until(pilot, lambda: "no memories in these weeks" in screen_text(stage))
