"""What of a text a person sees: emoji as their sequences, letters with their marks, and what has no picture. Pure."""

from __future__ import annotations

import re
import unicodedata

# Unicode's property Emoji without ASCII; from U+1F300 on whole blocks of pictures, also those still to come.
_PICTURE = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u23cf\u23e9-\u23f3\u23f8-\u23fa"
    "\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u2604\u260e\u2611\u2614\u2615\u2618\u261d\u2620\u2622\u2623"
    "\u2626\u262a\u262e\u262f\u2638-\u263a\u2640\u2642\u2648-\u2653\u265f\u2660\u2663\u2665\u2666\u2668\u267b\u267e"
    "\u267f\u2692-\u2697\u2699\u269b\u269c\u26a0\u26a1\u26a7\u26aa\u26ab\u26b0\u26b1\u26bd\u26be\u26c4\u26c5\u26c8"
    "\u26ce\u26cf\u26d1\u26d3\u26d4\u26e9\u26ea\u26f0-\u26f5\u26f7-\u26fa\u26fd\u2702\u2705\u2708-\u270d\u270f\u2712"
    "\u2714\u2716\u271d\u2721\u2728\u2733\u2734\u2744\u2747\u274c\u274e\u2753-\u2755\u2757\u2763\u2764\u2795-\u2797"
    "\u27a1\u27b0\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f004\U0001f0cf\U0001f170\U0001f171\U0001f17e\U0001f17f\U0001f18e\U0001f191-\U0001f19a\U0001f1e6-\U0001f1ff"
    "\U0001f201\U0001f202\U0001f21a\U0001f22f\U0001f232-\U0001f23a\U0001f250\U0001f251\U0001f300-\U0001f3fa"
    "\U0001f400-\U0001f64f\U0001f680-\U0001f6ff\U0001f7e0-\U0001f7eb\U0001f7f0\U0001f900-\U0001f9ff"
    "\U0001fa70-\U0001faff"
)
_SELECTORS = "\ufe0e\ufe0f"
_FLAG_OF_A_REGION = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f"
_ONE_EMOJI = (
    rf"(?:{_FLAG_OF_A_REGION}|[{_PICTURE}](?:[{_SELECTORS}]?[\U0001f3fb-\U0001f3ff]|[{_SELECTORS}])?)"
)
EMOJI = re.compile(rf"{_ONE_EMOJI}(?:\u200d{_ONE_EMOJI})*")
"""An emoji with all that belongs to it: skin tone, selectors, and the emoji joined to it."""

# What Unicode lets a program leave out (Default_Ignorable_Code_Point), and the blank of Braille.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_PARTS_WORDS = "\u200b\u200c"  # a blank without width; what keeps two letters apart


def emoji_form(emoji: str) -> str:
    """One spelling for a match of `EMOJI`: without selectors, which only a joined sequence keeps."""
    unwanted = "\ufe0e" if "\u200d" in emoji else _SELECTORS
    return emoji.translate(dict.fromkeys(map(ord, unwanted)))


def is_anything_seen(text: str) -> bool:
    """Whether a text holds a letter, digit or sign: more than blanks, marks alone and what has no picture."""
    if text.isascii():
        return any(character.isprintable() and character != " " for character in text)
    return EMOJI.search(text) is not None or any(_kind(character)[0] in "LNPS" for character in text)


def letters(text: str, *, kept: str = "", gap: str = "") -> str:
    """The letters of any script with their marks, the digits, and what is in `kept`.

    In the place of another character stands `gap`; nothing in that of one that is not seen, or of a mark without a
    letter.
    """
    found: list[str] = []
    can_be_marked = False
    for character in text:
        kind = _kind(character)
        is_mark = kind in ("Mn", "Mc")
        if kind[0] in "LN" or (is_mark and can_be_marked):
            found.append(character)
            can_be_marked = True
        elif character in kept:
            found.append(character)
            can_be_marked = False
        elif character in _PARTS_WORDS or character.isspace() or kind[0] not in "CM":
            found.append(gap)
            can_be_marked = can_be_marked and not gap
    return "".join(found)


def _kind(character: str) -> str:
    """Its category; `Cf`, as of a character of format, for everything that is not seen."""
    return "Cf" if _UNSEEN.match(character) else unicodedata.category(character)
