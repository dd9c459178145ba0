"""The proof that an edit did what was asked and nothing else, made before a user's file is written.

The result is read again from its bytes. It must have the same fences and body, the same entries in the same
order, each entry that was not asked for with the same text and style, every comment, and the asked-for values.

Two independent readers are asked as well: python-frontmatter (YAML 1.1) and ruamel.yaml (YAML 1.2, which is what
Obsidian reads). They guess types, so they tell whether another program still sees the same other fields, and texts
where texts were written. They can crash on a user's YAML: what one of them cannot read before the edit just cannot be
proven by it; what it can no longer read after it is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeAlias

from vaultmem.editing.entries import TIME_FIELDS, Value
from vaultmem.errors import EditRefusedError
from vaultmem.notes.block import Block, BlockError, find_block, read_tree
from vaultmem.notes.field_rules import tag_field
from vaultmem.notes.metadata import Status
from vaultmem.notes.parse import parse_note
from vaultmem.notes.problems import obstacle
from vaultmem.notes.tags import normalise_tags
from vaultmem.notes.tree import Alias, Fields, Listing, Node, Scalar, leaves, resolve

Seen: TypeAlias = Mapping[str, Any]
"""What another reader makes of a block: its fields, with whatever types it guesses."""

_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\r\n]*", re.MULTILINE)


def prove_edit(before: bytes, after: bytes, asked: Mapping[str, Value], body: bytes | None = None) -> None:
    """Demand that `after` is `before` with these fields, and with this body where one is given.

    Raises EditRefusedError with the reason.
    """
    old, new = _block(before), _block(after)
    _demand(before[: old.start] == after[: new.start], "the opening fence would change")
    fences = before[old.end : old.body_start], after[new.end : new.body_start]
    if body and not fences[0].endswith(b"\n"):  # a file that ended with the fence now goes on
        fences = fences[0], fences[1].rstrip(b"\r\n")
    _demand(fences[0] == fences[1], "the closing fence would change")
    expected = before[old.body_start :] if body is None else body
    _demand(after[new.body_start :] == expected, "the body would change")
    was_text, now_text = before[old.start : old.end].decode(), after[new.start : new.end].decode()
    was, now = _fields(was_text), _fields(now_text)
    changed = set(asked) | ({tag_field(was)[0]} if "tags" in asked else set())
    _prove_others_kept(was, now, changed)
    _prove_comments_kept(was_text, was, now_text, now)
    prove_values(after, asked)
    _prove_by_other_readers(
        was_text, was, now_text, now, {k: v for k, v in asked.items() if _differs(was, now, k)}
    )


def prove_values(data: bytes, asked: Mapping[str, Value]) -> None:
    """Demand that a note reads back with these values. Raises EditRefusedError."""
    note, block = parse_note("note.md", data), _block(data)
    if problem := obstacle(note.problems):
        _demand(False, problem.detail)
    fields = _fields(data[block.start : block.end].decode())
    for key, value in asked.items():
        if key == "tags":
            _demand(note.tags == normalise_tags(value), f"the tags would read back as {', '.join(note.tags)}")
        elif key == "status" and isinstance(value, str):
            _demand(note.status is Status(value), "the status would read back differently")
        else:
            _demand(_plain(fields.find(key)) == _as_plain(value), f"`{key}` would read back differently")


def prove_new(text: str, asked: Mapping[str, Value]) -> None:
    """Demand that the other readers see these texts in a new block's text. Raises EditRefusedError."""
    for read in _OTHER_READERS:
        seen = read(text)
        if seen is not None:
            _demand_texts(seen, asked)


def _demand(fact: bool, reason: str) -> None:
    if not fact:
        raise EditRefusedError(
            f"this edit cannot be proven harmless: {reason}", advice="Edit the file by hand."
        )


def _block(data: bytes) -> Block:
    block = find_block(data)
    _demand(block is not None and block.is_closed, "the metadata block would not be found again")
    assert block is not None
    return block


def _fields(text: str) -> Fields:
    try:
        tree = read_tree(text)
    except BlockError as error:
        raise EditRefusedError(f"this edit cannot be proven harmless: {error.problem.detail}") from None
    if tree is None:
        return Fields((), False, 0, 0, 0, 0)
    _demand(isinstance(tree, Fields), "the block would not be read as fields")
    assert isinstance(tree, Fields)
    return tree


# --- nothing else changed


