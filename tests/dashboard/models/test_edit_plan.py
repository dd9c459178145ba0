"""A plan of edits is bound to what a person has seen."""

from __future__ import annotations

from tui.models.edit_plan import EditPlan
from vaultmem.views import Edited


def edit(path: str = "a.md", before: bytes = b"one", after: bytes = b"two") -> Edited:
    return Edited(path, "mem", (), "active", before != after, "diff", before, after)  # type: ignore[arg-type]


def test_a_plan_that_was_asked_for_earlier_is_not_taken():
    plan = EditPlan()
    plan.outdate()
    assert not plan.take(1, [edit()], {})
    assert not plan.is_current
    assert plan.take(2, [edit()], {})
    assert plan.is_current


def test_a_text_that_was_not_shown_before_is_news():
    plan = EditPlan()
    plan.see("a.md", "the digest of another text")
    plan.take(1, [edit(), edit("b.md")], {})
    assert (plan.has_news, plan.outside) == (True, {"a.md"})
    plan.recheck()
    plan.take(2, [edit(), edit("b.md")], {})
    assert (plan.has_news, plan.outside) == (False, {"a.md"})


def test_what_was_written_from_here_is_no_news():
    plan = EditPlan()
    plan.take(1, [edit(), edit("b.md")], {})
    plan.written([edit()], {"b.md": "b.md changed since"})
    plan.take(2, [edit(before=b"two", after=b"two"), edit("b.md")], {})
    assert not plan.has_news
    assert [each.path for each in plan.changes] == ["b.md"]
    assert plan.complaint() == "✖ b.md changed since"
    assert plan.summary() == "1 note will change"
    plan.outdate()
    assert plan.complaint() == ""


def test_refusals_are_counted_and_told_with_their_note():
    plan = EditPlan()
    plan.take(1, [], {"c.md": "bad_yaml, line 3"})
    assert plan.summary() == "nothing changes, 1 refused"
    assert plan.complaint() == "✖ c.md: bad_yaml, line 3"
