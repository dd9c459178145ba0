"""Which language a text is in, as far as calibration needs to know. Pure.

Chinese and English have means of their own. Everything else is OTHER, told by its script or, in Latin letters, by
its function words: such text shares more with its own kind than with either, and is held to another level.
"""

from __future__ import annotations

import re
from functools import cache

from vaultmem.data.shipped import read_words

CHINESE, ENGLISH, OTHER = "zh", "en", "other"
LANGUAGES = (CHINESE, ENGLISH, OTHER)

OTHER_SCRIPT_SHARE = 0.2
"""Of the letters, in kana, Hangul, Cyrillic …, from which a text is in another language."""
FEWEST_FUNCTION_WORDS = 2
"""Different foreign words, and more than English function words, by which a Latin text is in another language;
where there is no English one, a single unmistakable one will do."""
LETTERS_PER_WORD = 4
"""What a Latin word weighs against characters of other scripts."""

_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN_WORD = re.compile(r"[A-Za-z]+")
_OTHER_SCRIPT = re.compile(
    r"[\u0370-\u03ff\u0400-\u052f\u0530-\u06ff\u0900-\u0e7f\u1100-\u11ff\u3040-\u30fa\u30fd-\u30ff\uac00-\ud7af]"
)
_WORD = re.compile(r"(?<![\w./:\\-])[A-Za-zÀ-ɏ]+(?![\w/\\-]|[.:]\w)")


def language(text: str) -> str:
    """`zh`, `en` or `other`; text without letters is English."""
    han, words = len(_HAN.findall(text)), len(_LATIN_WORD.findall(text))
    strange = len(_OTHER_SCRIPT.findall(text))
    if strange > OTHER_SCRIPT_SHARE * (strange + han + LETTERS_PER_WORD * words):
        return OTHER
    if han > 0.5 * words:
        return CHINESE
    return OTHER if _is_foreign_latin(text) else ENGLISH


def script_language(text: str) -> str:
    """`zh` when Chinese characters outnumber half the Latin words, else `en`: how evaluations pair languages."""
    return CHINESE if len(_HAN.findall(text)) > 0.5 * len(_LATIN_WORD.findall(text)) else ENGLISH


def _is_foreign_latin(text: str) -> bool:
    words = [word.lower() for word in _WORD.findall(text)]
    foreign = {word for word in words if word in _words_of("function_words.txt") or not word.isascii()}
    english = sum(word in _words_of("stop_words.txt") for word in words)
    if len(foreign) < FEWEST_FUNCTION_WORDS:
        return not english and not foreign <= _words_of("mistakable_words.txt")
    return sum(word in foreign for word in words) > english


@cache
def _words_of(file: str) -> frozenset[str]:
    return frozenset(read_words(file))
