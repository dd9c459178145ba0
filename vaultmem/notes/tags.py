"""Tags: their normal form, and how several are told apart in one text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from vaultmem.text.folding import folded
from vaultmem.text.visible import EMOJI, emoji_form, letters

TAG_FORM = "A tag has letters of any script, digits or emoji, and / - _ between them."

_JOINTS = "/-_"

_COMMAS = re.compile("[,，、]")
_NEVER_KEPT = re.compile("[^A-Za-z0-9/_-]")


def normalise_tags(values: Iterable[str]) -> tuple[str, ...]:
    """Normalise each tag; empties and repeats are dropped, the order of first appearance is kept."""
    return tuple(dict.fromkeys(tag for tag in map(normalise_tag, values) if tag))


def normalise_tag(text: str) -> str:
    """The normal form of one tag, or "" when it holds no letter, digit or emoji.

    NFKC, trimmed, leading `#` dropped, lower case, inner white space to `-`; letters (with their marks) and digits of
    any script, emoji and `/ - _` kept, and no level empty. Applying it again changes nothing.
    """
    while (normal := _normalise_once(text)) != text:
        text = normal
    return normal


def split_tag_text(text: str) -> list[str]:
    """Split tags given as one text: at commas (also `，` and `、`) if there are any, else at white space."""
    return _COMMAS.split(text) if _COMMAS.search(text) else text.split()


def _normalise_once(text: str) -> str:
    plain = folded(text).strip().lstrip("#").strip().lower()
    levels = filter(None, _kept("-".join(plain.split())).split("/"))
    # Dropping a character can bring a letter and an accent together.
    tag = folded("/".join(levels))
    return tag if tag.strip(_JOINTS) else ""


def _kept(text: str) -> str:
    if text.isascii():
        return _NEVER_KEPT.sub("", text)
    parts, place = [], 0
    for emoji in EMOJI.finditer(text):
        parts += [letters(text[place : emoji.start()], kept=_JOINTS), emoji_form(emoji[0])]
        place = emoji.end()
    return "".join(parts) + letters(text[place:], kept=_JOINTS)
