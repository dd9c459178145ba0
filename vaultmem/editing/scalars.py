"""Text → one YAML scalar that every reader takes for that same text.

Readers differ in what they guess about an unquoted word: `no`, `0123`, `12:30` and `1_000` are not text to all
of them. A text is written without quotes only when YAML 1.1 and 1.2 both read it as it stands; otherwise it is
quoted, on one line, with escapes for whatever a reader might fold, strip or refuse.
"""

from __future__ import annotations

import re

_GUESSED_WORDS = frozenset({"~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "=", "<<"})
_NUMBER_LIKE = re.compile(r"[-+.]?[0-9][0-9a-fA-FxXoObB_.,:eE+\-TtZz ]*|[-+]?\.(?:inf|nan)", re.IGNORECASE)
_TIMESTAMP = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?Z| ?[-+]\d\d(?::?\d\d)?)?)?"
)
_NEVER_FIRST = frozenset("-?:,[]{}#&*!|>'\"%@`=<~")
_NEVER_IN_FLOW = frozenset(",[]{}:?")
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}


def write_scalar(text: str, *, style: str = "", in_flow: bool = False) -> str:
    """Write a text as a scalar, unquoted where that is safe for every reader.

    `style` is the quote of the old value, which the new one keeps where it can. `in_flow` is for items between
    brackets, where more characters have a meaning.
    """
    if style not in ("'", '"') and _is_plain(text, in_flow):
        return text
    is_single_possible = not _UNSAFE.search(text)
    if style == "'" and is_single_possible:
        return _single(text)
    if style != '"' and is_single_possible and ('"' in text or "\\" in text):
        return _single(text)
    return _double(text)


def write_time(text: str) -> str:
    """Write a point in time: ISO 8601 stays unquoted, as editors write it, though some make a date of it."""
    return text if _TIMESTAMP.fullmatch(text) else write_scalar(text)


def _is_plain(text: str, in_flow: bool) -> bool:
    if not text or text != text.strip() or text[0] in _NEVER_FIRST or _UNSAFE.search(text):
        return False
    if text.lower() in _GUESSED_WORDS or _NUMBER_LIKE.fullmatch(text):
        return False
    if in_flow and _NEVER_IN_FLOW & set(text):
        return False
    if text.startswith(("...", "---")) or "{{" in text:
        return False
    return ": " not in text and " #" not in text and not text.endswith(":")


def _single(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _double(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(c) or (_escape(c) if _UNSAFE.match(c) else c) for c in text) + '"'


def _escape(character: str) -> str:
    point = ord(character)
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}"
