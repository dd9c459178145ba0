"""The keys that do something now, as many as fit, and those that lead out always."""

from __future__ import annotations

from textual.binding import Binding
from textual.widget import Widget

from tests.dashboard.stage import Stage
from tui.testing.driving import screen_text, until
from tui.widgets.key_bar import KeyBar


class Keyed(Widget, can_focus=True):
    """Has keys; `t` can be taken away."""

    BINDINGS = [  # noqa: RUF012
        Binding("t", "tags", "Tags"),
        Binding("w", "write", "Write"),
        Binding("z", "hidden", "Hidden", show=False),
        Binding("f8", "help", "Help"),
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("q", "leave", "Quit"),
    ]
    has_tags = True
    done: tuple[str, ...] = ()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.has_tags or action != "tags"

    def action_tags(self) -> None:
        self.done += ("tags",)

    def action_leave(self) -> None:
        self.done += ("leave",)


def line(stage: Stage) -> str:
    return screen_text(stage).splitlines()[-1]


async def test_the_keys_that_work_now_are_shown_and_one_key_per_action():
    stage = Stage(Keyed(), KeyBar())
    async with stage.run_test() as pilot:
        assert line(stage).split() == ["t", "Tags", "w", "Write", "f8", "Help", "q", "Quit"]
        keyed = stage.query_one(Keyed)
        keyed.has_tags = False
        keyed.refresh_bindings()
        await until(pilot, lambda: "Tags" not in line(stage))


async def test_in_a_narrow_window_the_way_out_stays_in_sight():
    stage = Stage(Keyed(), KeyBar())
    async with stage.run_test(size=(28, 5)) as pilot:
        assert line(stage).split() == ["t", "Tags", "f8", "Help", "q", "Quit"]
        await pilot.resize_terminal(60, 5)
        await until(pilot, lambda: "w Write" in line(stage))


async def test_a_click_on_a_key_presses_it_and_one_beside_it_nothing():
    stage = Stage(Keyed(), KeyBar())
    async with stage.run_test() as pilot:
        keyed = stage.query_one(Keyed)
        for word in ("Tags", "Quit"):
            await pilot.click(KeyBar, offset=(line(stage).index(word), 0))
            await until(pilot, lambda: keyed.done)
        await pilot.click(KeyBar, offset=(0, 0))
        await until(pilot, lambda: keyed.done == ("tags", "leave"))
