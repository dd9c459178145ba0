"""A result is proven before it is written: nothing but what was asked for differs, whoever reads it."""

from __future__ import annotations

import pytest

from vaultmem.editing import proof
from vaultmem.editing.proof import prove_edit, prove_new, prove_values
from vaultmem.errors import EditRefusedError

BEFORE = b"""---
id: x
name: Old # a remark
tags: [a, b]
zeta: 'no'
---
body
"""


def edited(old: bytes, new: bytes, before: bytes = BEFORE) -> bytes:
    assert before.count(old) == 1
    return before.replace(old, new)


# --- what was asked for, and nothing else


def test_an_edit_of_the_asked_for_fields_alone_is_proven() -> None:
    prove_edit(BEFORE, BEFORE, {})
    prove_edit(BEFORE, edited(b"Old", b"New"), {"name": "New"})
    prove_edit(BEFORE, edited(b"[a, b]", b"[b, c]"), {"tags": ["b", "c"]})
    prove_edit(BEFORE, edited(b"zeta", b"status: deprecated\nzeta"), {"status": "deprecated"})
    prove_edit(BEFORE, edited(b"body", b"other"), {}, body=b"other\n")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b"---\nid", b"--- \nid", "opening fence"),
        (b"---\nbody", b"--- \nbody", "closing fence"),
        (b"body\n", b"body", "body would change"),
        (b"id: x", b"id: y", "`id` would change as well"),
        (b"'no'", b'"no"', "`zeta` would change as well"),
        (b"zeta: 'no'\n", b"", "`zeta` would change as well"),
        (b"zeta", b"more: 1\nzeta", "other fields would appear"),
        (b"id: x\nname: Old # a remark\n", b"name: New # a remark\nid: x\n", "change their order"),
        (b" # a remark", b"", "the comment '# a remark' would be lost"),
        (b"id: x", b"id: [x", "cannot be proven harmless"),
        (b"---\nid", b"--\nid", "would not be found again"),
    ],
)
def test_whatever_else_would_change_is_refused_with_its_name(old: bytes, new: bytes, reason: str) -> None:
    after = edited(old, new)
    with pytest.raises(EditRefusedError, match=reason) as refused:
        prove_edit(BEFORE, after.replace(b"name: Old", b"name: New"), {"name": "New"})
    assert "cannot be proven harmless" in str(refused.value)


def test_what_an_alias_stands_for_in_another_place_may_not_change() -> None:
    before = edited(b"zeta: 'no'", b"zeta: *t", edited(b"[a, b]", b"&t [a, b]"))
    with pytest.raises(EditRefusedError, match="&t is used in another place"):
        prove_edit(before, edited(b"[a, b]", b"[a]", before), {"tags": ["a"]})
    prove_edit(before, edited(b"Old", b"New", before), {"name": "New"})


def test_a_fence_that_ended_the_file_may_get_a_line_end_for_a_new_body() -> None:
    prove_edit(b"---\nid: x\n---", b"---\nid: x\n---\nnew\n", {}, body=b"new\n")
    with pytest.raises(EditRefusedError, match="closing fence"):
        prove_edit(b"---\nid: x\n---", b"---\nid: x\n---\n", {})


# --- the values


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"name": "New"}, "`name` would read back differently"),
        ({"tags": ["a"]}, "the tags would read back as a, b"),
        ({"status": "deprecated"}, "the status would read back differently"),
        ({"created_at": "2026"}, "`created_at` would read back differently"),
    ],
)
def test_a_value_that_does_not_read_back_is_refused(asked: dict[str, str], reason: str) -> None:
    prove_values(BEFORE, {"name": "Old", "tags": ["A", "b"], "status": "active", "zeta": "no"})
    with pytest.raises(EditRefusedError, match=reason):
        prove_values(BEFORE, asked)


# --- the other readers


@pytest.mark.parametrize("written", ["no", "0123", "2026-05-14", "1_000"])
def test_a_text_that_another_reader_takes_for_something_else_is_refused(written: str) -> None:
    prove_values(f"---\nname: {written}\n---\n".encode(), {"name": written})
    with pytest.raises(EditRefusedError, match="another YAML reader would see another `name`"):
        prove_new(f"name: {written}\n", {"name": written})
    prove_new(f"name: '{written}'\n", {"name": written})


def test_times_are_left_unquoted_whatever_another_reader_makes_of_them() -> None:
    prove_new("created_at: 2026-05-14\n", {"created_at": "2026-05-14"})


def test_a_reader_that_cannot_read_the_note_before_proves_nothing_and_stops_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(proof, "_OTHER_READERS", (lambda text: None,))
    prove_edit(BEFORE, edited(b"Old", b"New"), {"name": "New"})


def test_what_a_reader_can_no_longer_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "_OTHER_READERS", (lambda text: {"id": "x"} if "Old" in text else None,))
    with pytest.raises(EditRefusedError, match="could no longer read it"):
        prove_edit(BEFORE, edited(b"Old", b"New"), {"name": "New"})


def test_a_field_that_another_reader_would_see_change_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "_OTHER_READERS", (lambda text: {"name": "New", "zeta": "Old" in text},))
    with pytest.raises(EditRefusedError, match="would see other fields change"):
        prove_edit(BEFORE, edited(b"Old", b"New"), {"name": "New"})
