"""Two notes beside each other: each difference where it stands."""

from __future__ import annotations

from tui.models.comparison import side_by_side


def test_a_comparison_is_the_mirror_of_itself_turned_round():
    pairs = side_by_side("---\na: 1\n---\none\ntwo\n", "---\na: 2\n---\none\n")
    turned = side_by_side("---\na: 2\n---\none\n", "---\na: 1\n---\none\ntwo\n")
    assert [(pair.left, pair.right) for pair in pairs if pair.sign in "~-+"] == [
        (pair.right, pair.left) for pair in turned if pair.sign in "~-+"
    ]
