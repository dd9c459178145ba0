"""The tags entry keeps its style, and its items their spelling."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.editing.samples import note
from vaultmem.editing.edits import (
    set_tags,
)
from vaultmem.errors import EditRefusedError
from vaultmem.notes.parse import parse_note
from vaultmem.notes.problems import Code


def entry(data: bytes) -> str:
    """The lines of the block between the description and the status."""
    text = data.decode()
    return text[text.index("astral\n") + len("astral\n") : text.index("status:")]


def retagged(tags: str, wanted: Sequence[str]) -> str:
    before = note(tags)
    after = set_tags(before, wanted)
    assert parse_note("n.md", after).tags == tuple(wanted)
    assert after.replace(entry(after).encode(), b"", 1) == before.replace(entry(before).encode(), b"", 1)
    return entry(after)


STYLES = {
    "block": ("tags:\n  - cache\n  - layer\n", "tags:\n  - cache\n  - layer\n  - new\n"),
    "block without indent": ("tags:\n- cache\n- layer\n", "tags:\n- cache\n- layer\n- new\n"),
    "block with four blanks": (
        "tags:\n    - cache\n    - layer\n",
        "tags:\n    - cache\n    - layer\n    - new\n",
    ),
    "flow": ("tags: [cache, layer]\n", "tags: [cache, layer, new]\n"),
    "flow without blanks": ("tags: [cache,layer]\n", "tags: [cache,layer,new]\n"),
    "flow with padding": ("tags: [ cache, layer ]\n", "tags: [ cache, layer, new ]\n"),
    "flow over lines": ("tags: [\n  cache,\n  layer,\n]\n", "tags: [\n  cache,\n  layer,\n  new,\n]\n"),
    "flow on the next line": ("tags:\n  [cache, layer]\n", "tags:\n  [cache, layer, new]\n"),
    "own spelling": ("tags: [\"Cache\", '#layer']\n", "tags: [\"Cache\", '#layer', new]\n"),
    "text with commas": ("tags: cache, Layer\n", "tags: [cache, Layer, new]\n"),
    "text with blanks": ("tags: cache layer\n", "tags: [cache, layer, new]\n"),
    "quoted text": ('tags: "cache, layer"\n', "tags: [cache, layer, new]\n"),
    "text over lines": ("tags: cache,\n  layer\n", "tags: [cache, layer, new]\n"),
    "text below a bar": ("tags: |\n  cache\n  layer\n", "tags: [cache, layer, new]\n"),
    "singular key": ("tag: [cache, layer]\n", "tags: [cache, layer, new]\n"),
    "singular block": ("tag:\n- cache\n- layer # why\n", "tags:\n- cache\n- layer # why\n- new\n"),
    "singular text": ("'tag': cache layer # mine\n", "tags: [cache, layer, new] # mine\n"),
    "singular beside an empty one": ("tags:\ntag: [cache, layer]\n", "tags:\ntag: [cache, layer, new]\n"),
    "quoted key": ('"tags": [cache, layer]\n', '"tags": [cache, layer, new]\n'),
    "comment behind": ("tags: [cache, layer] # mine\n", "tags: [cache, layer, new] # mine\n"),
    "comment behind an item": (
        "tags:\n  - cache # why\n  - layer\n  # more to come\n",
        "tags:\n  - cache # why\n  - layer\n  - new\n  # more to come\n",
    ),
    "an item below its dash": (
        "tags:\n  -\n    cache\n  - layer\n",
        "tags:\n  -\n    cache\n  - layer\n  - new\n",
    ),
    "nulls among them": (
        "tags:\n  -\n  - cache\n  - ~\n  - layer\n",
        "tags:\n  -\n  - cache\n  - ~\n  - layer\n  - new\n",
    ),
}


@pytest.mark.parametrize("style", STYLES)
def test_a_list_keeps_its_style_when_a_tag_is_added(style: str) -> None:
    before, after = STYLES[style]
    assert retagged(before, ["cache", "layer", "new"]) == after


@pytest.mark.parametrize("style", STYLES)
def test_taking_the_added_tag_away_again_gives_tags_that_read_the_same(style: str) -> None:
    before, _ = STYLES[style]
    added = set_tags(note(before), ["cache", "layer", "new"])
    removed = set_tags(added, ["cache", "layer"])
    assert parse_note("n.md", removed).tags == ("cache", "layer")
    if "text" not in style and style not in ("singular key", "singular block"):
        assert removed == note(before)


@pytest.mark.parametrize("style", STYLES)
def test_tags_that_are_there_already_leave_the_bytes_alone(style: str) -> None:
    before = note(STYLES[style][0])
    assert set_tags(before, ["cache", "layer"]) == before


@pytest.mark.parametrize(
    ("written", "wanted", "result"),
    [
        ("", ["a", "b"], "tags:\n  - a\n  - b\n"),
        ("", [], ""),
        ("tags:\n", ["a"], "tags:\n  - a\n"),
        ("tags:\n", [], "tags:\n"),
        ("tags: ~\n", ["a"], "tags:\n  - a\n"),
        ("tags: #cache\n", ["cache"], "tags: #cache\n  - cache\n"),
        ("tags: [] # none yet\n", ["a", "b"], "tags: [a, b] # none yet\n"),
        ("tags: [a]\n", [], "tags: []\n"),
        ("tags: [a, b, c]\n", ["b"], "tags: [b]\n"),
        ("tags: a\n", ["b"], "tags: [b]\n"),
        ("tags: a\n", [], "tags: []\n"),
        ("tags: Cache Layer, b\n", ["cache-layer"], "tags: [Cache Layer]\n"),
        ("tags:\n  - a\n  - b\n", [], "tags: []\n"),
        ("tags: # mine\n  - a\n", [], "tags: [] # mine\n"),
        ("tags:\n  - a # why\n  - b\n", ["b"], "tags:\n  # why\n  - b\n"),
        ("tags:\n  - a\n  # on b\n  - b\n  - c\n", ["a", "c"], "tags:\n  - a\n  # on b\n  - c\n"),
        ("tags:\n  - a\n  - b\n", ["z", "b"], "tags:\n  - z\n  - b\n"),
        ("tags:\n  - a\n  - b\n", ["b", "a"], "tags:\n  - b\n  - a\n"),
        ("tags:\n  - a\n  - A\n  - b\n", ["a"], "tags:\n  - a\n  - A\n"),
        (
            "tags:\n  - keep\n  - 42\n  - {m: x}\n",
            ["keep", "42", "new"],
            "tags:\n  - keep\n  - 42\n  - {m: x}\n  - new\n",
        ),
        ("tags: [a]\n", ["no", "123", "缓存", "y"], 'tags: ["no", "123", 缓存, "y"]\n'),
        ("tags:\n- a\n", ["a", "null", "1e3"], 'tags:\n- a\n- "null"\n- "1e3"\n'),
    ],
)
def test_tags_are_written_where_and_as_they_belong(written: str, wanted: list[str], result: str) -> None:
    assert retagged(written, wanted) == result


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("tags: &t [cache]\nrelated: *t\n", "used in another place"),
        ("tags:\n  - &t cache\nrelated: *t\n", "no anchor"),
        ("tags: {a: b}\n", "mapping"),
        ("tags: [a, # why\n  b]\n", "comment"),
        ("? tags\n: a\n", "cannot be edited safely"),
        ("tags:\n  - - nested\n    - list\n  - a # x\n  -\n    # inside\n    b\n", "comment"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_the_reason(written: str, reason: str) -> None:
    with pytest.raises(EditRefusedError, match=reason):
        set_tags(note(written), ["new"])


def test_an_alias_for_the_tags_is_replaced_and_its_anchor_keeps_its_value() -> None:
    before = note("base: &t [Cache, layer]\ntags: *t\n")
    assert entry(set_tags(before, ["cache", "new"])) == "base: &t [Cache, layer]\ntags: [Cache, new]\n"


VALUES = st.sampled_from(
    [
        "a",
        "'q'",
        '"d: x"',
        "0123",
        "yes",
        "[x, y]",
        "{k: v}",
        "|\n  text\n\n  more\n",
        ">-\n  folded\n",
        "\n  - 1\n  - 2",
        "~",
        "",
    ]
)


TAG_ENTRIES = st.sampled_from(
    [style[0] for style in STYLES.values()] + ["", "tags:\n", "tags: ~ # c\n", "tags: []\n"]
)


NEW_TAGS = st.lists(
    st.sampled_from(["cache", "layer", "new", "缓存", "no", "1e3", "a/b"]), unique=True, max_size=5
)


@given(
    before=st.lists(VALUES, max_size=3),
    tags=TAG_ENTRIES,
    after=st.lists(VALUES, max_size=3),
    wanted=NEW_TAGS,
    has_crlf=st.booleans(),
    comment=st.booleans(),
)
@settings(max_examples=400, deadline=None)
def test_an_edit_changes_only_the_tags_entry(
    before: list[str], tags: str, after: list[str], wanted: list[str], has_crlf: bool, comment: bool
) -> None:
    head = "".join(f"k{number}: {value}\n" for number, value in enumerate(before))
    tail = "".join(f"l{number}: {value}\n" for number, value in enumerate(after))
    remark = "# a remark\n\n" if comment else ""
    text = f"---\n{head}{tags}{remark}{tail}---\nbody\n"
    data = (text.replace("\n", "\r\n") if has_crlf else text).encode()
    if any(problem.code is Code.BAD_YAML for problem in parse_note("n.md", data).problems):
        return
    edited = set_tags(data, wanted)
    assert parse_note("n.md", edited).tags == tuple(wanted)
    assert has_crlf == (b"\r\n" in edited) and (not has_crlf or edited.count(b"\n") == edited.count(b"\r\n"))
    assert edited.endswith(data[data.rindex(b"---") :])
    lines, kept = data.split(b"\n"), edited.split(b"\n")
    for line in lines:
        if line[:1] in (b"k", b"l", b"#"):
            assert line in kept
