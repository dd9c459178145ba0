"""Which problems stand in the way of an edit: one answer for whoever asks."""

from __future__ import annotations

import pytest

from vaultmem.editing.edits import set_tags
from vaultmem.errors import EditRefusedError
from vaultmem.notes.parse import parse_note
from vaultmem.notes.problems import Code, Problem, is_editable, obstacle

UNEDITABLE = {
    "bad_yaml",
    "duplicate_key",
    "merge_conflict",
    "bad_encoding",
    "unreadable",
    "cloud_placeholder",
}


def test_a_note_is_edited_unless_its_metadata_cannot_be_read_for_sure() -> None:
    assert {code.value for code in Code if not is_editable([code])} == UNEDITABLE
    assert is_editable([]) and is_editable([Code.NO_TAGS, Code.CONFLICT_ID])
    assert not is_editable([Code.NO_TAGS, Code.BAD_YAML])


def test_the_obstacle_is_the_problem_itself_wherever_it_stands() -> None:
    broken = Problem(Code.BAD_YAML, "why", 3)
    assert obstacle([Problem(Code.NO_TAGS), broken]) is broken
    assert obstacle([Problem(Code.NO_TAGS)]) is None


@pytest.mark.parametrize(
    "data",
    [
        b"---\nid: [\n---\n",
        b"---\nid: a\nid: b\n---\n",
        b"---\n<<<<<<< x\n---\n",
        b"---\nid: \xff\n---\n",
        b"---\nid: a\n",
    ],
)
def test_what_has_an_obstacle_is_refused_with_its_code(data: bytes) -> None:
    problem = obstacle(parse_note("a.md", data).problems)
    assert problem is not None
    with pytest.raises(EditRefusedError, match=f"cannot be edited: {problem.code}"):
        set_tags(data, ["x"])
