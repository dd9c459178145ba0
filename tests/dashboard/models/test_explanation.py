"""Why a candidate is hinted or not: the verdict in words, and numbers that add up."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.models.explanation import Question, explain
from vaultmem.recall.answer import Candidate
from vaultmem.recall.scoring import ChunkSignal, Signals, Verdict

QUESTION = Question(terms=("redis", "queue"), min_score=0.5, limit=3, rank=2)
CHUNK = ChunkSignal("Redis " * 100, "Queues", 12, 14, cosine=0.42, weight=1.0, likeness=0.8)
SIGNALS = Signals(
    dense_metadata=0.2, dense_body=0.4, dense=0.4, bm25=0.5, chunks=(CHUNK,), terms=("redis",)
)  # fmt: skip


def told(
    score: float = 0.43,
    verdict: Verdict = Verdict.BELOW_THRESHOLD,
    signals: Signals = SIGNALS,
    question: Question = QUESTION,
    description: str = "Redis as a cache",
) -> str:
    candidate = Candidate("mem_redis", score, verdict, signals, "redis.md", "Redis", description, 0)
    return explain(candidate, question, 60).plain


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (Verdict.HINTED, "the agent gets this line, as number 2 of at most 3"),
        (Verdict.BELOW_THRESHOLD, "0.07 short of the threshold"),
        (Verdict.OVER_LIMIT, "number 2, and only 3 are given"),
        (Verdict.SUPPRESSED, "the agent was given this one before"),
        (Verdict.DEPRECATED, "only a note with status: active is recalled"),
        (Verdict.CONFLICT, "another note carries the same id"),
        (Verdict.NO_DESCRIPTION, "a hint without a description says nothing"),
    ],
)
def test_each_verdict_is_told_in_words(verdict, words):
    assert words in told(verdict=verdict)


def test_every_verdict_has_words_of_its_own_and_a_way_to_change_it():
    because = {verdict: told(verdict=verdict).splitlines()[3] for verdict in Verdict}
    assert len(set(because.values())) == len(Verdict)
    assert all("What would change it\n  " in told(verdict=verdict) for verdict in Verdict)


def test_the_score_is_the_sum_that_is_shown():
    shown = told(signals=Signals(dense=0.4, bm25=0.5, bonus={"own_project": 0.05}), score=0.48)
    assert "score = 0.7 × meaning + 0.3 × words + own_project" in shown
    assert "= 0.7 × 0.400 + 0.3 × 0.500 + 0.050 = 0.480" in shown
    assert "bonus own project +0.050" in shown


def test_with_one_signal_alone_its_weight_is_divided_out():
    shown = told(signals=Signals(bm25=0.5), score=0.5)
    assert "score = (0.3 × words) ÷ 0.3" in shown and "= (0.3 × 0.500) ÷ 0.3 = 0.500" in shown
    assert "no meaning yet" in shown and "Meaning of" not in shown
    assert "no words:" in told(signals=Signals(dense=0.5))
    assert "No signal could be had" in told(signals=Signals())


@pytest.mark.parametrize(("bonus", "is_said"), [(0.1, False), (0.9, True), (-0.9, True)])
def test_a_sum_that_is_kept_within_0_and_1_says_so(bonus, is_said):
    assert ("kept within 0 and 1" in told(signals=Signals(dense=0.5, bonus={"b": bonus}))) is is_said


@given(
    st.floats(0, 1),
    st.floats(0, 1),
    st.sampled_from([{}, {"b": 0.05}]),
    st.floats(0.05, 1).map(lambda x: round(x, 2)),
)
def test_what_would_be_enough_is_enough(dense, words, bonus, min_score):
    signals = Signals(dense=dense, bm25=words, bonus=bonus)
    question = Question((), min_score, 3, 0)
    shown = told(signals.score, signals=signals, question=question)
    for name, better in (("Meaning", "dense"), ("Words", "bm25")):
        wanted = re.search(rf"{name} of (-?\d\.\d\d) instead", shown)
        enough = float(wanted[1]) if wanted else 1.0
        score = Signals(**{"dense": dense, "bm25": words, "bonus": bonus, better: enough}).score
        assert score >= min_score - 0.01 if wanted else score <= min_score + 0.01


def test_words_are_told_by_whether_they_are_in_the_note():
    shown = told()
    assert "in the note: ✓ redis" in shown and "not in it: ✗ queue" in shown
    assert "These words of the prompt are not in it: queue." in shown


def test_the_nearest_part_and_the_nearest_chunks_are_named():
    shown = told()
    assert "the body is nearer" in shown
    assert "1.00 × 0.800" in shown and "lines 12–14, cosine 0.42" in shown and "Queues" in shown
    assert max(len(line) for line in shown.splitlines()) < 330, "a long chunk is cut"
    assert "body        —   not there" in told(signals=Signals(dense=0.2, dense_metadata=0.2))


@pytest.mark.parametrize("verdict", [Verdict.DEPRECATED, Verdict.CONFLICT, Verdict.NO_DESCRIPTION])
def test_what_is_out_for_another_reason_and_short_of_the_threshold_says_both(verdict):
    assert "still have to grow by 0.07" in told(verdict=verdict)
    assert "still have to grow" not in told(0.6, verdict=verdict)
