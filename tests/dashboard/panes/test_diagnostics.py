"""What is wrong with the notes, and the keys that mend it."""

from __future__ import annotations

from tests.dashboard.steps import go_to_finding, ready
from tui.requests import leave
from tui.testing.driving import screen_text, until
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import note_file

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
