"""A prompt → what is asked of the stores: windows to embed, terms to look up. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vaultmem.scoring import language
from vaultmem.terms import query_terms

MOST_WINDOWS = 4
"""Windows of a prompt that are read, which bounds the time that embedding takes."""
WINDOW_CHARS = 600
"""Well under the 512 tokens that the bundled model sees."""

_SAYS_SOMETHING = re.compile(r"\w")
_BREAK = re.compile(r"\n+|(?<=[。！？；.!?;])\s*")


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a prompt that is embedded and looked up as one query."""

    text: str
    language: str
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as recall reads it; no windows: it says nothing that a memory could answer."""

    text: str
    windows: tuple[Window, ...]


def read_prompt(text: str) -> Prompt:
    """Read a prompt of any length; what has no letter or digit says nothing."""
    if not _SAYS_SOMETHING.search(text):
        return Prompt(text, ())
    return Prompt(text, tuple(_window(part) for part in _parts(text.strip())))


def _window(text: str) -> Window:
    return Window(text, language(text), tuple(query_terms(text)))


def _parts(text: str) -> list[str]:
    if len(text) <= WINDOW_CHARS:
        return [text]
    parts = [""]
    for sentence in _BREAK.split(text):
        for start in range(0, len(sentence), WINDOW_CHARS):
            piece = sentence[start : start + WINDOW_CHARS]
            if len(parts[-1]) + len(piece) + 1 > WINDOW_CHARS:
                parts.append("")
            parts[-1] = f"{parts[-1]} {piece}".strip()
    chosen = [part for part in parts if part]
    return chosen if len(chosen) <= MOST_WINDOWS else [*chosen[: MOST_WINDOWS - 1], chosen[-1]]
