"""Text made safe to show: without what could break out of its line or hide in it, and cut to a width. Pure."""

from __future__ import annotations

import unicodedata

from vaultmem.text.cuts import is_letter_border

JOINERS = "\u200c\u200d"
"""The invisible characters that several scripts and emoji are misspelt without; every other one only misleads."""
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def is_text(text: str) -> bool:
    """Whether a text can be written as UTF-8: it holds no lone surrogate, such as an undecodable byte becomes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def harmless(text: str) -> str:
    """The text on one line, without control, direction and invisible characters; lone surrogates: U+FFFD."""
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    return " ".join("".join(_shown(character) for character in text).split())


def harmless_id(text: str) -> str:
    """An id as it can be opened: its blanks are not ours to fold. A usable id holds nothing else that is not shown."""
    return "".join(_shown(character) for character in text)


def harmless_block(text: str) -> str:
    """As `harmless`, for text of several lines: line breaks and tabs stay, every line ends in `\\n`."""
    lines = text.replace("\r\n", "\n")
    return lines.translate(
        {ord(each): _shown(each) for each in set(lines) - {"\n", "\t"} if _shown(each) != each}
    )


def quoted(path: str) -> str:
    """A path on one line that loses nothing: as it is, or in quotes with escapes where it is not harmless, as git does.

    What it is made of can be had again: bytes of UTF-8 as `\\302`, and `\\n`, `\\"`, `\\\\`.
    """
    if harmless_id(path) == path:
        return path
    return f'"{"".join(_escaped(character) for character in path)}"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if _shown(character) == character:
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape"))


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if character in "\t\n\v\f\r\x85" or category in ("Zl", "Zp"):
        return " "
    if category == "Cs":
        return "\ufffd"
    if category == "Cc" or (category == "Cf" and character not in JOINERS):
        return ""
    return character


def shortened(text: str, width: int) -> str:
    """At most `width` characters of a text, the last `…` when something was cut, never inside a letter."""
    if len(text) <= width:
        return text
    end = max(width - 1, 0)
    while not is_letter_border(text, end):
        end -= 1
    return text[:end].rstrip() + "…"
