"""Tags of one or many notes while they are edited: what is wished, and what becomes of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui.models.tag_draft import Chip, TagDraft, completions


def test_taking_a_tag_off_never_adds_it():
    tagging = TagDraft.of([["a", "b"], ["b"]])
    for tag in ("a", "b", "new"):
        for before in (tagging, tagging.with_tag(tag), tagging.turned(tag), tagging.turned(tag).turned(tag)):
            after = before.without(tag)
            assert tag not in after.added
            assert (tag in after.removed) == (tag in tagging.counts)


def test_wishes_outlive_a_change_outside_and_end_where_they_have_come_true():
    wishes = TagDraft.of([["a"], ["a"]]).with_tag("new").with_tag("other").without("a")
    later = wishes.on([["new"], ["new", "b"]])
    assert later.added == ("other",) and not later.removed
    assert later.counts == {"new": 2, "b": 1}


def test_a_tag_goes_round_from_some_to_all_to_none_and_back():
    draft = TagDraft.of([["a"], []])
    on_all = draft.turned("a")
    assert on_all.added == ("a",)
    on_none = on_all.turned("a")
    assert (on_none.added, on_none.removed) == ((), {"a"})
    assert on_none.turned("a") == draft


def test_chips_tell_on_how_many_notes_each_tag_is_and_what_becomes_of_it():
    draft = TagDraft.of([["b", "a", "a"], ["b"]]).with_tag("new").without("b")
    assert draft.chips == (
        Chip("b", 2, 2, is_added=False, is_removed=True),
        Chip("a", 1, 2, is_added=False, is_removed=False),
        Chip("new", 0, 2, is_added=True, is_removed=False),
    )


def test_the_last_tag_is_the_one_that_was_typed_last_then_the_last_that_is_there():
    draft = TagDraft.of([["a", "b"]]).with_tag("c").without_last()
    assert (draft.added, draft.removed) == ((), frozenset())
    assert draft.without_last().removed == {"b"}
    assert draft.without_last().without_last().without_last().removed == {"a", "b"}


def test_a_tag_that_all_notes_have_is_not_added_again():
    draft = TagDraft.of([["a"], ["a"]])
    assert draft.with_tag("a") == draft == draft.without("a").with_tag("a")


TAG = st.sampled_from("abcd")
WISH = st.sampled_from([TagDraft.with_tag, TagDraft.turned, TagDraft.without])


@given(st.lists(st.lists(TAG), min_size=1, max_size=4), st.lists(st.tuples(WISH, TAG)))
def test_no_wish_contradicts_another_or_asks_for_what_is_so_already(tags_of_notes, wishes):
    draft = TagDraft.of(tags_of_notes)
    for wish, tag in wishes:
        draft = wish(draft, tag)
    assert len(set(draft.added)) == len(draft.added)
    assert not draft.removed.intersection(draft.added)
    assert draft.removed <= draft.counts.keys()
    assert all(draft.counts.get(tag, 0) < draft.total for tag in draft.added)
    assert draft.on(tags_of_notes) == draft


def test_completions_begin_with_what_was_typed_then_a_part_of_them_does_then_they_hold_it():
    tags = {"arch": 9, "search": 50, "march": 5, "march/plan": 7, "project/march": 90, "other": 1}
    found = completions("march", tags, ())
    assert found == [("march/plan", 7), ("march", 5), ("project/march", 90)]
    assert completions("MAR", tags, ["march"], limit=1) == [("march/plan", 7)]
    assert [tag for tag, _ in completions("arch", tags, ())][:2] == ["arch", "project/march"]
