"""One finding: what is wrong, how to mend it, the keys that do, and its place in the note."""

from __future__ import annotations

from tests.dashboard.stage import Stage
from tui.models.findings import Finding, Findings, Group
from tui.panes.finding_view import FindingView
from tui.testing.driving import screen_text, until
from tui.testing.fake_engine import FakeEngine
from tui.widgets.source import Source
from vaultmem.errors import StoreError

SIZE = (110, 30)


def finding(engine: FakeEngine, code: str) -> Finding:
    return next(each for each in Findings().with_diagnostics(engine.diagnostics()).found if each.code == code)


async def test_a_finding_is_told_with_its_fixes_and_marked_in_its_note(engine):
    stage = Stage(FindingView(id="finding"), engine=engine)
    found = finding(engine, "bad_yaml")
    async with stage.run_test(size=SIZE) as pilot:
        stage.query_one(FindingView).show(found)
        await until(pilot, lambda: "╰─" in screen_text(stage))
        shown = screen_text(stage)
        assert "✖ Bad YAML  error" in shown and f"{found.path}:{found.line}:{found.column}" in shown
        assert "e ⏎\u00a0open\u00a0in\u00a0the\u00a0editor" in shown
        assert any("▶" in line and "name:" in line for line in shown.splitlines())


async def test_read_only_no_key_is_offered(engine):
    stage = Stage(FindingView(id="finding"), engine=engine, is_read_only=True)
    async with stage.run_test(size=SIZE) as pilot:
        stage.query_one(FindingView).show(finding(engine, "missing_description"))
        await until(pilot, lambda: "Missing description" in screen_text(stage))
        assert "⏎" not in screen_text(stage)


async def test_a_note_that_cannot_be_read_says_why_in_its_place(engine):
    engine.failing["read_note"] = StoreError("permission [denied]")
    stage = Stage(FindingView(id="finding"), engine=engine)
    async with stage.run_test(size=SIZE) as pilot:
        stage.query_one(FindingView).show(finding(engine, "missing_id"))
        await until(pilot, lambda: "✖ permission [denied]" in screen_text(stage))


async def test_only_the_note_on_which_the_cursor_rests_is_read(engine):
    stage = Stage(FindingView(id="finding"), engine=engine)
    async with stage.run_test(size=SIZE) as pilot:
        view = stage.query_one(FindingView)
        for code in ("bad_yaml", "missing_id", "missing_description"):
            view.show(finding(engine, code))
        await until(pilot, lambda: "Run Redis with noeviction" in screen_text(stage))
        assert engine.calls.count("read_note") == 1
        view.show(Group("missing_id", "warning", 1200, is_folded=False))
        await until(pilot, lambda: "1,200" in screen_text(stage))
        assert not view.query_one(Source).keys and "enter folds" in screen_text(stage)
        view.show(None)
        await until(pilot, lambda: not screen_text(stage).strip())
