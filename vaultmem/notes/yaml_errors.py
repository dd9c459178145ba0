"""What a YAML parser complains about, said so that someone who does not know YAML can find the mistake.

The texts below are the details of `bad_yaml`; `vaultmem.notes.diagnostics` knows how to mend each.
"""

from __future__ import annotations

from typing import Any

COLON_INSIDE = "an unquoted value holds ': '"
SPECIAL_FIRST = "an unquoted value begins with"
TAB_INDENT = "a tab is used for indentation"
OPEN_QUOTE = "a quote is opened here and not closed properly"
BAD_ESCAPE = "there is no such escape between double quotes"
OPEN_LIST = "the list that begins with [ here is not closed properly"
OPEN_BRACES = "the mapping that begins with { here is not closed properly"
TEXT_AFTER = "text follows a value that is already complete"
STRAY_LINE = "this is neither `key: value` nor a part of the value above"
KEY_IS_NO_TEXT = "a key is a list or a mapping, as in {{…}}"
EXPLICIT_TAG = "the value has the YAML tag"
UNKNOWN_ALIAS = "there is no anchor for"
CONTROL_CHARACTER = "YAML does not allow the character"
NESTED_TOO_DEEP = "lists and mappings are nested too deeply"
NO_VALUE = "a value is missing"
UNCLOSED_BLOCK = "the opening --- on line 1 has no closing ---"

# What the parser was doing → what is wrong. The mistake is then where that began, not where it gave up.
_BY_CONTEXT = {
    "flow sequence": OPEN_LIST,
    "flow mapping": OPEN_BRACES,
    "quoted scalar": OPEN_QUOTE,
    "simple key": STRAY_LINE,
}
_MISREAD_FIRST = ("block scalar", "an anchor", "an alias", "a tag", "a directive")  # meant as a text
_SPECIAL = ("cannot start any token", "are not allowed", "expected node content", "expected the node content")
_STRAY = ("expected key", "expected <block end>", "<document start>", "expected '-'")


def explain(error: Any, text: str) -> tuple[str, int, int]:
    """Return what is wrong, with line and column (from 0) in the parsed text. `error`: a MarkedYAMLError."""
    problem, context = str(error.problem or ""), str(error.context or "")
    mark = error.problem_mark or error.context_mark
    began = error.context_mark or mark
    if "nesting depth" in problem:
        return _at(NESTED_TOO_DEEP, mark, text)
    if "escape" in problem:
        return _at(BAD_ESCAPE, mark, text)
    for words, meaning in _BY_CONTEXT.items():
        if words in context:
            return _at(meaning, began, text)
    if any(words in context for words in _MISREAD_FIRST):
        return _at(_special(text, began), began, text)
    if "mapping values are not allowed" in problem:
        return _at(COLON_INSIDE, mark, text)
    if any(words in problem for words in _SPECIAL):
        return _at(_special(text, mark), mark, text)
    if any(words in problem for words in _STRAY):
        line = text[text.rfind("\n", 0, mark.index) + 1 : mark.index]
        return _at(TEXT_AFTER if line.strip() else STRAY_LINE, mark, text)
    return _at(problem or context, mark, text)


def _special(text: str, mark: Any) -> str:
    character = text[mark.index : mark.index + 1]
    if not character.strip(" \n\r"):
        return NO_VALUE
    return TAB_INDENT if character == "\t" else f"{SPECIAL_FIRST} {character}"


def _at(meaning: str, mark: Any, text: str) -> tuple[str, int, int]:
    # At the end of the text the parser points below its last line.
    return meaning, min(mark.line, text.rstrip("\n").count("\n")), mark.column
