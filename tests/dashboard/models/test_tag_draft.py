"""Tags of one or many notes while they are edited: what is wished, and what becomes of it."""

from __future__ import annotations

from tui.models.tag_draft import TagDraft


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
