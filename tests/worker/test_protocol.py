"""The protocol's values: what stands for what on the wire."""

from __future__ import annotations

from collections import UserString
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import PurePosixPath
from types import MappingProxyType

import numpy as np
import pytest

from vaultmem.recall.answer import Candidate, Hint, Mode, Recall
from vaultmem.recall.scoring import ChunkSignal, Signals, Verdict
from vaultmem.worker.protocol import decode, encode, plain, read_recall


@dataclass(frozen=True, slots=True)
class Nothing:
    """A value that says nothing."""


class Number(int):
    """A number of a kind of its own."""


class Colour(Enum):
    """Not a text."""

    RED = 1


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, None),
        (True, True),
        (Number(3), 3),
        (np.float64(0.5), 0.5),
        ("\ud800", "\ud800"),
        (Mode.HYBRID, "hybrid"),
        (Colour.RED, 1),
        (Nothing(), {}),
        (Hint("a", 0.5, "n", "d", "p.md"), {"id": "a", "score": 0.5, "name": "n", "description": "d", "path": "p.md"}),
        ((1, [2, ("three",)]), [1, [2, ["three"]]]),
        (frozenset({"one"}), ["one"]),
        (MappingProxyType({1: Mode.NONE}), {"1": "none"}),
        (PurePosixPath("a/b.md"), "a/b.md"),
        (UserString("text"), "text"),
        (datetime(2026, 5, 14, tzinfo=UTC), "2026-05-14 00:00:00+00:00"),
    ],
)  # fmt: skip
def test_each_kind_of_value_has_one_form(value: object, said: object) -> None:
    assert plain(value) == said
    assert decode(encode({"result": plain(value)}))["result"] == said


def test_an_answer_arrives_as_it_was_given() -> None:
    chunk = ChunkSignal("缓存 \ud800", "Heading", 3, 9, 0.5, 1.0, 0.25)
    signals = Signals(0.1, None, 0.3, 0.4, {"project": 0.02}, (chunk,), ("cache",))
    candidate = Candidate("a", 0.5, Verdict.HINTED, signals, "a.md", "A", "about A", 7)
    recall = Recall("q", (Hint("a", 0.5, "A", "about A", "a.md"),), (candidate,), Mode.LEXICAL, "no model")
    assert read_recall(decode(encode({"result": plain(recall)}))["result"]) == recall
