"""Edits to a JSON text that leave every other byte as it is: members of an object, items of a list. Pure.

The place of every value is found by reading the text; what is put in is written in the text's own indentation.
The result is proven by the caller: parsed, it must equal the edit made on the parsed value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Path = Sequence[str | int]

_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,\]}]+')


@dataclass(slots=True)
class Span:
    """Where a value lies in the text. An object's or list's items carry their own spans."""

    start: int
    end: int = 0
    kind: str = "scalar"
    members: list[tuple[str | int, int, Span]] = field(default_factory=list)
    """Key, where the member begins (at its key, or at the value in a list), the value's span."""

    def at(self, path: Path) -> Span | None:
        """The span of what `path` leads to, or None."""
        if not path:
            return self
        for key, _, value in self.members:
            if key == path[0]:
                return value.at(path[1:])
        return None


def scan(text: str) -> Span:
    """The spans of a JSON text. Raises ValueError when it is not JSON."""
    json.loads(text)
    return _value(text, _skip(text, 1 if text.startswith("\ufeff") else 0))


def _value(text: str, at: int) -> Span:
    if text[at] not in "{[":
        scalar = _SCALAR.match(text, at)
        assert scalar is not None  # json.loads has read it
        return Span(at, scalar.end())
    is_object = text[at] == "{"
    span = Span(at, kind="object" if is_object else "list")
    at = _skip(text, at + 1)
    while text[at] not in "}]":
        begins, key = at, len(span.members)
        label: str | int = key
        if is_object:
            name = _SCALAR.match(text, at)
            assert name is not None
            label = json.loads(name.group())
            at = _skip(text, _skip(text, name.end()) + 1)
        value = _value(text, at)
        span.members.append((label, begins, value))
        at = _skip(text, value.end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    span.end = at + 1
    return span


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    assert space is not None
    return space.end()


def added(text: str, path: Path, key: str | None, value: Any) -> str:
    """The text with a member (`key`) or an item (`key` None) added at the end of what `path` leads to.

    Objects that are missing on the way are made. Raises KeyError when something else is in the way.
    """
    span = scan(text)
    for depth in range(len(path)):
        if span.at(path[: depth + 1]) is None:
            missing: Any = value if key is None else {key: value}
            if key is None:
                missing = [value]
            for name in reversed(path[depth + 1 :]):
                missing = {name: missing}
            return added(text, path[:depth], str(path[depth]), missing)
    holder = span.at(path)
    if holder is None or holder.kind != ("list" if key is None else "object"):
        raise KeyError("/".join(map(str, path)))
    return _insert(text, holder, key, value)


def _insert(text: str, holder: Span, key: str | None, value: Any) -> str:
    unit, newline = indentation(text), "\r\n" if "\r\n" in text else "\n"
    outer = _indent_of_line(text, holder.start)
    inline = bool(holder.members) and "\n" not in text[holder.start : holder.members[0][1]]
    depth = _indent_of_line(text, holder.members[-1][1]) if holder.members and not inline else outer + unit
    shown = json.dumps(value, ensure_ascii=False, indent=None if inline else unit)
    shown = shown.replace("\n", newline + depth)
    entry = shown if key is None else f"{json.dumps(key, ensure_ascii=False)}: {shown}"
    if inline:
        return f"{text[: holder.members[-1][2].end]}, {entry}{text[holder.members[-1][2].end :]}"
    if holder.members:
        end = holder.members[-1][2].end
        return f"{text[:end]},{newline}{depth}{entry}{text[end:]}"
    return f"{text[: holder.start + 1]}{newline}{depth}{entry}{newline}{outer}{text[holder.end - 1 :]}"


def removed(text: str, path: Path) -> str:
    """The text without the member or item that `path` leads to. Raises KeyError when there is none."""
    holder = scan(text).at(path[:-1])
    index = (
        next((i for i, member in enumerate(holder.members) if member[0] == path[-1]), None)
        if holder
        else None
    )
    if holder is None or index is None:
        raise KeyError("/".join(map(str, path)))
    members = holder.members
    if len(members) == 1:
        return text[: holder.start + 1] + text[holder.end - 1 :]
    if index == 0:
        return text[: members[0][1]] + text[members[1][1] :]
    return text[: members[index - 1][2].end] + text[members[index][2].end :]


def indentation(text: str) -> str:
    """One step of the text's own indentation; two blanks when it has none."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found.group(1) if found else "  "


def _indent_of_line(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    lead = re.match(r"[ \t]*", text[start:at])
    return lead.group() if lead else ""
