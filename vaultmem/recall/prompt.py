"""A prompt → what is asked of the stores: windows to embed, terms to look up, names it names. Pure.

A short prompt is one window. A long one (a log, an assistant's whole answer) is cut into windows that fit the
model, and at most four are read: the first and the last, where people put their question, and the two between that
hold the rarest words of the vault.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from vaultmem.data.shipped import read_words
from vaultmem.recall.identifiers import Identifier, identifiers
from vaultmem.recall.scoring import MOST_WINDOWS, PROMPT_CHARS, SHORT_NUMBER, WINDOW_CHARS
from vaultmem.text.folding import folded
from vaultmem.text.languages import language
from vaultmem.text.terms import CJK, query_terms, stop_words, whole_terms

_BREAK = re.compile(r"\n+|(?<=[。！？；!?;])|(?<=\.)\s+")
_RUNS = re.compile(rf"[{CJK}]+|[^\W{CJK}]+")


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a prompt that is embedded and looked up as one query."""

    text: str
    language: str
    terms: tuple[str, ...]
    whole_terms: frozenset[str]
    """Those terms whose parts are terms too: where no memory holds one, its parts speak for it."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as recall reads it; no windows: it says nothing that a memory could answer."""

    text: str
    windows: tuple[Window, ...]
    identifiers: tuple[Identifier, ...] = ()

    @property
    def terms(self) -> tuple[str, ...]:
        """Every term to look up, each once."""
        of_windows = (term for window in self.windows for term in window.terms)
        of_names = (term for name in self.identifiers for term in name.terms)
        return tuple(dict.fromkeys([*of_windows, *of_names]))


def read_prompt(text: str, frequencies: Callable[[Sequence[str]], Mapping[str, int]] | None = None) -> Prompt:
    """Read a prompt of any length. `frequencies` tells in how many memories terms are, for choosing windows."""
    if not has_content(text):
        return Prompt(text, ())
    half = PROMPT_CHARS // 2
    kept = text if len(text) <= PROMPT_CHARS else f"{text[:half]}\n{text[-half:]}"
    windows = [_window(part) for part in _parts(kept.strip())]
    return Prompt(text, tuple(_chosen(windows, frequencies)), identifiers(kept))


def has_content(text: str) -> bool:
    """Something is left of the text without greetings, thanks, assent, "go on", stop words and lone digits."""
    plain = folded(text).lower()
    return any(map(_says_something, _RUNS.findall(plain)))


def _says_something(run: str) -> bool:
    if run.isdigit():
        return len(run) > SHORT_NUMBER
    if run in small_talk() or run in stop_words():
        return False
    if re.match(rf"[{CJK}]", run):
        return _small_talk_phrases().sub("", run) != ""
    return len(run) > 1


@cache
def small_talk() -> frozenset[str]:
    """Words and phrases that say nothing by themselves, see `data/small_talk.txt`."""
    return frozenset(read_words("small_talk.txt"))


@cache
def _small_talk_phrases() -> re.Pattern[str]:
    phrases = {word for word in small_talk() | stop_words() if re.match(rf"[{CJK}]", word)}
    return re.compile("|".join(map(re.escape, sorted(phrases, key=len, reverse=True))))


# --- windows


def _window(text: str) -> Window:
    return Window(text, language(text), tuple(query_terms(text)), whole_terms(text))


def _parts(text: str) -> list[str]:
    """The whole of a short prompt; of a long one its first and its last lines by themselves, what is between packed.

    A question that stands before or after a paste is not to be drowned by the line of the log beside it.
    """
    if len(text) <= WINDOW_CHARS:
        return [text]
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    first, rest = _edge(lines, str.partition)
    tail, rest = _edge(rest, lambda text, mark: text.rpartition(mark)[::-1])
    return [*first, *_packed(rest), *tail]


def _edge(text: str, split: Callable[[str, str], tuple[str, str, str]]) -> tuple[list[str], str]:
    """The paragraph, else the line at an end of a text, where it fits a window and says something; and the rest."""
    for mark in ("\n\n", "\n"):
        edge, found, rest = split(text, mark)
        if found and len(edge) <= WINDOW_CHARS and has_content(edge):
            return [edge.strip()], rest
    return [], text


def _packed(text: str) -> list[str]:
    """Sentences and lines packed into parts of at most WINDOW_CHARS."""
    parts: list[str] = [""]
    for sentence in filter(None, map(str.strip, _BREAK.split(text))):
        for start in range(0, len(sentence), WINDOW_CHARS):
            piece = sentence[start : start + WINDOW_CHARS]
            if len(parts[-1]) + len(piece) + 1 > WINDOW_CHARS:
                parts.append("")
            parts[-1] = f"{parts[-1]}\n{piece}".lstrip()
    return [part for part in parts if part]


def _chosen(
    windows: Sequence[Window], frequencies: Callable[[Sequence[str]], Mapping[str, int]] | None
) -> list[Window]:
    """At most MOST_WINDOWS, in their order."""
    if len(windows) <= MOST_WINDOWS:
        return list(windows)
    between = range(1, len(windows) - 1)
    known = {} if frequencies is None else _rarity(windows, frequencies)
    telling = sorted(between, key=lambda i: (-sum(known.get(t, 0.0) for t in windows[i].terms), i))
    picked = sorted({0, len(windows) - 1, *telling[: MOST_WINDOWS - 2]})
    return [windows[i] for i in picked]


def _rarity(
    windows: Sequence[Window], frequencies: Callable[[Sequence[str]], Mapping[str, int]]
) -> dict[str, float]:
    """What each term of the prompt that the vault knows adds to a window: more when few memories hold it."""
    terms = list(dict.fromkeys(term for window in windows for term in window.terms))
    known = {term: count for term, count in frequencies(terms).items() if count}
    most = max(known.values(), default=0)
    return {term: math.log(1 + most / count) for term, count in known.items()}
