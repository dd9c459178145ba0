"""What the engine did, newest first."""

from __future__ import annotations

from tests.dashboard.stage import Stage
from tests.dashboard.steps import ready
from tui.models.activity import KINDS
from tui.panes.activity import ActivityPane
from tui.testing.driving import screen_text, until
from tui.testing.notes import NOW
from tui.widgets.filter_bar import FilterBar
from tui.widgets.rows import Rows
from vaultmem.events import EngineFailed, SyncFinished, SyncReport

SIZE = (110, 34)


async def test_a_failure_of_the_engine_shows_in_the_activity(engine, open_dashboard):
    app = open_dashboard(engine)
    async with app.run_test(size=SIZE) as pilot:
        await ready(app, pilot)
        engine.tell(EngineFailed(NOW, "the model [bold]cannot[/] be loaded", "Set VAULTMEM_EMBEDDER=none."))
        await until(pilot, lambda: "degraded" in screen_text(app))
        await pilot.press("5")
        await until(pilot, lambda: "the model [bold]cannot[/] be loaded" in screen_text(app))


def synced(minute: int, **counts: int) -> SyncFinished:
    return SyncFinished(NOW.replace(minute=minute), SyncReport(scanned=8, **counts))


def shown(stage: Stage) -> list[str]:
    pane = stage.query_one(ActivityPane)
    return [each.text for each in pane._shown]


async def test_events_are_listed_newest_first_and_each_of_them_once():
    stage = Stage(ActivityPane(id="activity-pane"))
    async with stage.run_test():
        pane = stage.query_one(ActivityPane)
        pane.add([synced(3, added=3), synced(1, added=1)])
        pane.add([synced(2, added=2), synced(3, added=3)])
        assert shown(stage) == ["3 added", "2 added", "1 added"]
        assert [event.report.added for event in pane.syncs] == [1, 2, 3]


async def test_a_filter_and_a_kind_leave_what_is_wanted_and_escape_shows_all_again():
    stage = Stage(ActivityPane(id="activity-pane"))
    async with stage.run_test() as pilot:
        pane = stage.query_one(ActivityPane)
        pane.add([synced(1, added=1), synced(2, deleted=1), EngineFailed(NOW, "no model", "Install one.")])
        pane.enter()
        await pilot.press("slash", *"DELETED", "enter")
        assert shown(stage) == ["1 deleted"]
        await pilot.press("escape")
        await until(pilot, lambda: len(shown(stage)) == 3)
        kinds = list(KINDS)
        await pilot.press(*["s"] * (kinds.index("failed") + 1))
        assert shown(stage) == ["no model"]
        assert pane.query_one(FilterBar).note == "failed · 1 of 3"
        await until(pilot, lambda: "Install one." in screen_text(stage))


async def test_what_is_new_is_followed_until_somebody_reads():
    stage = Stage(ActivityPane(id="activity-pane"))
    async with stage.run_test() as pilot:
        pane, rows = stage.query_one(ActivityPane), stage.query_one(Rows)
        pane.query_one(FilterBar).start()
        pane.add([synced(1)])
        pane.add([synced(2)])
        assert rows.index == 0
        pane.enter()
        await pilot.press("down")
        key = rows.key
        pane.add([synced(3)])
        assert rows.key == key and rows.index == 2
