"""Documents of the lexical index: what goes in comes out, whatever the terms are made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmem.stores.lexical_documents import (
    LexicalHit,
    bag_of,
    bag_text,
    hit_of,
    needles,
    parse_version,
    safe,
    version_of,
)

TERMS = {"alpha": 2, "缓存": 1, "a b": 3, "back\\slash": 1, "line\nbreak": 4}


class Stored:
    """A document as a back end hands it out."""

    def __init__(self, key: int, digest: str, terms: dict[str, int]) -> None:
        bag = bag_text({safe(term): count for term, count in terms.items()}).encode()
        self._fields = {"version": version_of(key, digest), "bag": bag, "length": sum(terms.values())}

    def get_first(self, name: str) -> object:
        return self._fields[name]


def test_a_hit_has_the_counts_of_the_wanted_terms_only() -> None:
    wanted = needles(["a b", "line\nbreak", "alph", "lpha", "缓"])
    found = hit_of(Stored(7, "ab", TERMS), wanted)
    assert found == LexicalHit(7, "ab", {"a b": 3, "line\nbreak": 4}, sum(TERMS.values()))


@given(st.dictionaries(st.text(min_size=1), st.integers(1, 99)))
def test_a_bag_gives_back_every_term_with_its_count(terms: dict[str, int]) -> None:
    assert bag_of(Stored(1, "", terms)) == {safe(term): count for term, count in terms.items()}


@given(st.integers(0, 2**53), st.text("0123456789abcdef", max_size=32))
def test_a_version_is_read_back(note_key: int, digest: str) -> None:
    assert parse_version(version_of(note_key, digest)) == (note_key, digest)


@given(st.text(), st.text())
def test_any_term_is_one_token_of_its_own(one: str, other: str) -> None:
    assert not set(safe(one)) & {" ", "\n", "\t", "\0"}
    assert (safe(one) == safe(other)) == (one == other)


def test_a_version_that_is_none_is_an_error() -> None:
    with pytest.raises(ValueError):
        parse_version("rubbish")
