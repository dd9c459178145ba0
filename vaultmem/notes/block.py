"""The metadata block of a note: where it lies, and what its YAML says, as a tree of texts.

Every scalar stays the text that was written: `id: 0123` is "0123", `no` is a word, a date is a text. No type
is guessed and nothing is constructed, so nothing in a note can run, and two YAML versions cannot disagree.
The tree is built from the parser's events, which carry the place of every value; edits use the same tree to
find the text they may change.

Only `\\n` and `\\r\\n` end a line, in the block as elsewhere. YAML 1.1 would also break at U+0085, U+2028,
U+2029 and a lone `\\r`, and libyaml skips a U+FEFF; these are hidden from the parser and put back afterwards.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from vaultmem.notes.problems import Code, Problem
from vaultmem.notes.tree import Alias, Entry, Fields, Listing, Node, Resolved, Scalar

BLOCK_LIMIT_BYTES = 256 * 1024
DEPTH_LIMIT = 64
FIRST_LINE = 2  # the block's text begins on the second line of the file
BOM = b"\xef\xbb\xbf"

# Details of problems, in words for someone who does not know YAML; `vaultmem.notes.diagnostics` knows how to mend each.
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
NOT_ON_LINE_1 = "its metadata block does not begin on line 1, so it does not count"
ODD_FENCES = "its metadata block does not stand between lines of exactly ---, so it does not count"
NO_FIELDS = "its metadata block holds no `key: value` lines"
SECOND_BLOCK = "a second metadata block follows, and only the first one counts; it begins on line"

_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*\r?\n")
_CLOSING = re.compile(rb"^---[ \t]*(?:\r?\n|\r?\Z)", re.MULTILINE)
_HIDDEN = re.compile("[\x85\u2028\u2029\ufeff]|\r(?!\n)")
_NOT_ALLOWED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff\ud800-\udfff]")
_TEXT_TAG = "tag:yaml.org,2002:str"
MERGE_MARKER = re.compile(rb"^(?:<{7}|>{7})(?: |\r?$)", re.MULTILINE)
_MEMORY_KEYS = frozenset({"id", "name", "description", "tags", "status"})
_BLANK_LINES = re.compile(r"\A(?:[ \t\ufeff]*\r?\n)*")
_BLANK_THEN_FENCE = re.compile(r"\s*\n---[ \t]*\r?\n")
# Dashes of another number or kind, which a word processor or a slip makes, `--- yaml`, and the `+++` of TOML.
_ODD_FENCE = re.compile(r"[ \t]*(?:[-\u2010-\u2015\u2212]{2,}|\+{3,})[ \t]*(?:[Yy]a?ml|[Tt]oml)?[ \t]*\r?\n")
_MEMORY_LINE = re.compile(rf"""[ \t]*["']?(?:{"|".join(sorted(_MEMORY_KEYS))})["']?[ \t]*[:=]""")


@dataclass(frozen=True, slots=True)
class Block:
    """Where the block lies, in bytes of the file: its text is `start:end`, the body begins at `body_start`.

    An opening fence without a closing one is a block with `is_closed` False and no text.
    """

    start: int
    end: int
    body_start: int
    is_closed: bool = True


def find_block(data: bytes) -> Block | None:
    """Find the block at the very top of a file. A blank line before the fence means that there is none."""
    opening = _OPENING.match(data)
    if opening is None:
        return None
    start = opening.end()
    closing = _CLOSING.search(data, start)
    if closing is None:
        return Block(start, start, start, is_closed=False)
    return Block(start, closing.start(), closing.end())


class BlockError(Exception):
    """The block's text cannot be read; carries the problem to report."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def read_tree(text: str) -> Node | None:
    """Read the text between the fences into a tree; None for a block with nothing in it.

    Raises BlockError, and nothing else, for any text.
    """
    hidden, back = _hide_odd_characters(text)
    return _Builder(hidden, back).build()


def read_block(data: bytes, block: Block) -> Node | Problem | None:
    """The tree of a block, None where nothing is in it, or why it cannot be read."""
    if block.end - block.start > BLOCK_LIMIT_BYTES:
        return Problem(Code.BAD_YAML, f"the block is longer than {BLOCK_LIMIT_BYTES // 1024} KiB", 1, 1)
    if marker := MERGE_MARKER.search(data, block.start, block.end):
        line = data.count(b"\n", 0, marker.start()) + 1
        return Problem(Code.MERGE_CONFLICT, "the block holds the markers of an unfinished merge", line, 1)
    try:
        return read_tree(data[block.start : block.end].decode())
    except BlockError as error:
        return error.problem


def second_block(body: str, body_line: int) -> str:
    """Why a memory's fields may lie in a block that is not read; empty when there is no second one."""
    line = second_block_line(body, body_line)
    return f"{SECOND_BLOCK} {line}" if line else ""


def second_block_line(body: str, body_line: int) -> int | None:
    """The line of a block that directly follows the note's own, if it looks like a memory's."""
    stripped = body.lstrip()
    is_second = _is_memory_block(stripped) or _has_odd_fences(stripped)
    return body_line + body[: len(body) - len(stripped)].count("\n") if is_second else None


def _is_memory_block(text: str) -> bool:
    if not text.startswith("---"):
        return False
    data = text.encode()
    block = find_block(data)
    tree = read_block(data, block) if block and block.is_closed else None
    return isinstance(tree, Fields) and any(entry.key.text in _MEMORY_KEYS for entry in tree.entries)


def uncounted_block(body: str) -> str:
    """Why a block at the head of a file does not count; empty when there is none."""
    if _BLANK_THEN_FENCE.match(body):
        return NOT_ON_LINE_1
    return ODD_FENCES if _has_odd_fences(_BLANK_LINES.sub("", body)) else ""


def _has_odd_fences(text: str) -> bool:
    """A memory's fields follow on a line that was meant as a fence, up to another one or to a blank line."""
    opening = _ODD_FENCE.match(text)
    if opening is None or _OPENING.match(text[: opening.end()].encode()):
        return False
    for line in text[opening.end() : opening.end() + BLOCK_LIMIT_BYTES].splitlines(keepends=True):
        if not line.strip() or _ODD_FENCE.match(line):
            return False
        if _MEMORY_LINE.match(line):
            return True
    return False


# --- text → tree


def _hide_odd_characters(text: str) -> tuple[str, dict[int, str]]:
    """Replace what parsers treat apart by private-use characters, one for one; return also the way back."""
    found = sorted(set(_HIDDEN.findall(text)))
    if not found:
        return text, {}
    free = (chr(point) for point in range(0xE000, 0xF900) if chr(point) not in text)
    stand_ins = dict(zip(found, free, strict=False))
    if len(stand_ins) < len(found):
        raise BlockError(Problem(Code.BAD_YAML, "the block uses up all characters for private use"))
    hidden = _HIDDEN.sub(lambda match: stand_ins[match.group()], text)
    return hidden, {ord(stand_in): character for character, stand_in in stand_ins.items()}


class _Builder:
    """Builds the tree from parser events, without recursion: deep nesting costs an error, not the stack."""

    def __init__(self, text: str, back: dict[int, str]) -> None:
        self._text = text
        self._back = back
        self._anchors: dict[str, Resolved] = {}
        self._open: list[tuple[Any, list[Node]]] = []  # collections that are not closed yet
        self._root: Node | None = None
        self._documents = 0

    def build(self) -> Node | None:
        import yaml

        if found := _NOT_ALLOWED.search(self._text):
            raise self._bad_character(found.start())
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same events, ten times as fast
        try:
            for event in yaml.parse(self._text, Loader=loader):
                self._take(event, yaml)
        except yaml.MarkedYAMLError as error:
            raise self._in_plain_words(error) from None
        except yaml.YAMLError as error:
            raise BlockError(Problem(Code.BAD_YAML, str(error))) from None
        return self._root

    def _take(self, event: Any, yaml: Any) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._add(self._scalar(event), event.anchor)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._refuse_tag(event)
            if len(self._open) >= DEPTH_LIMIT:
                raise self._error(event, NESTED_TOO_DEEP)
            self._open.append((event, []))
        elif isinstance(event, yaml.CollectionEndEvent):
            start, children = self._open.pop()
            is_list = isinstance(start, yaml.SequenceStartEvent)
            self._add(self._collection(start, event, children, is_list=is_list), start.anchor)
        elif isinstance(event, yaml.AliasEvent):
            self._add(self._alias(event))
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise self._error(event, "a second YAML document begins inside the block")

    def _add(self, node: Node, anchor: str | None = None) -> None:
        if anchor is not None and not isinstance(node, Alias):
            self._anchors[anchor] = node
        if self._open:
            self._open[-1][1].append(node)
        else:
            self._root = node

    def _scalar(self, event: Any) -> Scalar:
        self._refuse_tag(event)
        text = event.value.translate(self._back) if self._back else event.value
        if event.style == '"' and not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
            # Only PyYAML without libyaml lets it pass.
            raise self._error(event, "an escape stands for a lone surrogate (half of a UTF-16 pair)")
        start, end = event.start_mark.index, event.end_mark.index
        return Scalar(text, event.style or "", start, end, *_place(event), event.anchor)

    def _alias(self, event: Any) -> Alias:
        target = self._anchors.get(event.anchor)
        if target is None:
            raise self._error(event, f"{UNKNOWN_ALIAS} *{event.anchor}")
        return Alias(event.anchor, target, event.start_mark.index, event.end_mark.index, *_place(event))

    def _collection(self, start: Any, end: Any, children: list[Node], *, is_list: bool) -> Listing | Fields:
        is_flow, place = bool(start.flow_style), (start.start_mark.index, end.end_mark.index, *_place(start))
        if is_list:
            return Listing(tuple(children), is_flow, *place, start.anchor)
        return Fields(_entries(children), is_flow, *place, start.anchor)

    def _refuse_tag(self, event: Any) -> None:
        if event.tag is not None and event.tag != _TEXT_TAG:
            raise self._error(event, f"{EXPLICIT_TAG} {event.tag}")

    def _error(self, event: Any, detail: str) -> BlockError:
        return BlockError(Problem(Code.BAD_YAML, detail, *_place(event)))

    def _bad_character(self, index: int) -> BlockError:
        before = self._text[:index]
        line, column = before.count("\n") + FIRST_LINE, len(before) - before.rfind("\n")
        return BlockError(
            Problem(Code.BAD_YAML, f"{CONTROL_CHARACTER} U+{ord(self._text[index]):04X}", line, column)
        )

    def _in_plain_words(self, error: Any) -> BlockError:
        detail, line, column = _explain(error, self._text)
        if detail == NO_VALUE and self._open and self._open[-1][0].flow_style:
            unclosed = self._open[-1][0]
            character = self._text[unclosed.start_mark.index]
            return self._error(unclosed, OPEN_BRACES if character == "{" else OPEN_LIST)
        return BlockError(Problem(Code.BAD_YAML, detail, line + FIRST_LINE, column + 1))


def _place(event: Any) -> tuple[int, int]:
    return event.start_mark.line + FIRST_LINE, event.start_mark.column + 1


def _entries(children: list[Node]) -> tuple[Entry, ...]:
    """Pair keys and values. Most readers give up on a key that is no text, or is there twice; so do we."""
    entries: list[Entry] = []
    lines: dict[str, int] = {}
    for key, value in zip(children[::2], children[1::2], strict=True):
        if not isinstance(key, Scalar):
            raise BlockError(Problem(Code.BAD_YAML, KEY_IS_NO_TEXT, key.line, key.column))
        if key.text in lines:
            detail = f"`{key.text}` is already on line {lines[key.text]}"
            raise BlockError(Problem(Code.DUPLICATE_KEY, detail, key.line, key.column))
        lines[key.text] = key.line
        entries.append(Entry(key, value))
    return tuple(entries)


# --- what a YAML parser complains of, so that the mistake can be found

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


def _explain(error: Any, text: str) -> tuple[str, int, int]:
    """What is wrong, with line and column (from 0) in the parsed text. `error`: a MarkedYAMLError."""
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
