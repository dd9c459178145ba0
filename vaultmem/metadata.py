"""The metadata block of a note: where it lies, and what its YAML says, as a tree of texts.

Every scalar stays the text that was written: `id: 0123` is "0123", `no` is a word, a date is a text. No YAML
type is ever guessed and nothing is constructed, so that nothing in a note can run, and two YAML versions cannot
disagree about it. The tree is built from the parser's events, which carry the place of every value; edits use
the same tree to find the text they may change.

Only `\\n` and `\\r\\n` end a line, in the block as elsewhere. YAML 1.1 would also break at U+0085, U+2028, U+2029
and a lone `\\r`; these are hidden from the parser and put back into what it read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from vaultmem.problems import Code, Problem

BLOCK_LIMIT_BYTES = 256 * 1024
DEPTH_LIMIT = 64
BOM = b"\xef\xbb\xbf"
FIRST_LINE = 2  # the block's text begins on the second line of the file

_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*\r?\n")
_CLOSING = re.compile(rb"^---[ \t]*(?:\r?\n|\r?\Z)", re.MULTILINE)
_HIDDEN_BREAKS = re.compile("[\x85\u2028\u2029]|\r(?!\n)")
_NULL_WORDS = frozenset({"", "~", "null", "Null", "NULL"})
_TEXT_TAG = "tag:yaml.org,2002:str"


@dataclass(frozen=True, slots=True)
class Block:
    """Where the block lies, in bytes of the file: its text is `start:end`, the body begins at `body_start`.

    An opening fence without a closing one is a block with `is_closed` False; `end` is then meaningless.
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


@dataclass(frozen=True, slots=True)
class Scalar:
    """One scalar. `start` and `end` are character offsets in the block's text; `line` counts from 1 in the file."""

    text: str
    style: str  # "" plain, else the quote or `|` or `>`
    start: int
    end: int
    line: int
    column: int
    anchor: str | None = None

    @property
    def is_null(self) -> bool:
        """An unquoted `null`, `~` or nothing at all. A quoted "~" is a text."""
        return not self.style and self.text in _NULL_WORDS


@dataclass(frozen=True, slots=True)
class Listing:
    """A YAML sequence. For a block sequence `end` lies behind trailing comments and blank lines."""

    items: tuple[Node, ...]
    is_flow: bool
    start: int
    end: int
    line: int
    column: int
    anchor: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A key and its value in a mapping."""

    key: Scalar
    value: Node


@dataclass(frozen=True, slots=True)
class Mapping:
    """A YAML mapping with its entries in the order of the file."""

    entries: tuple[Entry, ...]
    is_flow: bool
    start: int
    end: int
    line: int
    column: int
    anchor: str | None = None

    def find(self, name: str) -> Node | None:
        """Return the value of a key, looking through merge keys (`<<`) when the key is not written out."""
        for entry in self.entries:
            if entry.key.text == name:
                return resolve(entry.value)
        for base in self._merged():
            found = base.find(name)
            if found is not None:
                return found
        return None

    def entry(self, name: str) -> Entry | None:
        """Return the entry that is written out under this key."""
        return next((entry for entry in self.entries if entry.key.text == name), None)

    def _merged(self) -> Iterator[Mapping]:
        for entry in self.entries:
            if entry.key.text == "<<" and not entry.key.style:
                value = resolve(entry.value)
                for base in value.items if isinstance(value, Listing) else (value,):
                    base = resolve(base)
                    if isinstance(base, Mapping):
                        yield base


@dataclass(frozen=True, slots=True)
class Alias:
    """`*name`: another place of the block."""

    name: str
    target: Scalar | Listing | Mapping
    start: int
    end: int
    line: int
    column: int
    anchor: str | None = None


Node: TypeAlias = Scalar | Listing | Mapping | Alias


def resolve(node: Node) -> Scalar | Listing | Mapping:
    """Follow an alias to what it stands for."""
    return node.target if isinstance(node, Alias) else node


class BlockError(Exception):
    """The block's text cannot be read; carries the problem to report."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def read_tree(text: str, first_line: int = FIRST_LINE) -> Node | None:
    """Read the block's text into a tree; None for a block with nothing in it.

    `first_line` is the line of the file on which the text begins. Raises BlockError, and nothing else, for any text.
    """
    hidden = _hide_breaks(text)
    return _Builder(hidden, first_line).build(hidden.text)


@dataclass(frozen=True, slots=True)
class _Hidden:
    """A text whose odd line separators are replaced by private-use characters, one for one."""

    text: str
    back: dict[int, str]

    def restore(self, text: str) -> str:
        return text.translate(self.back) if self.back else text


def _hide_breaks(text: str) -> _Hidden:
    found = sorted(set(_HIDDEN_BREAKS.findall(text)))
    if not found:
        return _Hidden(text, {})
    free = (chr(point) for point in range(0xE000, 0xF8FF) if chr(point) not in text)
    stand_ins = dict(zip(found, free, strict=False))
    if len(stand_ins) < len(found):
        raise BlockError(Problem(Code.BAD_YAML, "the block uses line separators that cannot be read"))
    hidden = _HIDDEN_BREAKS.sub(lambda match: stand_ins[match.group()], text)
    return _Hidden(hidden, {ord(stand_in): break_ for break_, stand_in in stand_ins.items()})