def _prove_others_kept(was: Fields, now: Fields, changed: set[str]) -> None:
    old, new = (
        {entry.key.text: _form(entry.key) + _form(entry.value) for entry in f.entries} for f in (was, now)
    )
    for key in old.keys() - changed:
        _demand(old[key] == new.get(key), f"`{key}` would change as well")
    _demand(new.keys() - old.keys() <= changed, "other fields would appear")
    _demand(
        [key for key in new if key in old] == [key for key in old if key in new],
        "fields would change their order",
    )
    meant = {alias.name: _form(alias.target) for alias in _aliases(was)}
    for alias in _aliases(now):
        reason = f"&{alias.name} is used in another place, which would change as well"
        _demand(meant.get(alias.name) == _form(alias.target), reason)


def _form(node: Node) -> tuple[Any, ...]:
    """Everything about a node but its place. Aliases are not expanded: that could take for ever."""
    if isinstance(node, Alias):
        return ("*", node.name)
    if isinstance(node, Scalar):
        return (node.text, node.style, node.anchor)
    if isinstance(node, Listing):
        return ("list", node.is_flow, node.anchor, *map(_form, node.items))
    entries = (_form(entry.key) + _form(entry.value) for entry in node.entries)
    return ("fields", node.is_flow, node.anchor, *entries)


def _aliases(fields: Fields) -> list[Alias]:
    return [leaf for leaf in leaves(fields) if isinstance(leaf, Alias)]


def _differs(was: Fields, now: Fields, key: str) -> bool:
    old, new = was.find(key), now.find(key)
    return old is None or new is None or _form(old) != _form(new)


def _prove_comments_kept(was_text: str, was: Fields, now_text: str, now: Fields) -> None:
    lost = Counter(_comments(was_text, was)) - Counter(_comments(now_text, now))
    _demand(not lost, f"the comment {next(iter(lost), '')!r} would be lost")


def _comments(text: str, fields: Fields) -> list[str]:
    """The comments: what begins with `#` outside the written values."""
    parts, place = [], 0
    for leaf in leaves(fields):
        parts += [text[place : leaf.start], re.sub(r"\S", "x", text[leaf.start : leaf.end])]
        place = leaf.end
    return [comment.strip() for comment in _COMMENT.findall("".join(parts) + text[place:])]


# --- the values


def _as_plain(value: Value) -> str | list[str]:
    return value if isinstance(value, str) else list(value)


def _plain(node: Node | None) -> str | list[str] | None:
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Listing):
        return [item.text for item in map(resolve, node.items) if isinstance(item, Scalar)]
    return None


# --- the other readers


def _prove_by_other_readers(
    was_text: str, was: Fields, now_text: str, now: Fields, changed: Mapping[str, Value]
) -> None:
    if _aliases(was) or _aliases(now):  # they expand them, which could take for ever
        return
    for read in _OTHER_READERS:
        old = read(was_text)
        if old is not None:
            _prove_same_seen(old, read(now_text), changed)


def _prove_same_seen(old: Seen, new: Seen | None, changed: Mapping[str, Value]) -> None:
    _demand(new is not None, "another YAML reader could no longer read it")
    assert new is not None
    names = {*changed, "tag"}
    others, kept = ({key: repr(value) for key, value in r.items() if key not in names} for r in (old, new))
    _demand(others == kept, "another YAML reader would see other fields change")
    _demand_texts(new, changed)


def _read_as_yaml_1_1(text: str) -> Seen | None:
    """Read a block's text with python-frontmatter; None when it cannot."""
    import frontmatter

    try:
        return dict(frontmatter.parse(f"---\n{text}\n---\n".replace("\r\n", "\n"))[0])
    except Exception:  # whatever a YAML constructor raises, from ValueError to RecursionError
        return None


def _read_as_yaml_1_2(text: str) -> Seen | None:
    """Read a block's text with ruamel.yaml; None when it cannot."""
    from ruamel.yaml import YAML

    try:
        return dict(YAML(typ="safe", pure=True).load(text.replace("\r\n", "\n")) or {})
    except Exception:  # as above
        return None


_OTHER_READERS = (_read_as_yaml_1_1, _read_as_yaml_1_2)


def _demand_texts(seen: Seen, asked: Mapping[str, Value]) -> None:
    for key, value in asked.items():
        if key == "tags":
            tags = seen.get("tags") or seen.get("tag") or []
            texts = [item for item in tags if isinstance(item, str)] if isinstance(tags, list) else []
            _demand(set(normalise_tags(texts)) <= set(value), "another YAML reader would see other tags")
        elif key not in TIME_FIELDS:
            _demand(seen.get(key) == _as_plain(value), f"another YAML reader would see another `{key}`")
