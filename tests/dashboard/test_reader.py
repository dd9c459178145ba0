"""A screen reads the same thing once at a time."""

from __future__ import annotations

import pytest

from tui import reader as reader_module
from tui.reader import Reader


@pytest.fixture
def asked(monkeypatch) -> list[str]:
    """What the engine was asked for."""
    names: list[str] = []

    def ask(asker, call, answer, *, what, **_):
        names.append(what)
        return asker == "open"

    monkeypatch.setattr(reader_module, "ask", ask)
    return names


def read(reader: Reader, what: str) -> None:
    reader.read(what, lambda engine: None, lambda result: None)  # type: ignore[arg-type, return-value]


def test_what_is_asked_for_meanwhile_is_asked_for_once_more_afterwards(asked):
    reader = Reader("open")  # type: ignore[arg-type]
    for _ in range(3):
        read(reader, "notes")
    read(reader, "status")
    assert asked == ["notes", "status"]
    reader.arrived("notes")
    assert asked == ["notes", "status", "notes"]
    reader.arrived("notes")
    assert asked == ["notes", "status", "notes"]


def test_a_failure_stands_until_the_next_answer(asked):
    reader = Reader("open")  # type: ignore[arg-type]
    read(reader, "notes")
    reader.arrived("notes", is_failure=True)
    assert reader.failed == {"notes"}
    read(reader, "notes")
    reader.arrived("notes")
    assert (reader.failed, asked) == (set(), ["notes", "notes"])


def test_what_nobody_could_be_asked_is_not_waited_for(asked):
    reader = Reader("not open")  # type: ignore[arg-type]
    read(reader, "notes")
    read(reader, "notes")
    assert asked == ["notes", "notes"]
