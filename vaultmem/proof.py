"""The proof that an edit did what was asked and nothing else, made before a user's file is written.

The result is read again from its bytes. It must have the same fences and body, the same entries in the same order,
every entry that was not asked for with the same text and style, every comment, and the asked-for values.

python-frontmatter is asked as a second, independent reader: where it read the note before and agrees with us about
it, it must also see the other fields and the body unchanged, and new texts as texts. It guesses types, accepts
blocks that Obsidian does not, and can crash on a user's YAML, so a note that it cannot read is not a failed proof:
it just cannot be proven by it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping as Fields
from collections.abc import Sequence
from typing import Any

from vaultmem.entries import aliases, leaves
from vaultmem.errors import EditRefusedError
from vaultmem.metadata import Alias, Block, BlockError, Listing, Mapping, Node, Scalar, find_block, read_tree
from vaultmem.notes import Status, normalise_tags, parse_note, tag_node

Value = str | Sequence[str]

_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\r\n]*", re.MULTILINE)


def prove_edit(before: bytes, after: bytes, fields: Fields[str, Value], body: bytes | None = None) -> None:
    """Demand that `after` is `before` with these fields, and this body where one is given.

    Raises EditRefusedError with the reason.
    """
    old, new = _closed_block(before), _closed_block(after)
    _demand(before[: old.start] == after[: new.start], "the opening fence would change")
    _demand(
        before[old.end : old.body_start] == after[new.end : new.body_start], "the closing fence would change"
    )
    expected_body = before[old.body_start :] if body is None else body
    _demand(after[new.body_start :] == expected_body, "the body would change")
    was, now = _tree(before, old), _tree(after, new)
    _demand_others_unchanged(was, now, set(fields))
    _demand_comments_kept(before[old.start : old.end].decode(), was, after[new.start : new.end].decode(), now)
    prove_fields(after, fields)
    _second_opinion(before, after, fields, was, is_body_kept=body is None)


def prove_fields(data: bytes, fields: Fields[str, Value]) -> None:
    """Demand that a note reads back with these values. Raises EditRefusedError."""
    note = parse_note("note.md", data)
    tree = _tree(data, _closed_block(data))
    for key, value in fields.items():
        if key == "tags":
            _demand(note.tags == normalise_tags(value), f"the tags would read back as {list(note.tags)}")
        elif key == "status":
            _demand(note.status is Status(str(value)), "the status would read back differently")
        else:
            _demand(_plain(tree.find(key)) == _wanted(value), f"`{key}` would read back differently")


def second_reading(data: bytes) -> tuple[dict[str, Any], str] | None:
    """Read a note with python-frontmatter: its fields with guessed types, its body stripped; None when it cannot."""
    import frontmatter

    try:
        fields, body = frontmatter.parse(data.decode("utf-8-sig").replace("\r\n", "\n"))
    except Exception:  # whatever a YAML constructor raises, from ValueError to RecursionError
        return None
    return fields, body


def _wanted(value: Value) -> str | list[str]:
    return value if isinstance(value, str) else list(value)


def _plain(node: Node | None) -> str | list[str] | None:
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Listing):
        return [item.text for item in node.items if isinstance(item, Scalar)]
    return None


def _demand(fact: bool, reason: str) -> None:
    if not fact:
        advice = "edit the file by hand"
        raise EditRefusedError(f"this edit cannot be proven harmless: {reason}", advice=advice)


def _closed_block(data: bytes) -> Block:
    block = find_block(data)
    if block is None or not block.is_closed:
        raise EditRefusedError(
            "this edit cannot be proven harmless: the metadata block would not be found again"
        )
    return block


def _tree(data: bytes, block: Block) -> Mapping:
    try:
        tree = read_tree(data[block.start : block.end].decode())
    except BlockError as error:
        raise EditRefusedError(f"this edit cannot be proven harmless: {error.problem.detail}") from None
    if tree is None:
        return Mapping((), False, 0, 0, 0, 0)
    if not isinstance(tree, Mapping):
        raise EditRefusedError("this edit cannot be proven harmless: the block would not be read as fields")
    return tree


def _demand_others_unchanged(was: Mapping, now: Mapping, changed: set[str]) -> None:
    if "tags" in changed:
        changed = changed | {tag_node(was)[0]}
    others = [(e.key.text, e.key.style, _form(e.value)) for e in was.entries if e.key.text not in changed]
    kept = [(e.key.text, e.key.style, _form(e.value)) for e in now.entries if e.key.text not in changed]
    for left, right in zip(others, kept, strict=False):
        _demand(left == right, f"`{left[0]}` would change as well")
    _demand(len(others) == len(kept), "fields would appear or disappear")
    order = [e.key.text for e in was.entries]
    names = set(order)
    _demand(
        [e.key.text for e in now.entries if e.key.text in names] == order,
        "the order of the fields would change",
    )
    extra = {e.key.text for e in now.entries} - names
    _demand(extra <= changed, "fields would appear")
    _demand_aliases_mean_the_same(was, now)


def _form(node: Node) -> Any:
    """Return a value that tells everything about a node but its place. Aliases stay unexpanded."""
    if isinstance(node, Alias):
        return ("*", node.name)
    if isinstance(node, Scalar):
        return (node.text, node.style, node.anchor)
    if isinstance(node, Listing):
        return ("[]" if node.is_flow else "-", node.anchor, tuple(map(_form, node.items)))
    entries = tuple((entry.key.text, _form(entry.value)) for entry in node.entries)
    return ("{}" if node.is_flow else ":", node.anchor, entries)


def _demand_aliases_mean_the_same(was: Mapping, now: Mapping) -> None:
    meant = {alias.name: _form(alias.target) for alias in aliases(was)}
    for alias in aliases(now):
        reason = f"&{alias.name} is used in another place, which would change as well"
        _demand(meant.get(alias.name) == _form(alias.target), reason)


def _demand_comments_kept(old_text: str, was: Mapping, new_text: str, now: Mapping) -> None:
    lost = Counter(_comments(old_text, was)) - Counter(_comments(new_text, now))
    _demand(not lost, f"the comment {next(iter(lost), '')!r} would be lost")


def _comments(text: str, tree: Mapping) -> list[str]:
    """Find the comments: what begins with `#` in the gaps between the written values."""
    blanked, place = [], 0
    for leaf in leaves(tree):
        blanked.append(text[place : leaf.start])
        blanked.append("x" * (leaf.end - leaf.start - 1) + text[leaf.end - 1 : leaf.end].replace("#", "x"))
        place = leaf.end
    return [match.strip() for match in _COMMENT.findall("".join(blanked) + text[place:])]


def _second_opinion(
    before: bytes, after: bytes, fields: Fields[str, Value], was: Mapping, *, is_body_kept: bool
) -> None:
    if any(aliases(was)):  # comparing what they expand to can take for ever
        return
    old = second_reading(before)
    block = _closed_block(before)
    if old is None or old[1] != before[block.body_start :].decode().replace("\r\n", "\n").strip():
        return
    new = second_reading(after)
    if new is None:
        raise EditRefusedError(
            "this edit cannot be proven harmless: another YAML reader could not read the result"
        )
    changed = set(fields) | {"tag"}
    others, kept = ({k: repr(v) for k, v in reading[0].items() if k not in changed} for reading in (old, new))
    _demand(others == kept, "another YAML reader would see other fields change")
    _demand(not is_body_kept or old[1] == new[1], "another reader would see the body change")
    demand_texts(new[0], fields)


def demand_texts(reading: Fields[str, Any], fields: Fields[str, Value]) -> None:
    """Demand that a second reader sees the asked-for texts. Times are left out: it makes dates of them."""
    for key, value in fields.items():
        if key == "tags":
            items = reading.get("tags", reading.get("tag"))
            texts = [item for item in items if isinstance(item, str)] if isinstance(items, list) else None
            if texts is not None:
                _demand(
                    set(normalise_tags(texts)) <= set(normalise_tags(value)),
                    "another YAML reader would see other tags",
                )
        elif key not in ("created_at", "updated_at"):
            _demand(reading.get(key) == _wanted(value), f"another YAML reader would see another `{key}`")
