"""A note read from the words of its block, and what is wrong with it."""

from __future__ import annotations

from hypothesis import strategies as st

from vaultmem.notes.parse import Note, parse_note
from vaultmem.notes.problems import Code


def note(fields: str, body: str = "# Title\n") -> Note:
    return parse_note("2026/05/week2/n.md", f"---\n{fields}---\n{body}".encode())


def codes(read: Note) -> list[Code]:
    return [problem.code for problem in read.problems]


def place(read: Note) -> tuple[Code, int | None, int | None]:
    problem = read.problems[0]
    return problem.code, problem.line, problem.column


BLOCKISH = st.text(
    st.sampled_from("---\n\r\t :#'\"[]{}&*!|>%@`,?ab~<=.\u2028\x85\ufeff缓😀\0idtags"), max_size=60
)
"""Texts of what means something in a block, in any order."""
