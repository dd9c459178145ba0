"""Chunking: what a body becomes, and the laws that hold for any body."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vaultmem.notes.chunks import Chunk, metadata_text, split_body, text_hash
from vaultmem.text.cuts import HARD_TOKENS, Limits, cut, estimate_tokens

HARD_CHARS = 800


def texts(body: str, **options: int) -> list[str]:
    # Where a test says no size, it says 400: its texts were made for that.
    return [chunk.text for chunk in split_body(body, **{"target": 400, **options})]


def numbered(count: int, text: str = "word") -> str:
    return " ".join(f"{text}{number}" for number in range(count))


# --- structure -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", ["", " ", "\n\n", "\r\n\t\r\n", "\u3000\n", "\ufeff".strip("\ufeff")])
def test_a_blank_body_makes_no_chunk(body: str) -> None:
    assert split_body(body) == ()


def test_a_short_note_is_one_chunk_with_its_heading_and_lines() -> None:
    body = "\n# Cache\n\nKeep the prefix stable.\n\n- one\n- two\n\n> quoted\n"
    assert split_body(body, 10) == (
        Chunk(
            0,
            "Cache",
            11,
            18,
            "# Cache\n\nKeep the prefix stable.\n\n- one\n- two\n\n> quoted",
            text_hash("# Cache\n\nKeep the prefix stable.\n\n- one\n- two\n\n> quoted"),
        ),
    )


def test_chunks_end_at_headings_and_know_the_path_to_them() -> None:
    body = "intro\n\n# A\n\ntext\n\n## B #\n\ntext\n\nC\n---\n\ntext\n\n# D\n\ntext\n"
    assert [chunk.heading for chunk in split_body(body)] == ["", "A", "A › B", "A › C", "D"]


def test_a_heading_alone_joins_the_deeper_one_below_it_but_not_its_sibling() -> None:
    chunks = split_body("# A\n\n## B\n\ntext\n\n## C\n\n## D\n\nmore\n")
    assert [(chunk.heading, chunk.text) for chunk in chunks] == [
        ("A › B", "# A\n\n## B\n\ntext"),
        ("A › C", "## C"),
        ("A › D", "## D\n\nmore"),
    ]


def test_a_heading_inside_a_quote_or_an_item_is_no_section() -> None:
    chunks = split_body("# A\n\n> # quoted\n\n- # item\n\ntext\n")
    assert [chunk.heading for chunk in chunks] == ["A"]


def test_a_long_heading_is_cut_in_the_path_only() -> None:
    (chunk,) = split_body(f"# {'x' * 200}\n\ntext\n")
    assert chunk.heading == "x" * 79 + "…"
    assert chunk.text.startswith(f"# {'x' * 200}\n")


def test_small_paragraphs_are_packed_up_to_the_target() -> None:
    paragraph = "x" * 150
    assert texts("\n\n".join([paragraph] * 8)) == ["\n\n".join([paragraph] * 2)] * 4


def test_a_few_words_go_with_what_follows_them_even_past_the_target() -> None:
    code = "```sh\n" + "echo one two three\n" * 26 + "```"
    assert texts(f"Run this:\n\n{code}\n") == [f"Run this:\n\n{code}"]


def test_what_ends_with_a_colon_stays_with_what_it_introduces() -> None:
    pairs = [f"- Replace the first {numbered(15)}:\n\n`command{number}`" for number in range(7)]
    found = texts("\n\n".join(pairs))
    assert "\n\n".join(found) == "\n\n".join(pairs)
    assert len(found) > 2
    assert all(text.endswith("`") for text in found)


def test_a_list_is_split_between_its_items_and_nested_items_stay_with_theirs() -> None:
    items = [f"- item {number} {numbered(14)}\n  - nested {number}" for number in range(9)]
    found = texts("\n".join(items))
    assert "\n".join(found) == "\n".join(items)
    assert all(text.startswith("- item") and len(text) <= 400 for text in found)


def test_the_later_parts_of_a_long_item_begin_with_its_first_line() -> None:
    body = "- docker\n" + "".join(f"  - point {number} {numbered(12)}\n" for number in range(12))
    chunks = split_body(body)
    assert len(chunks) > 2
    assert all(chunk.text.startswith("- docker\n") for chunk in chunks)
    assert [chunk.line_start for chunk in chunks[1:]] == [chunk.line_end + 1 for chunk in chunks[:-1]]


def test_every_part_of_a_table_has_its_header() -> None:
    header = "| name | value |\n| --- | --- |\n"
    rows = [f"| key {number} | {numbered(6)} |" for number in range(40)]
    chunks = split_body(header + "\n".join(rows) + "\n", 5)
    assert len(chunks) > 3
    assert all(chunk.text.startswith(header) for chunk in chunks)
    assert [row for chunk in chunks for row in chunk.text.split("\n")[2:]] == rows
    assert (chunks[0].line_start, chunks[0].line_end) == (5, 6 + len(chunks[0].text.split("\n")) - 2)
    assert chunks[-1].line_end == 46


def test_a_table_row_that_is_too_long_is_cut_at_a_cell_or_a_space() -> None:
    header = "| a | b |\n| - | - |\n"
    found = texts(header + f"| {numbered(90)} | {numbered(90)} |\n")
    assert len(found) > 2
    assert all(text.startswith(header) for text in found)
    assert all(re.search(r"(\||\d)$", text) for text in found)


def test_a_code_fence_stays_whole_while_it_fits() -> None:
    fence = "```python\n" + "".join(f"value_{number} = {number}\n" for number in range(20)) + "```"
    assert fence in texts(f"{numbered(70)}\n\n{fence}\n\n{numbered(70)}\n")


@pytest.mark.parametrize("closing", ["~~~~", ""])
def test_a_long_code_fence_becomes_several_with_the_same_info_string(closing: str) -> None:
    code = [f"value_{number} = compute({number})" for number in range(60)]
    chunks = split_body("\n".join(["~~~~py title=x", *code, closing]), 3)
    assert len(chunks) > 3
    for chunk in chunks:
        assert chunk.text.startswith("~~~~py title=x\n")
        assert chunk.text.endswith("\n~~~~")
    assert [line for chunk in chunks for line in chunk.text.split("\n")[1:-1]] == code
    assert (chunks[0].line_start, chunks[-1].line_end) == (3, 64 if closing else 63)


def test_code_is_cut_at_an_empty_line_when_one_is_near_and_keeps_its_indentation() -> None:
    function = "def f():\n" + "    call(argument)\n" * 14
    parts = texts("```py\n" + "\n".join([function] * 5) + "```\n")
    assert len(parts) > 2
    assert all(part.startswith("```py\ndef f():\n    call") for part in parts)


def test_no_code_line_is_broken_unless_it_is_too_long_alone() -> None:
    lines = [numbered(count) for count in (60, 5, 70, 3, 2, 65, 40)]
    parts = texts("```\n" + "\n".join(lines) + "\n```\n")
    assert [line for part in parts for line in part.split("\n")[1:-1]] == lines


def test_code_inside_an_item_loses_no_line() -> None:
    code = [f"step {number} of the run" for number in range(60)]
    body = "- run:\n\n  ```sh\n" + "".join(f"  {line}\n" for line in code) + "  ```\n"
    found = "\n".join(texts(body))
    assert all(line in found for line in code)


def test_a_long_quote_is_split_along_what_is_inside() -> None:
    body = "> [!note] Title\n> " + numbered(40) + "\n>\n" + "".join(f"> - {numbered(30)}\n" for _ in range(6))
    found = texts(body)
    assert len(found) > 2
    assert all(text.startswith("> ") for text in found)


def test_footnotes_and_link_definitions_are_text() -> None:
    assert texts("[^1]: note\n\n[a]: http://b.example\n") == ["[^1]: note\n\n[a]: http://b.example"]


def test_only_line_feeds_end_a_line() -> None:
    (chunk,) = split_body("one\u2028two\x0bthree\x85four\rfive\nlast\n")
    assert (chunk.line_start, chunk.line_end) == (1, 2)


# --- long text -------------------------------------------------------------------------------------------


def test_a_long_chinese_paragraph_is_split_at_sentence_ends() -> None:
    paragraph = "".join(
        f"第{number}条：高频变化层不能放在大块稳定上下文前面，否则命中率下降。" for number in range(200)
    )
    found = texts(paragraph)
    assert "".join(found) == paragraph
    assert all(text.endswith("。") and 200 <= len(text) <= 430 for text in found)


def test_a_long_english_paragraph_is_split_at_sentence_ends() -> None:
    sentence = "The prefix cache only helps when the first layers of the prompt do not change."
    found = texts(" ".join([sentence] * 80))
    assert " ".join(found) == " ".join([sentence] * 80)
    assert all(text.endswith(".") and 200 <= len(text) <= 600 for text in found)


def test_words_without_sentences_are_split_at_spaces() -> None:
    body = numbered(1000)
    assert " ".join(texts(body)) == body


@pytest.mark.parametrize(
    "span",
    [
        "[[A note. With: marks, and spaces|an alias! Here]]",
        "![[folder/图片。说明；文字.png]]",
        "`code. with; marks, and spaces`",
        "``two ` ticks. here``",
        "https://example.org/a/path,with;marks?q=1&r=2#part",
        "[a link. Here](https://example.org/x)",
    ],
)
def test_links_and_code_are_never_cut(span: str) -> None:
    for filler in range(0, 60, 7):
        body = "字" * filler + f"前后文字{span}然后" * 40
        assert sum(text.count(span) for text in texts(body)) == 40


def test_no_letter_is_cut() -> None:
    family, flag, accent, syllable = "👩‍👩‍👧‍👦", "🇨🇳", "e\u0301\u0323", "\u1100\u1161\u11a8"
    for letter in (family, flag, accent, syllable):
        for shift in range(8):
            body = "x" * shift + letter * 400
            assert "".join(texts(body)) == body
            assert all(text.strip("x").replace(letter, "") == "" for text in texts(body))


def test_a_letter_without_end_is_cut_all_the_same() -> None:
    assert "".join(texts("e" + "\u0301" * 3000)) == "e" + "\u0301" * 3000


# --- laws ------------------------------------------------------------------------------------------------

PHRASES = [
    *(
        "\n",
        "\n\n",
        "# ",
        "## ",
        "- ",
        "  - ",
        "1. ",
        "> ",
        "```py\n",
        "```\n",
        "~~~",
        "---\n",
        "|a|b|\n|-|-|\n",
    ),
    *(
        "| ",
        "    ",
        "\t",
        "[[",
        "]]",
        "`",
        "``",
        "https://a.b/c?d=e ",
        "。",
        "，",
        ". ",
        "🧠",
        "e\u0301",
        "🇨🇳",
    ),
    *(
        "<div>\n",
        "<!--",
        "-->",
        "$$\n",
        "[^1]: ",
        "\\",
        "\u3000",
        "\r",
        "㍿",
        "﷽",
        "x" * 450,
        "字" * 450,
        "=" * 90,
    ),
    *("word " * 30, "记忆" * 20, "a\n" * 30, "| cell | cell |\n" * 20, "key = value\n" * 40, "- item\n" * 20),
]
bodies = st.lists(st.one_of(st.sampled_from(PHRASES), st.text(max_size=8)), max_size=40).map("".join)


@settings(max_examples=150, deadline=None)
@given(bodies, st.integers(1, 50))
def test_every_line_that_is_not_blank_is_covered_and_chunks_stay_in_order(body: str, body_line: int) -> None:
    chunks = split_body(body, body_line)
    covered = {line for chunk in chunks for line in range(chunk.line_start, chunk.line_end + 1)}
    lines = body.replace("\r\n", "\n").replace("\r", " ").split("\n")
    assert {body_line + index for index, line in enumerate(lines) if line.strip()} <= covered
    assert all(body_line <= line < body_line + len(lines) for line in covered)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    starts = [chunk.line_start for chunk in chunks]
    assert starts == sorted(starts)


@settings(max_examples=150, deadline=None)
@given(bodies)
def test_no_chunk_is_blank_or_longer_than_the_limits(body: str) -> None:
    for chunk in split_body(body):
        assert chunk.text.strip()
        assert len(chunk.text) <= HARD_CHARS
        assert estimate_tokens(chunk.text) <= HARD_TOKENS
        assert chunk.text_hash == text_hash(chunk.text)


@settings(max_examples=100, deadline=None)
@given(bodies)
def test_line_ends_do_not_matter(body: str) -> None:
    body = body.replace("\r", "")
    assert split_body(body.replace("\n", "\r\n")) == split_body(body)


@settings(max_examples=100, deadline=None)
@given(bodies)
@example("~~~" + "x" * 450)
@example("```" + "long words " * 90 + "\ncode\n```\n")
def test_no_character_that_is_seen_is_lost(body: str) -> None:
    seen = "".join(split_body(body) and texts(body))
    for character in set(body):
        if character.isalnum():
            assert seen.count(character) >= body.count(character)


@settings(max_examples=60, deadline=None)
@given(bodies, bodies)
def test_what_stands_under_another_heading_keeps_its_hashes(above: str, below: str) -> None:
    section = f"\n\n# Fixed heading\n\n{below}"
    before = [chunk.text_hash for chunk in split_body(section)]
    if not any(mark in above for mark in ("`", "~", "<", "$")):  # nothing that swallows the heading
        after = [chunk.text_hash for chunk in split_body(above + section)]
        assert after[len(after) - len(before) :] == before


def test_a_line_inserted_above_moves_lines_and_keeps_hashes() -> None:
    body = "\n\n".join(f"## Part {number}\n\n{numbered(50)}\n\n- {numbered(30)}" for number in range(9))
    before, after = split_body(body), split_body(f"A new line.\n\n{body}")
    assert [chunk.text_hash for chunk in after[1:]] == [chunk.text_hash for chunk in before]
    assert [chunk.line_start for chunk in after[1:]] == [chunk.line_start + 2 for chunk in before]


@settings(max_examples=60, deadline=None)
@given(bodies, st.integers(1, 900))
def test_any_target_gives_texts_of_at_most_twice_its_size(body: str, target: int) -> None:
    assert all(len(text) <= 2 * max(target, 100) for text in texts(body, target=target))


# --- size ------------------------------------------------------------------------------------------------

SIZE_CHARS = 262_144


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        *(
            "a",
            ">",
            "> ",
            "- ",
            "[",
            "[[",
            "`",
            "` `` ",
            "|",
            "\\",
            "*",
            "\t",
            "\n",
            " ",
            "字",
            "🇨🇳",
            "\u0301",
            "﷽",
        ),
        *(
            "a\n",
            "- a\n",
            "-\n",
            "# a\n",
            "|a|b|\n",
            "```\n",
            "<!-- a\n\n",
            "<div>\n",
            "a\n=\n",
            "- > ",
            "1. a\n\n",
        ),
        *(
            "> a\n\n",
            "    a\n",
            "[a]: b\n",
            "https://",
            "。",
            "a`b[[c]]d ",
            "| - |\n| - |\n",
            "> - a\n>   b\n",
        ),
    ],
)
def test_a_quarter_mebibyte_of_anything_is_cut_in_bounded_time(unit: str) -> None:
    body = (unit * (SIZE_CHARS // len(unit) + 1))[:SIZE_CHARS]
    started = time.process_time()
    chunks = split_body(body)
    assert time.process_time() - started < 20  # linear: under one; quadratic: minutes
    assert max((len(chunk.text) for chunk in chunks), default=0) <= HARD_CHARS


def test_text_after_the_limit_is_left_out() -> None:
    assert texts("x " * 100, limit_chars=50) == [("x " * 25).strip()]


def test_deep_nesting_is_no_recursion_error() -> None:
    for body in (
        "> " * 3000 + "a",
        "- " * 3000 + "a",
        "\n".join("  " * depth + "- a" for depth in range(400)),
    ):
        assert split_body(body)


# --- metadata --------------------------------------------------------------------------------------------


def test_metadata_text_holds_name_description_and_tags() -> None:
    assert metadata_text("Name", "What it says", ("a", "b/c")) == "Name\nWhat it says\na b/c"
    assert metadata_text("Name", "", ()) == "Name"


def test_long_metadata_is_cut_to_the_window() -> None:
    text = metadata_text("名字" * 50, "描述。" * 5000, ("tag",))
    assert len(text) <= HARD_CHARS
    assert estimate_tokens(text) <= HARD_TOKENS
    assert text.startswith("名字" * 50 + "\n描述。")


@given(st.text(st.sampled_from("ab. 。记\n`[]()"), min_size=900, max_size=5_000))
@settings(max_examples=50, deadline=None)
def test_a_long_metadata_text_is_the_first_piece_of_it(description: str) -> None:
    text = f"Name\n{description}"
    assert text.startswith(metadata_text("Name", description, ()))
    limits = Limits.around(400)
    assert metadata_text("Name", description, ()) == text[slice(*cut(text, limits)[0])].rstrip()


def test_metadata_without_end_is_cut_at_once() -> None:
    started = time.monotonic()
    assert len(metadata_text("n", "\ufdfa" * 100_000, ("t",))) <= HARD_CHARS
    assert time.monotonic() - started < 10
