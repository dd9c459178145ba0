"""The tree of a block: what a key's value is, and which texts are written in it."""

from __future__ import annotations

import pytest

from tests.notes.reading import note
from vaultmem.notes.block import read_tree
from vaultmem.notes.tree import Alias, Fields, Listing, Scalar, leaves, resolve


def test_a_quoted_null_word_is_a_text() -> None:
    assert note('id: "~"\ntags: ["null"]\n').id == "~"
    assert note('id: "~"\ntags: ["null"]\n').tags == ("null",)


def fields(text: str) -> Fields:
    tree = read_tree(text)
    assert isinstance(tree, Fields)
    return tree


def found(text: str, name: str) -> str | None:
    value = fields(text).find(name)
    return value.text if isinstance(value, Scalar) else None


@pytest.mark.parametrize("written", ["", "~", "null", "Null", "NULL"])
def test_nothing_and_the_null_words_are_null_unless_quoted(written: str) -> None:
    for text, is_null in ((f"k: {written}\n", True), (f"k: '{written}'\n", False)):
        value = fields(text).find("k")
        assert isinstance(value, Scalar) and value.is_null is is_null


def test_a_merge_key_gives_what_is_not_written_out_and_the_nearest_base_counts() -> None:
    text = "a: &a {k: far, m: 1}\nb: &b {<<: *a, k: near}\n<<: [*b, *a]\n"
    assert (found(text, "k"), found(text, "m"), found(text, "n")) == ("near", "1", None)
    assert found(f"{text}k: own\n", "k") == "own"
    assert fields(text).entry("k") is None
    assert found(text.replace("<<: [*b", "'<<': [*b"), "k") is None


def test_bases_that_name_each_other_many_times_cost_few_looks() -> None:
    text = "m0: &m0 {k: v}\n" + "".join(f"m{n}: &m{n} {{<<: [*m{n - 1}, *m{n - 1}]}}\n" for n in range(1, 60))
    assert found(f"{text}<<: *m59\n", "k") == "v"


def test_an_alias_is_resolved_to_what_it_stands_for() -> None:
    entry = fields("a: &a [x]\nb: *a\n").entry("b")
    assert entry is not None and isinstance(entry.value, Alias)
    value = resolve(entry.value)
    assert isinstance(value, Listing) and resolve(value) is value


def test_leaves_are_what_is_written_keys_too_in_the_order_of_the_text() -> None:
    text = "a: &a x\nb: [*a, {c: d}]\ne:\n  - f\n"
    written = [text[leaf.start : leaf.end] for leaf in leaves(read_tree(text))]
    assert written == ["a", "&a x", "b", "*a", "c", "d", "e", "f"]
    assert list(leaves(None)) == []
