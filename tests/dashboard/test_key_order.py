"""Keys are handled in their order, however fast they come."""

from __future__ import annotations

from textual import events

from tests.dashboard.steps import ready
from tui.key_order import KeyOrder, KeySettled
from tui.testing.driving import until


async def test_keys_that_come_faster_than_the_screen_reach_what_they_are_meant_for(engine, open_dashboard):
    app = open_dashboard(engine)
    words = [
        "2",
        "slash",
        *"missing_desc",
        "enter",
        "down",
        "w",
        *"Hello",
        "enter",
        "4",
        "t",
        *"zz",
        "enter",
        "enter",
    ]
    async with app.run_test(size=(120, 40)) as pilot:
        await ready(app, pilot)
        for word in words:
            app.post_message(events.Key(word, word if len(word) == 1 else None))
        await until(pilot, lambda: any(b"- zz" in data or b" zz" in data for data in engine.files.values()))
        assert b"description: Hello\n" in engine.files["2026/05/week2/2026-05-14-redis.md"]


class App:
    """As much of an app as the order of keys needs; a test lets its timers ring."""

    def __init__(self) -> None:
        self.focused, self.screen = self, object()
        self.is_open = True
        self.posted: list = []
        self.timers: list = []

    def post_message(self, message) -> bool:
        if self.is_open:
            self.posted.append(message)
        return self.is_open

    def set_timer(self, delay_s, callback) -> None:
        self.timers.append(callback)


def keys(app: App) -> list[str]:
    return [message.key for message in app.posted if isinstance(message, events.Key)]


def settle(order: KeyOrder, number: int) -> None:
    for round_trip in (1, 2):
        order.settled(KeySettled(number, round_trip))


def test_a_key_waits_until_the_one_before_it_has_been_handled_with_all_that_came_of_it():
    app = App()
    order = KeyOrder(app)  # type: ignore[arg-type]
    assert not order.must_wait(events.Key("a", "a"))
    assert order.must_wait(events.Key("b", "b")) and order.must_wait(events.Key("c", "c"))
    order.follow(app)
    order.settled(KeySettled(1, 1))
    assert keys(app) == [], "what its action has sent is still under way"
    order.settled(KeySettled(1, 2))
    assert keys(app) == ["b"]
    assert not order.must_wait(events.Key("b", "b"))
    settle(order, 1)
    assert keys(app) == ["b"], "an old follower lets nothing go"
    settle(order, 2)
    assert keys(app) == ["b", "c"]


def test_a_key_whose_widget_goes_away_holds_the_next_one_no_longer_than_its_timer():
    app = App()
    order = KeyOrder(app)  # type: ignore[arg-type]
    order.must_wait(events.Key("a", "a"))
    order.must_wait(events.Key("b", "b"))
    order.follow(app)
    (ring,) = app.timers
    ring()
    assert keys(app) == ["b"]


def test_a_widget_that_takes_no_message_any_more_is_not_waited_for():
    app = App()
    order = KeyOrder(app)  # type: ignore[arg-type]
    order.must_wait(events.Key("a", "a"))
    app.is_open = False
    order.follow(app)
    assert not order.must_wait(events.Key("b", "b"))


def test_keys_that_are_forgotten_are_not_handled():
    app = App()
    order = KeyOrder(app)  # type: ignore[arg-type]
    order.must_wait(events.Key("a", "a"))
    order.must_wait(events.Key("b", "b"))
    order.forget()
    settle(order, 1)
    assert keys(app) == [] and not order.must_wait(events.Key("c", "c"))
