"""Pieces: a short block whole, a long one in parts that can each be understood alone, small ones packed."""

from __future__ import annotations

from vaultmem.notes.markdown import markdown_blocks
from vaultmem.notes.pieces import Piece, packed, pieces_of
from vaultmem.text.cuts import Limits

LIMITS = Limits.around(100)


def pieces(*lines: str) -> list[Piece]:
    return [piece for block in markdown_blocks(lines) for piece in pieces_of(block, lines, LIMITS)]


def test_a_short_block_is_one_piece_and_a_list_one_piece_an_item() -> None:
    assert [(p.text, p.start, p.end) for p in pieces("a", "b")] == [("a\nb", 0, 2)]
    assert [p.text for p in pieces("- a", "- b")] == ["- a", "- b"]


def test_each_part_of_a_long_table_begins_with_its_header() -> None:
    parts = pieces("| h | k |", "| - | - |", *["| some value | another value |"] * 20)
    assert len(parts) > 1 and all(part.is_sealed for part in parts)
    assert {part.text.split("\n")[0] for part in parts} == {"| h | k |"}
    assert (parts[0].start, parts[-1].end) == (0, 22)


def test_each_part_of_long_code_is_a_fence_of_its_own() -> None:
    parts = pieces("```py", *["x = some_function(argument)"] * 20, "```")
    assert len(parts) > 1
    assert all(part.text.startswith("```py\n") and part.text.endswith("\n```") for part in parts)


def test_small_neighbours_are_packed_and_a_part_of_a_cut_block_is_not() -> None:
    small = [Piece(0, 1, "one", 1), Piece(1, 2, "two", 1)]
    assert [piece.text for piece in packed(small, LIMITS)] == ["one\ntwo"]
    sealed = [Piece(0, 1, "o" * 40, 10, is_sealed=True), Piece(1, 2, "t" * 40, 10, is_sealed=True)]
    assert packed(sealed, LIMITS) == sealed
