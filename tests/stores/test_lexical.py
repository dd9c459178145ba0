"""What both lexical stores promise: the real one and the fake that ships beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from vaultmem.stores.lexical import LexicalStore
from vaultmem.stores.lexical_documents import LexicalDoc, LexicalHit
from vaultmem.testing import DictLexicalStore

Store = LexicalStore | DictLexicalStore

ODD_TERMS = (
    "c++", "+foo", "-bar", '"quoted"', "a:b", "(x", "^2", "~", "*", "\\", "/", "it's", "AND", "or", "猫", "缓存",
    "a b", "tab\there", "line\nbreak", "nul\0", "\u3000", "é", "e\u0301", "😀", "\ud800", "0", "-1", " ", "x" * 5000,
)  # fmt: skip


@pytest.fixture(params=["tantivy", "dict"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return (
        DictLexicalStore() if request.param == "dict" else LexicalStore(tmp_path / "lexical", writable=True)
    )


def doc(note_key: int, text: str = "alpha beta beta", digest: str = "aa") -> LexicalDoc:
    words = text.split()
    return LexicalDoc(note_key, digest, {word: words.count(word) for word in words})


def keys(hits: list[LexicalHit]) -> list[int]:
    return [hit.note_key for hit in hits]


def test_an_empty_store_answers_every_question(store: Store) -> None:
    assert store.search(["alpha"], 5) == []
    assert store.read([1], ["alpha"]) == []
    assert store.document_frequencies(["alpha"]) == {"alpha": 0}
    assert store.statistics() == (0, 0)
    assert store.versions() == {}
    assert store.count() == 0
    store.delete([(1, "aa")])
    store.delete_keys([1])
    store.maintain()
    store.maintain(force=True)


def test_a_hit_tells_the_counts_of_the_query_terms_and_the_length(store: Store) -> None:
    store.add([doc(5, "alpha beta beta gamma")])
    assert store.search(["beta", "alpha", "delta", "beta"], 5) == [
        LexicalHit(5, "aa", {"beta": 2, "alpha": 1}, 4)
    ]


def test_one_shared_term_is_enough_and_none_is_not(store: Store) -> None:
    store.add([doc(1, "alpha"), doc(2, "beta"), doc(3, "gamma")])
    assert sorted(keys(store.search(["alpha", "beta", "zeta"], 10))) == [1, 2]


def test_more_of_a_term_in_less_text_comes_first(store: Store) -> None:
    store.add([doc(1, "alpha " + "filler " * 30), doc(2, "alpha alpha alpha"), doc(3, "beta")])
    assert keys(store.search(["alpha"], 10)) == [2, 1]
    assert keys(store.search(["alpha"], 1)) == [2]


@pytest.mark.parametrize("limit", [0, -3])
def test_a_limit_of_nothing_gives_nothing(store: Store, limit: int) -> None:
    store.add([doc(1)])
    assert store.search(["alpha"], limit) == []


def test_no_terms_find_nothing(store: Store) -> None:
    store.add([doc(1)])
    assert store.search([], 5) == []


def test_a_limit_beyond_the_documents_gives_all(store: Store) -> None:
    store.add([doc(key) for key in range(20)])
    assert len(store.search(["alpha"], 10_000)) == 20


@pytest.mark.parametrize("term", ODD_TERMS)
def test_any_text_is_one_term(store: Store, term: str) -> None:
    store.add([LexicalDoc(1, "aa", {term: 3, "b": 1}), LexicalDoc(2, "aa", {"b": 1, "line": 1, "quoted": 2})])
    assert store.search([term], 5) == [LexicalHit(1, "aa", {term: 3}, 4)]
    assert store.document_frequencies([term]) == {term: 1}


def test_a_term_is_not_found_by_its_beginning_or_in_other_case(store: Store) -> None:
    store.add([doc(1, "alphabet")])
    assert store.search(["alpha", "Alphabet", "alphabet2"], 5) == []


def test_read_gives_every_version_of_the_notes_also_without_a_term(store: Store) -> None:
    store.add([doc(2, "alpha"), doc(1, "beta beta", "bb"), doc(1, "alpha", "aa"), doc(3)])
    assert store.read([2, 1, 9], ["beta"]) == [
        LexicalHit(1, "aa", {}, 1),
        LexicalHit(1, "bb", {"beta": 2}, 2),
        LexicalHit(2, "aa", {}, 1),
    ]
    assert store.read([], ["beta"]) == []


def test_delete_takes_exactly_the_named_versions(store: Store) -> None:
    store.add([doc(key, "alpha", digest) for key in (1, 11) for digest in ("aa", "bb")])
    store.delete([(1, "aa"), (11, "bb"), (2, "aa")])
    store.delete([])
    assert store.versions() == {(1, "bb"): 1, (11, "aa"): 1}


def test_delete_keys_takes_every_version_of_exactly_these_notes(store: Store) -> None:
    store.add([doc(key, "alpha", digest) for key in (1, 11, 2) for digest in ("aa", "bb")])
    store.delete_keys([1, 7])
    store.delete_keys([])
    assert store.versions() == {(key, digest): 1 for key in (11, 2) for digest in ("aa", "bb")}


def test_deleted_documents_count_nowhere(store: Store) -> None:
    store.add([doc(key, "alpha beta") for key in range(10)])
    store.add([doc(10, "alpha")])
    store.delete([(key, "aa") for key in range(9)])
    assert store.document_frequencies(["alpha", "beta", "gamma"]) == {"alpha": 2, "beta": 1, "gamma": 0}
    assert store.statistics() == (2, 3)
    assert store.count() == 2
    assert sorted(keys(store.search(["alpha"], 50))) == [9, 10]


def test_counts_do_not_depend_on_the_history_of_edits(store: Store) -> None:
    for version in range(12):
        store.add([doc(1, f"alpha beta w{version}", f"{version:02x}")])
        store.delete([(1, f"{version - 1:02x}")])
    assert store.document_frequencies(["alpha", "w11", "w3"]) == {"alpha": 1, "w11": 1, "w3": 0}
    assert store.statistics() == (1, 3)


def test_the_same_version_added_twice_is_counted_twice(store: Store) -> None:
    store.add([doc(1)])
    store.add([doc(1)])
    assert store.versions() == {(1, "aa"): 2}
    assert store.document_frequencies(["alpha"]) == {"alpha": 2}


def test_a_document_without_terms_is_kept(store: Store) -> None:
    store.add([LexicalDoc(1, "aa", {}), LexicalDoc(2, "aa", {"alpha": 0})])
    assert store.versions() == {(1, "aa"): 1, (2, "aa"): 1}
    assert store.statistics() == (2, 0)
    assert store.read([1, 2], ["alpha"]) == [LexicalHit(1, "aa", {}, 0), LexicalHit(2, "aa", {}, 0)]
    assert store.search(["alpha"], 5) == []


def test_a_digest_may_hold_a_colon_or_a_quote(store: Store) -> None:
    store.add([doc(1, digest="a:b"), doc(1, digest="it's")])
    store.delete([(1, "a:b")])
    assert store.versions() == {(1, "it's"): 1}


def test_large_keys_are_kept_exactly(store: Store) -> None:
    store.add([doc(2**53 + 1), doc(2**53)])
    assert [hit.note_key for hit in store.read([2**53 + 1], ["alpha"])] == [2**53 + 1]
    store.delete_keys([2**53])
    assert store.versions() == {(2**53 + 1, "aa"): 1}


def test_upkeep_changes_no_answer(store: Store) -> None:
    store.add([doc(key) for key in range(30)])
    store.delete_keys(range(0, 30, 3))
    versions, hits = store.versions(), store.search(["beta"], 50)
    store.maintain(force=True)
    assert store.versions() == versions
    assert sorted(keys(store.search(["beta"], 50))) == sorted(keys(hits))


def test_closing_twice_is_harmless(store: Store) -> None:
    store.add([doc(1)])
    store.close()
    store.close()
