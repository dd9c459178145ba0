"""Asking the engine: one call in a thread, one message back, whatever it raises."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import pytest
from textual.message import Message

from tests.dashboard.stage import Stage
from tui.asking import Results, ask, error_text, failure, for_each
from tui.messages import CallFailed
from tui.testing.driving import until
from tui.testing.fake_engine import FakeEngine
from tui.testing.notes import refused
from vaultmem.errors import StoreError


@dataclass(eq=False)
class Answered(Message):
    """What the engine said."""

    result: object


async def test_the_answer_comes_back_as_a_message_and_the_call_runs_in_another_thread(engine):
    stage = Stage(engine=engine)
    async with stage.run_test() as pilot:
        assert ask(stage, lambda engine: (engine.tags(), threading.current_thread()), Answered, what="asking")
        await until(pilot, lambda: stage.told(Answered))
        (answered,) = stage.told(Answered)
        tags, thread = answered.result
        assert tags == engine.tags() and thread is not threading.main_thread()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (StoreError("it is torn", advice="Sync."), ("asking", "it is torn", "Sync.")),
        (ZeroDivisionError("division by zero"), ("asking", "ZeroDivisionError: division by zero", "")),
        (KeyError(), ("asking", "KeyError", "")),
    ],
)
async def test_whatever_the_engine_raises_becomes_a_message(error, told):
    engine = FakeEngine()
    engine.failing["tags"] = error
    stage = Stage(engine=engine)
    async with stage.run_test() as pilot:
        ask(stage, lambda engine: engine.tags(), Answered, what="asking")
        await until(pilot, lambda: stage.told(CallFailed))
        ask(stage, lambda engine: engine.tags(), Answered, what="asking", on_error=lambda e: Answered(e))
        await until(pilot, lambda: stage.told(Answered))
    (failed,) = stage.told(CallFailed)
    assert (failed.what, failed.message, failed.advice) == told
    assert stage.told(Answered)[0].result is error


async def test_of_a_group_only_the_newest_answer_is_delivered(engine):
    stage = Stage(engine=engine)
    may_answer = threading.Event()
    async with stage.run_test() as pilot:
        for number in (1, 2):
            ask(stage, lambda _, number=number: may_answer.wait(20) and number, Answered, what="asking")
        ask(stage, lambda _: may_answer.wait(20) and 3, Answered, what="asking other things")
        may_answer.set()
        await until(pilot, lambda: len(stage.told(Answered)) == 2)
    assert {each.result for each in stage.told(Answered)} == {2, 3}


async def test_while_there_is_no_engine_nothing_is_asked():
    stage = Stage()
    async with stage.run_test():
        assert not ask(stage, lambda engine: engine.tags(), Answered, what="asking")
        assert not list(stage.workers)


def test_one_refusal_stops_no_other_call_and_keeps_its_reason_and_advice():
    def call(name: str) -> int:
        if name == "b":
            raise refused("b.md")
        if name == "c":
            raise ValueError
        return len(name)

    assert for_each(["a", "b", "c", "dd"], call) == Results(
        {"a": 1, "dd": 2},
        {
            "b": "b.md cannot be edited: bad_yaml, line 3. Mend the note in an editor first.",
            "c": "ValueError",
        },
    )


def test_an_error_of_ours_speaks_for_itself_and_any_other_brings_its_name():
    assert error_text(StoreError("it is torn")) == "it is torn"
    assert error_text(OSError("no space")) == "OSError: no space"
    assert failure("saving", OSError("no space")).advice == ""
