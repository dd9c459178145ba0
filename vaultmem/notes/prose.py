"""A body → its first sentence as plain text: Markdown, Obsidian's and CommonMark's, is read by a parser of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

READ_CHARS = (
    8_192  # of a body; a few lines of brackets alone cost a parser time by the square of their length
)

# [[Note#Heading|shown]], an embedded ![[file]], a %%comment%%, a footnote's [^1], the == of ==a highlight==.
_OF_OBSIDIAN = re.compile(
    r"\[\[(?P<note>[^\[\]|\n]+)(?:\|(?P<shown>[^\[\]\n]*))?\]\]|!\[\[[^\[\]\n]*\]\]|%%.*?%%|\[\^[^\[\]\s]+\]"
    r"|(?<!\w)==(?=\S)|(?<=\S)==(?!\w)",
    re.DOTALL,
)
_CALLOUT = re.compile(r"\[![\w-]+\][+-]?[ \t]*(?P<title>[^\n]*)\n?")
_TASK = re.compile(r"\A\[.\][ \t]+(?=\S)")
_BLOCK_NAME = re.compile(r"\s\^[\w-]+$", re.MULTILINE)
_NEXT_LABEL = re.compile(r"\n(?=(\*\*|__)[^*_\n]+(?::\1|\1:))")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]+\]:")
# Not behind one letter (e.g., z. B.), nor behind a number of a day (3. Juni).
_SENTENCE_END = re.compile(r"[。！？][”』」）]?|(?:[!?]|(?<!\b[^\W_])(?<!\b\d\d)\.)[\"')\]”’]*(?=\s)")


def first_sentence(body: str) -> str:
    """The first sentence of the first paragraph that says something; empty when there is none.

    A line break ends it where a label in bold follows, as in lines of `**Key**: value`.
    """
    for text in _paragraphs(_parser().parse(body[:READ_CHARS])):
        line = next((" ".join(line.split()) for line in text.split("\n") if _says_something(line)), "")
        if line:
            ends = (match.end() for match in _SENTENCE_END.finditer(line))
            return line[: next((end for end in ends if _has_letters(line[:end])), None)]
    return ""


def _says_something(line: str) -> bool:
    """A letter or digit, and more than tags."""
    words = line.split()
    return any(map(str.isalnum, line)) and not all(word.startswith("#") for word in words)


def _has_letters(text: str) -> bool:
    return any(map(str.isalpha, text))


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # As in `markdown`: no link definitions. A table's cells and a heading are no paragraphs.
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable("reference")
    parser.inline.ruler.before("link", "obsidian", _read_obsidian)
    return parser


def _read_obsidian(state: StateInline, silent: bool) -> bool:
    """An inline rule for the parser: what Obsidian alone knows becomes the text that it shows."""
    match = _OF_OBSIDIAN.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        state.push("text", "", 0).content = match["shown"] or (match["note"] or "").replace("#", " ").strip()
    state.pos = match.end()
    return True


def _paragraphs(tokens: Sequence[Token]) -> Iterator[str]:
    number = ""
    for at, token in enumerate(tokens):
        if token.type == "list_item_open":
            number = _number_of(tokens, at)
        elif token.type == "inline" and tokens[at - 1].type == "paragraph_open":
            yield number + _plain(token.content)
            number = ""


def _number_of(tokens: Sequence[Token], at: int) -> str:
    """What stands before a lone item: to CommonMark `3. June` is a list that begins with its third item."""
    item, before = tokens[at], tokens[at - 1]
    if before.type != "ordered_list_open" or item.info == "1":
        return ""
    close = next(
        i
        for i in range(at, len(tokens))
        if tokens[i].type == "list_item_close" and tokens[i].level == item.level
    )
    return f"{item.info}{item.markup} " if tokens[close + 1].type == "ordered_list_close" else ""


def _plain(content: str) -> str:
    """The text of a paragraph, none of a footnote; of a callout what stands below its title, else the title."""
    if _FOOTNOTE.match(content):
        return ""
    if callout := _CALLOUT.match(content):
        content = content[callout.end() :] or callout["title"]
    content = _NEXT_LABEL.sub("\\\\\n", _BLOCK_NAME.sub("", _TASK.sub("", content)))
    (inline,) = _parser().parseInline(content)
    return "".join(map(_shown, inline.children or []))


def _shown(token: Token) -> str:
    breaks = {"softbreak": " ", "hardbreak": "\n"}
    return token.content if token.type in ("text", "code_inline") else breaks.get(token.type, "")
