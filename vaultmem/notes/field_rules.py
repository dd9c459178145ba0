"""The rule by which each field of a metadata block is read, and what is wrong with what stands there.

Every value comes as the text that was written: `id: 0123` is the id `0123`, `status: Active` is active, `no` is a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from vaultmem.notes.block import second_block
from vaultmem.notes.metadata import Metadata, Status
from vaultmem.notes.problems import Code, Problem
from vaultmem.notes.tags import normalise_tag, split_tag_text
from vaultmem.notes.tree import Entry, Fields, Listing, Resolved, Scalar, resolve
from vaultmem.text.shown import JOINERS
from vaultmem.text.visible import is_anything_seen

ID_LIMIT_CHARS = 128

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*)")
_CODE_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
# A whole value in braces, a word of Obsidian's template plug-ins anywhere, or a Templater command.
_TEMPLATE = re.compile(
    r"\s*\{\{[^{}]*\}\}\s*\Z"
    r"|.*?\{\{\s*(?:title|date|time|yesterday|tomorrow|id|uuid|name)\b[^{}]*\}\}"
    r"|.*?<%[-_*+]?\s*tp\.",
    re.DOTALL,
)
_TAG_KEYS = frozenset({"tags", "tag"})


def read_metadata(tree: Fields, path: str, body: str, body_line: int) -> tuple[Metadata, tuple[Problem, ...]]:
    """What the fields say, and what is wrong with them."""
    problems: list[Problem] = []
    id_ = _read_id(tree, body, body_line, problems)
    # A note without an id is no memory: what a memory should have is not demanded of it.
    others: list[Problem] = []
    metadata = Metadata(
        id=id_,
        name=_read_name(tree, path, body, others),
        description=_shown_line(tree, "description"),
        status=_read_status(tree, others),
        tags=_read_tags(tree, others),
        created_at=_text(tree, "created_at"),
        updated_at=_text(tree, "updated_at"),
    )
    if not any(problem.code is Code.MISSING_ID for problem in problems):
        problems += others
    return metadata, (*problems, *_placeholders(tree))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _is_blank(value: Resolved | None) -> bool:
    return value is None or (isinstance(value, Scalar) and (value.is_null or not value.text.strip()))


def _text(tree: Fields, key: str) -> str | None:
    """The text of a scalar field; None when it is missing, null, blank or no scalar."""
    value = tree.find(key)
    return value.text.strip() if isinstance(value, Scalar) and not _is_blank(value) else None


def _shown_line(tree: Fields, key: str) -> str:
    """A text on one line; empty also where nothing of it can be seen."""
    line = _one_line(_text(tree, key) or "")
    return line if is_anything_seen(line) else ""


# --- the id


def _read_id(tree: Fields, body: str, body_line: int, problems: list[Problem]) -> str | None:
    value = tree.find("id")
    if value is None:
        problems.append(Problem(Code.MISSING_ID, second_block(body, body_line)))
        return None
    if _is_blank(value):
        problems.append(Problem(Code.MISSING_ID, "its `id:` is empty", value.line, value.column))
        return None
    id_ = value.text.strip() if isinstance(value, Scalar) else ""
    if fault := _id_fault(id_):
        problems.append(Problem(Code.INVALID_ID, fault, value.line, value.column))
        return None
    return id_


def _id_fault(id_: str) -> str:
    if not id_:
        return "it is a list or a mapping"
    if len(id_) > ID_LIMIT_CHARS:
        return f"it has {len(id_)} characters, and {ID_LIMIT_CHARS} are allowed"
    kinds = {unicodedata.category(character) for character in id_ if character not in JOINERS}
    if kinds & {"Cc", "Zl", "Zp"}:
        return "it holds a line break or another control character"
    if "Cf" in kinds:
        return "it holds a character that cannot be seen, such as a zero-width space or a change of direction"
    if not is_anything_seen(id_):
        return "it holds no character that can be seen"
    return ""


# --- the name


def _read_name(tree: Fields, path: str, body: str, problems: list[Problem]) -> str:
    if name := _shown_line(tree, "name"):
        return name
    heading = _first_heading(body)
    problems.append(Problem(Code.MISSING_NAME, "its first heading" if heading else "its file name"))
    return heading or _stem(path)


def stand_in_name(path: str, body: str) -> str:
    """The name of a note that says none: its first heading, else its file's."""
    return _first_heading(body) or _stem(path)