class _Builder:
    """Builds the tree from parser events, without recursion: a hostile nesting costs an error, not the stack."""

    def __init__(self, hidden: _Hidden, first_line: int) -> None:
        self._hidden = hidden
        self._first_line = first_line
        self._anchors: dict[str, Scalar | Listing | Mapping] = {}
        self._open: list[tuple[Any, list[Node]]] = []
        self._root: Node | None = None
        self._documents = 0

    def build(self, text: str) -> Node | None:
        import yaml

        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            for event in yaml.parse(text, Loader=loader):
                self._take(event, yaml)
        except yaml.MarkedYAMLError as error:
            raise self._marked(error, text) from None
        except yaml.reader.ReaderError as error:
            raise self._unreadable(error, text) from None
        except yaml.YAMLError as error:
            raise BlockError(Problem(Code.BAD_YAML, str(error))) from None
        return self._root

    def _take(self, event: Any, yaml: Any) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._refuse_tag(event)
            self._close(event, self._scalar(event))
        elif isinstance(event, yaml.CollectionStartEvent):
            self._refuse_tag(event)
            if len(self._open) >= DEPTH_LIMIT:
                raise self._error(event, "lists and mappings are nested too deeply")
            self._open.append((event, []))
        elif isinstance(event, yaml.CollectionEndEvent):
            start, children = self._open.pop()
            self._close(start, self._collection(start, event, children, yaml))
        elif isinstance(event, yaml.AliasEvent):
            self._close(event, self._alias(event), is_anchor=False)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise self._error(event, "a second YAML document begins inside the block")

    def _close(self, event: Any, node: Node, *, is_anchor: bool = True) -> None:
        if is_anchor and event.anchor is not None and not isinstance(node, Alias):
            self._anchors[event.anchor] = node
        if self._open:
            self._open[-1][1].append(node)
        else:
            self._root = node

    def _place(self, event: Any) -> tuple[int, int]:
        mark = event.start_mark
        return mark.line + self._first_line, mark.column + 1

    def _scalar(self, event: Any) -> Scalar:
        line, column = self._place(event)
        style = event.style or ""
        text = self._hidden.restore(event.value)
        return Scalar(text, style, event.start_mark.index, event.end_mark.index, line, column, event.anchor)

    def _alias(self, event: Any) -> Alias:
        target = self._anchors.get(event.anchor)
        if target is None:
            raise self._error(
                event, f"*{event.anchor} refers to an anchor that does not exist; quote the value"
            )
        line, column = self._place(event)
        return Alias(event.anchor, target, event.start_mark.index, event.end_mark.index, line, column)

    def _collection(self, start: Any, end: Any, children: list[Node], yaml: Any) -> Listing | Mapping:
        line, column = self._place(start)
        span = (
            bool(start.flow_style),
            start.start_mark.index,
            end.end_mark.index,
            line,
            column,
            start.anchor,
        )
        if isinstance(start, yaml.SequenceStartEvent):
            return Listing(tuple(children), *span)
        return Mapping(self._entries(children), *span)

    def _entries(self, children: list[Node]) -> tuple[Entry, ...]:
        entries, seen = [], {}
        for key, value in zip(children[::2], children[1::2], strict=True):
            if not isinstance(key, Scalar):
                detail = "a key is a list or a mapping; a value such as {{…}} must be quoted"
                raise BlockError(Problem(Code.BAD_YAML, detail, key.line, key.column))
            if key.text in seen:
                detail = f"the key {key.text!r} is already on line {seen[key.text]}"
                raise BlockError(Problem(Code.DUPLICATE_KEY, detail, key.line, key.column))
            seen[key.text] = key.line
            entries.append(Entry(key, value))
        return tuple(entries)

    def _refuse_tag(self, event: Any) -> None:
        if event.tag is not None and event.tag != _TEXT_TAG:
            raise self._error(event, f"the value has the YAML tag {event.tag}; quote it if it is text")

    def _error(self, event: Any, detail: str) -> BlockError:
        return BlockError(Problem(Code.BAD_YAML, detail, *self._place(event)))

    def _marked(self, error: Any, text: str) -> BlockError:
        mark = error.problem_mark or error.context_mark
        if mark is None:
            return BlockError(Problem(Code.BAD_YAML, str(error.problem)))
        detail = _in_plain_words(error, text, mark.index)
        line = min(mark.line, text.count("\n")) + self._first_line
        return BlockError(Problem(Code.BAD_YAML, detail, line, mark.column + 1))

    def _unreadable(self, error: Any, text: str) -> BlockError:
        # libyaml counts bytes here, so the place is searched for instead.
        where = re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]", text)
        detail = "a character that YAML does not allow"
        if where is None:
            return BlockError(Problem(Code.BAD_YAML, detail))
        before = text[: where.start()]
        line, column = before.count("\n") + self._first_line, len(before) - before.rfind("\n")
        return BlockError(Problem(Code.BAD_YAML, f"{detail} (U+{ord(where.group()):04X})", line, column))


def _in_plain_words(error: Any, text: str, index: int) -> str:
    problem = str(error.problem or error.context or "not valid YAML")
    if "cannot start any token" in problem:
        character = text[index : index + 1]
        if character == "\t":
            return "a tab is used for indentation; use spaces"
        return f"an unquoted value begins with {character!r}; quote it"
    if "mapping values are not allowed" in problem:
        return "': ' inside an unquoted value; quote the value"
    context = f" {error.context}" if error.context else ""
    return f"{problem}{context}"
