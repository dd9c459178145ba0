"""A body as Markdown blocks: they cover every line once, and know what they are."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from vaultmem.notes import markdown
from vaultmem.notes.markdown import MarkdownBlock, markdown_blocks

TEXT = """\
# One

[link]: x
- a
  - b

- c
> quote
> # inside

| h | k |
| - | - |
| 1 | 2 |

```py
code
```
"""
BODY = TEXT.split("\n")


def covered(blocks: Iterable[MarkdownBlock], start: int, end: int) -> None:
    """Siblings leave no line of their parent out, and share none."""
    place = start
    for block in blocks:
        assert (block.start, block.first >= block.start) == (place, True)
        place = block.end
        if block.children:
            covered(block.children, block.start, block.end)
    assert place == end


def test_blocks_cover_every_line_once_at_every_level() -> None:
    covered(markdown_blocks(BODY), 0, len(BODY))


def test_a_block_knows_its_kind_and_a_heading_its_level_and_title() -> None:
    blocks = list(markdown_blocks(BODY))
    kinds = ["heading_open", "paragraph_open", "bullet_list_open", "blockquote_open", "table_open", "fence"]
    assert [block.kind for block in blocks] == kinds
    assert (blocks[0].heading_level, blocks[0].title, blocks[2].heading_level) == (1, "One", None)
    assert [child.kind for child in blocks[2].children] == ["list_item_open"] * 2


def test_a_body_parsed_in_slices_has_the_blocks_that_it_has_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def shape(block: MarkdownBlock) -> tuple[object, ...]:
        return block.kind, block.start, block.end, tuple(map(shape, block.children))

    whole = [shape(block) for block in markdown_blocks(BODY)]
    monkeypatch.setattr(markdown, "SLICE_CHARS", 1)
    sliced = [shape(block) for block in markdown_blocks(BODY)]
    assert [each[0] for each in sliced if each[0] != "bullet_list_open"] == [
        each[0] for each in whole if each[0] != "bullet_list_open"
    ]


def test_what_is_too_long_to_be_parsed_is_one_block_of_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown, "PARSED_LINES", 3)
    *_, last = markdown_blocks(BODY)
    assert (last.kind, last.start, last.end) == ("code_block", 3, len(BODY))