def _stem(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    return name[:-3] if name[-3:].lower() == ".md" else name


def _first_heading(body: str) -> str:
    """The text of the first `#` heading outside code fences, or ""."""
    fence = ""
    for line in body.split("\n"):
        if opened := _CODE_FENCE.match(line):
            mark = opened.group(1)
            fence = mark if not fence else "" if mark.startswith(fence) else fence
        elif not fence and (title := _heading_text(line)):
            return title
    return ""


def _heading_text(line: str) -> str:
    """The text of a line that is a heading, without the `#` marks that may end it."""
    heading = _HEADING.match(line)
    title = heading[1].strip() if heading else ""
    text = title.rstrip("#")
    return _one_line(title if text and not text[-1].isspace() else text)


# --- the status


def _read_status(tree: Fields, problems: list[Problem]) -> Status:
    value = tree.find("status")
    if value is None or _is_blank(value):
        problems.append(Problem(Code.MISSING_STATUS))
        return Status.ACTIVE
    word = _one_line(value.text) if isinstance(value, Scalar) else "a list or a mapping"
    if isinstance(value, Scalar) and word.casefold() in (Status.ACTIVE, Status.DEPRECATED):
        return Status(word.casefold())
    problems.append(Problem(Code.INVALID_STATUS, word, value.line, value.column))
    return Status.INVALID


# --- the tags


def tag_field(tree: Fields) -> tuple[str, Resolved | None]:
    """The key under which a note keeps its tags and their value: `tags`, else a `tag` with one."""
    tags, tag = tree.find("tags"), tree.find("tag")
    return ("tag", tag) if _is_blank(tags) and not _is_blank(tag) else ("tags", tags)


def _read_tags(tree: Fields, problems: list[Problem]) -> tuple[str, ...]:
    key, value = tag_field(tree)
    tags = []
    for text, item in _tag_items(value):
        if tag := normalise_tag(text or ""):
            tags.append(tag)
        elif text is None or text.strip():
            detail = "it is a list or a mapping" if text is None else _one_line(text)
            problems.append(Problem(Code.TAG_INVALID, detail, item.line, item.column))
    other = tree.entry("tag") if key == "tags" else None
    if other is not None and not _is_blank(resolve(other.value)):
        detail = "`tag:` is not read where there is `tags:`"
        problems.append(Problem(Code.TAG_INVALID, detail, other.key.line, other.key.column))
    for each in (entry.key for entry in tree.entries if entry.key.text not in _TAG_KEYS):
        if each.text.casefold() in _TAG_KEYS:
            detail = f"`{each.text}:` is not read; write it as `tags:`"
            problems.append(Problem(Code.TAG_INVALID, detail, each.line, each.column))
    return tuple(dict.fromkeys(tags))


def _tag_items(value: Resolved | None) -> Iterator[tuple[str | None, Resolved]]:
    """The text of each written tag, None for one that is no text, with the node that holds it."""
    if isinstance(value, Listing):
        for item in map(resolve, value.items):
            if not _is_blank(item):
                yield item.text if isinstance(item, Scalar) else None, item
    elif isinstance(value, Scalar) and not value.is_null:
        for text in split_tag_text(value.text):
            yield text, value
    elif isinstance(value, Fields):
        yield None, value


# --- placeholders


def _placeholders(tree: Fields) -> Iterator[Problem]:
    """Fields that still hold a template's placeholder, such as `{{title}}` or `<% tp.date.now() %>`."""
    for entry in tree.entries:
        found = next((text for text in _texts(entry) if _TEMPLATE.match(text.text)), None)
        if found is not None:
            detail = f"{entry.key.text}: {_one_line(found.text)}"
            yield Problem(Code.TEMPLATE_PLACEHOLDER, detail, found.line, found.column)


def _texts(entry: Entry) -> Iterator[Scalar]:
    value = resolve(entry.value)
    for item in value.items if isinstance(value, Listing) else (value,):
        if isinstance(item, Scalar):
            yield item
