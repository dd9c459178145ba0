"""What was refused or found, to read."""

from __future__ import annotations

import pytest
from textual.content import Content

from tests.dashboard.stage import Stage
from tui.dialogs.told import ToldDialog, checks_dialog
from tui.testing.driving import screen_text, until
from vaultmem.views import Check, DoctorReport


async def test_it_closes_with_any_key_that_says_so():
    stage = Stage()
    async with stage.run_test() as pilot:
        for key in ("escape", "enter", "q"):
            stage.push_screen(ToldDialog("1 note not changed", [Content("broken.md"), Content("  bad_yaml")]))
            await until(pilot, lambda: "bad_yaml" in screen_text(stage))
            assert "1 note not changed" in screen_text(stage)
            await pilot.press(key)
            assert not isinstance(stage.screen, ToldDialog)


@pytest.mark.parametrize(("ok", "title", "sign"), [(True, "agree", "✔"), (False, "disagree", "✖")])
async def test_checks_are_told_with_a_sign_each_and_what_they_come_to(ok, title, sign):
    report = DoctorReport(ok, (Check("lexical store", ok, "holds every [note] once"),), ())
    stage = Stage()
    async with stage.run_test() as pilot:
        stage.push_screen(checks_dialog(report))
        await until(pilot, lambda: f"{sign} lexical store  holds every [note] once" in screen_text(stage))
        assert f"The caches {title} with the notes" in screen_text(stage)
