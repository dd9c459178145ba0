"""A golden set made of the vault's own notes."""

from __future__ import annotations

from tests.evaluation.known import KnownEngine
from vaultmem.evaluation.golden import Kind, check_golden
from vaultmem.evaluation.proposals import MOST_NEGATIVES, MOST_POSITIVES, propose_golden


def test_a_proposed_set_fits_its_vault_and_is_marked_unreviewed() -> None:
    engine = KnownEngine(30)
    proposed = propose_golden(engine)
    check_golden(proposed, engine.notes())
    assert proposed.unreviewed == len(proposed.queries)
    assert {query.language for query in proposed.queries if query.kind is Kind.POSITIVE} == {"zh", "en"}
    assert {query.language for query in proposed.queries if query.kind is Kind.NEGATIVE} == {"zh", "en"}


def test_the_same_vault_gets_the_same_proposal() -> None:
    assert propose_golden(KnownEngine()) == propose_golden(KnownEngine())


def test_a_large_vault_gets_a_set_that_can_be_reviewed() -> None:
    queries = propose_golden(KnownEngine(300)).queries
    assert sum(query.kind is Kind.POSITIVE for query in queries) == MOST_POSITIVES
    assert sum(query.kind is Kind.NEGATIVE for query in queries) == MOST_NEGATIVES
    assert len({query.text for query in queries}) == len(queries)


def test_names_descriptions_headings_and_tags_are_asked_for() -> None:
    texts = [query.text for query in propose_golden(KnownEngine(4)).queries]
    for subject in (
        "cache layer 2",
        "高频变化层 1",
        "cache layer 2 decision about ordering",
        "cache layer-3",
    ):
        assert any(subject in text for text in texts), subject


def test_tags_that_many_memories_carry_are_no_query() -> None:
    texts = [query.text for query in propose_golden(KnownEngine(30)).queries]
    assert not any("cache layer-" in text for text in texts), "each is carried by seven"


def test_what_cannot_be_hinted_is_not_asked_for() -> None:
    engine = KnownEngine(10)
    for view in engine.views[3:]:
        view.admitted = False
    asked = {note_id for query in propose_golden(engine).queries for note_id in query.relevant}
    assert asked == {"m0", "m1", "m2"}
