"""The values of a metadata block as a tree: texts with the places where they are written.

`start` and `end` are character offsets in the block's text, `line` and `column` count from 1 in the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

_NULL_WORDS = frozenset({"", "~", "null", "Null", "NULL"})


@dataclass(frozen=True, slots=True)
class Scalar:
    """One text as it was written, quotes and escapes resolved."""

    text: str
    style: str  # "" plain, else the quote, or `|` or `>`
    start: int
    end: int
    line: int
    column: int
    anchor: str | None = None

    @property
    def is_null(self) -> bool:
        """An unquoted `null`, `~` or nothing at all. A quoted "~" is a text."""
        return not self.style and self.text in _NULL_WORDS

    @property
    def is_block(self) -> bool:
        """Written as `|` or `>` with its text on the lines below."""
        return self.style in ("|", ">")


@dataclass(frozen=True, slots=True)
class Listing:
    """A YAML sequence. A block sequence has at least one item; its `end` lies behind trailing comments."""

    items: tuple[Node, ...]
    is_flow: bool
    start: int
    end: int
    line: int
    column: int
    anchor: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A key and its value."""

    key: Scalar
    value: Node


@dataclass(frozen=True, slots=True)
class Fields:
    """A YAML mapping: its entries in the order of the file."""

    entries: tuple[Entry, ...]
    is_flow: bool
    start: int
    end: int
    line: int
    column: int
    anchor: str | None = None

    def entry(self, name: str) -> Entry | None:
        """The entry that is written out under this key."""
        return next((entry for entry in self.entries if entry.key.text == name), None)

    def find(self, name: str) -> Resolved | None:
        """The value of a key, looking through merge keys (`<<`) when it is not written out."""
        if entry := self.entry(name):
            return resolve(entry.value)
        pending, seen = self._bases(), set[int]()
        while pending:
            base = pending.pop(0)
            if id(base) in seen:  # bases that name each other many times must not cost many looks
                continue
            seen.add(id(base))
            if entry := base.entry(name):
                return resolve(entry.value)
            pending[:0] = base._bases()
        return None

    def _bases(self) -> list[Fields]:
        merge = next(
            (entry for entry in self.entries if entry.key.text == "<<" and not entry.key.style), None
        )
        if merge is None:
            return []
        value = resolve(merge.value)
        bases = map(resolve, value.items) if isinstance(value, Listing) else (value,)
        return [base for base in bases if isinstance(base, Fields)]


@dataclass(frozen=True, slots=True)
class Alias:
    """`*name`: the value of another place of the block."""

    name: str
    target: Resolved
    start: int
    end: int
    line: int
    column: int


Resolved: TypeAlias = Scalar | Listing | Fields
Node: TypeAlias = Scalar | Listing | Fields | Alias


def resolve(node: Node) -> Resolved:
    """Follow an alias to what it stands for."""
    return node.target if isinstance(node, Alias) else node


def leaves(node: Node | None) -> Iterator[Scalar | Alias]:
    """Every scalar and alias that is written in a tree, keys too, in the order of the text."""
    if isinstance(node, Scalar | Alias):
        yield node
    elif isinstance(node, Listing):
        for item in node.items:
            yield from leaves(item)
    elif isinstance(node, Fields):
        for entry in node.entries:
            yield entry.key
            yield from leaves(entry.value)
