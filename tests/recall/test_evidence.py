"""What the stores say of the memories that a prompt may be about."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.recall.vaults import Vault
from vaultmem.errors import EmbedderError
from vaultmem.notes.chunks import metadata_text, text_hash
from vaultmem.recall.evidence import Evidence, embed_prompt, gather
from vaultmem.recall.prompt import read_prompt
from vaultmem.recall.scoring import attainable, inverse_frequency
from vaultmem.stores.lexical_documents import LexicalHit


def gathered(vault: Vault, text: str) -> Evidence:
    prompt = read_prompt(text)
    return gather(prompt, embed_prompt(prompt, vault.sources()), vault.sources())


def test_a_memory_that_one_store_names_is_read_in_both(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vault.dense, "near_notes", lambda vector, limit: set())
    far = vault.add("words", "misc", "zebra " * 3 + "and much else that is about other things " * 9)
    evidence = gathered(vault, "zebra")
    assert evidence.rows.keys() == {far.note_key}
    assert evidence.counts[far.note_key].counts == {"zebra": 3}
    assert [passage.is_metadata for passage in evidence.passages[far.note_key]] == [True, False]
    assert evidence.memories == len(vault.rows) == evidence.documents


def test_a_passage_leads_back_to_its_row(vault: Vault) -> None:
    evidence = gathered(vault, "context cache ordering")
    passages = evidence.passages[0]
    rows = evidence.rows_of(passages)
    assert [rows[passage.at].text for passage in passages if not passage.is_metadata] == list(
        vault.rows[0].body
    )
    assert evidence.rows_of([]) == {}


def test_a_likeness_is_given_for_every_window(vault: Vault) -> None:
    prompt = (
        "sqlite lock timeout.\n"
        + "a log line that says nothing of it at all\n" * 60
        + "why does the cache miss?"
    )
    windows = read_prompt(prompt).windows
    evidence = gathered(vault, prompt)
    assert len(windows) > 1 and len(evidence.idf) == len(evidence.attainable) == len(windows)
    for passages in evidence.passages.values():
        assert {(len(p.cosines), len(p.likenesses)) for p in passages} == {(len(windows), len(windows))}


def test_a_whole_that_no_memory_holds_is_left_to_its_parts(vault: Vault) -> None:
    (idf,) = gathered(vault, "context/ordering and unseen").idf
    assert idf.keys() == {"context", "ordering", "unseen"}
    assert idf["unseen"] == inverse_frequency(len(vault.rows), 0)


def test_share_and_coverage_are_of_what_the_window_asks_for(vault: Vault) -> None:
    evidence = gathered(vault, "zebra crossing")
    (idf,) = evidence.idf
    assert evidence.attainable == [pytest.approx(attainable(idf.values()))]
    every, half, none = (
        LexicalHit(0, "now", counts, 5)
        for counts in ({"zebra": 1, "crossing": 1}, {"zebra": 1}, {"other": 9})
    )
    assert evidence.coverage(every, 0) == pytest.approx(1)
    assert evidence.coverage(half, 0) == pytest.approx(idf["zebra"] / sum(idf.values()))
    assert evidence.coverage(none, 0) == evidence.bm25_share(none, 0) == 0
    assert 0 < evidence.bm25_share(half, 0) < evidence.bm25_share(every, 0) < 1


def test_a_window_without_terms_is_shared_by_no_document(vault: Vault) -> None:
    evidence = replace(gathered(vault, "zebra"), idf=[{}], attainable=[0.0])
    hit = LexicalHit(0, "now", {"zebra": 1}, 5)
    assert evidence.bm25_share(hit, 0) == evidence.coverage(hit, 0) == 0


def test_an_embedded_prompt_is_a_centred_unit_vector_a_window(vault: Vault) -> None:
    vectors = embed_prompt(read_prompt("context cache ordering"), vault.sources())
    assert vectors is not None
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1], abs=1e-5)


def test_without_meaning_no_vector_is_made_and_no_passage_found(vault: Vault) -> None:
    vault.dense, embedded = None, vault.embedder.texts_embedded
    assert embed_prompt(read_prompt("context cache"), vault.sources()) is None
    evidence = gathered(vault, "context cache")
    assert (evidence.passages, evidence.embedded) == ({}, None) and evidence.counts
    assert vault.embedder.texts_embedded == embedded


def test_the_failure_of_an_embedder_is_not_swallowed_here(vault: Vault) -> None:
    vault.embedder.is_failing = True
    with pytest.raises(EmbedderError):
        embed_prompt(read_prompt("context cache"), vault.sources())


def test_without_words_evidence_is_vectors_alone(vault: Vault) -> None:
    vault.lexical = None
    evidence = gathered(vault, "context cache ordering")
    assert (evidence.counts, evidence.documents, evidence.average_length) == ({}, 0, 0.0)
    assert 0 in evidence.passages


# --- versions


def test_vectors_of_another_version_do_not_count(vault: Vault) -> None:
    vault.rows[0] = replace(vault.rows[0], dense_digest="other", digest="other")
    (found,) = [c for c in vault.ask("context cache ordering").candidates if c.id == "cache"]
    assert found.signals.dense is None and found.signals.bm25 is not None


def test_terms_of_another_version_do_not_count(vault: Vault) -> None:
    vault.rows[0] = replace(vault.rows[0], lexical_digest="other")
    (found,) = [c for c in vault.ask("context cache ordering").candidates if c.id == "cache"]
    assert found.signals.bm25 is None and found.signals.dense is not None


def test_text_that_an_edit_removed_stops_counting_while_the_new_one_is_pending(vault: Vault) -> None:
    kept = text_hash(metadata_text("context cache ordering", "something", ()))
    vault.rows[0] = replace(vault.rows[0], digest="edited", chunk_hashes=frozenset({kept}))
    (found,) = [c for c in vault.ask("context cache ordering").candidates if c.id == "cache"]
    assert found.signals.dense_metadata is not None and found.signals.chunks == ()
