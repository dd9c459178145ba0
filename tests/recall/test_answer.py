"""What passive recall is told of an answer."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmem.recall.answer import MOST_CLUES, Candidate, Clue, clues
from vaultmem.recall.scoring import Signals, Verdict

VERDICTS = st.sampled_from(Verdict)


def candidate(rank: int, verdict: Verdict) -> Candidate:
    return Candidate(f"m{rank}", 1 - rank / 100, verdict, Signals(), f"{rank}.md", "name", "about it", rank)


def test_a_clue_has_a_hints_fields_and_its_verdict_as_plain_text() -> None:
    (clue,) = clues([candidate(0, Verdict.SUPPRESSED)])
    assert clue == Clue("m0", 1.0, "name", "about it", "suppressed")
    assert type(clue.verdict) is str


@settings(deadline=None)
@given(st.lists(VERDICTS, max_size=40))
def test_clues_are_the_best_and_every_one_that_passed_in_order(verdicts: list[Verdict]) -> None:
    told = [clue.id for clue in clues([candidate(rank, verdict) for rank, verdict in enumerate(verdicts)])]
    best = [f"m{rank}" for rank in range(len(verdicts))][:MOST_CLUES]
    passed = [f"m{rank}" for rank, v in enumerate(verdicts) if v in (Verdict.HINTED, Verdict.SUPPRESSED)]
    assert told == best + [one for one in passed if one not in best]
