"""What an edit of a note means, as bytes before and after. Nothing is written here; the engine does that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from vaultmem.editing import edits
from vaultmem.editing.entries import Value
from vaultmem.errors import UsageError
from vaultmem.notes.metadata import Status
from vaultmem.notes.names import NAME_LIMIT_CHARS
from vaultmem.notes.parse import Note, parse_note
from vaultmem.notes.problems import Code
from vaultmem.notes.prose import first_sentence
from vaultmem.notes.tags import TAG_FORM, normalise_tag, normalise_tags
from vaultmem.text.moments import utc_text
from vaultmem.text.shown import shortened
from vaultmem.text.visible import is_anything_seen
from vaultmem.views import Edited

Change: TypeAlias = Callable[[Note, bytes], bytes]
"""Makes the bytes of a note after from it and its bytes before; the same bytes when there is nothing to change."""


def edited(path: str, before: bytes, change: Change) -> Edited:
    """What `change` makes of the note.

    Raises:
        EditRefusedError: the note may not be edited, or the result cannot be proven to change only what was asked for.
    """
    note = parse_note(path, before)
    edits.demand_editable(note, path)
    after = change(note, before)
    result = parse_note(path, after)
    return Edited(
        path=path,
        id=result.id,
        tags=result.tags,
        status=result.status,
        changed=after != before,
        diff=edits.diff(before, after, path) if after != before else "",
        before=before,
        after=after,
    )


def tags_change(add: Iterable[str], remove: Iterable[str], replacement: Iterable[str] | None) -> Change:
    """Add and remove tags, or set them all; a kept tag keeps its own spelling.

    Raises:
        UsageError: a word is no tag once it is normalised.
    """
    added, removed = _valid_tags(add), set(_valid_tags(remove))
    wanted_all = None if replacement is None else _valid_tags(replacement)

    def change(note: Note, before: bytes) -> bytes:
        base = note.tags if wanted_all is None else wanted_all
        wanted = tuple(tag for tag in dict.fromkeys((*base, *added)) if tag not in removed)
        return before if wanted == note.tags else edits.set_tags(before, wanted)

    return change


def renamed_tags(tags: Sequence[str], old: str, new: str) -> tuple[str, ...]:
    """The tags with `old` and its children (`old/…`) under the name `new`, each once."""
    prefix = f"{old}/"
    renamed = (
        new if tag == old else new + tag[len(old) :] if tag.startswith(prefix) else tag for tag in tags
    )
    return tuple(dict.fromkeys(renamed))


def _valid_tags(tags: Iterable[str]) -> tuple[str, ...]:
    words = tuple(tags)
    for word in words:
        if not normalise_tag(word):
            raise UsageError(f"{word!r} is no tag", advice=TAG_FORM)
    return normalise_tags(words)


def status_change(status: Status) -> Change:
    """Set the status; a note that has it already stays as it is."""

    def change(note: Note, before: bytes) -> bytes:
        is_written = not any(p.code in (Code.MISSING_STATUS, Code.INVALID_STATUS) for p in note.problems)
        return before if note.status is status and is_written else edits.set_status(before, status)

    return change


def description_change(text: str) -> Change:
    """Set the description."""
    line = " ".join(text.split())
    if not is_anything_seen(line):
        raise UsageError("the description is empty", advice="Say in one sentence what the memory is about.")

    def change(note: Note, before: bytes) -> bytes:
        return before if note.description == line else edits.set_fields(before, {"description": line})

    return change


def update_change(fields: Mapping[str, Value], body: str | None, now: datetime) -> Change:
    """Set the given fields, and the body when there is one; `updated_at` becomes `now` when anything differs.

    The change raises UsageError for a body in which there is nothing to see: it would erase the one that is there.
    """

    def change(note: Note, before: bytes) -> bytes:
        own = None if body is None else _own_text(body, note.id)
        after = edits.set_fields(before, fields, own)
        if after == before:
            return before
        return edits.set_fields(before, {**fields, "updated_at": utc_text(now)}, own)

    return change


def _own_text(body: str, own_id: str | None) -> str:
    text = body if own_id is None else edits.without_own_block(body, own_id)
    if not is_anything_seen(text):
        only = " but for the note's own metadata block" if is_anything_seen(body) else ""
        raise UsageError(
            f"the body is empty{only}",
            advice="Give its text; a change without a body keeps the one that is there.",
        )
    return text


def checked_fields(name: str | None, description: str | None, tags: Iterable[str] | None) -> dict[str, Value]:
    """The fields that were given, ready to be written.

    Raises:
        UsageError: one of them is empty, the name is too long, or a tag is none.
    """
    fields: dict[str, Value] = {}
    for key, value in (("name", name), ("description", description)):
        if value is not None:
            line = " ".join(value.split())
            if not is_anything_seen(line):
                raise UsageError(f"the {key} is empty", advice=f"Give a {key} of at least one word.")
            if key == "name" and len(line) > NAME_LIMIT_CHARS:
                raise UsageError(
                    f"the name has {len(line):,} characters, more than {NAME_LIMIT_CHARS}",
                    advice="Give a short one; the description and the body say the rest.",
                )
            fields[key] = line
    if tags is not None:
        fields["tags"] = _valid_tags(tags)
        if not fields["tags"]:
            raise UsageError(
                "no tag was given", advice="A memory needs at least one tag, such as project/NAME."
            )
    return fields


def new_memory(
    fields: Mapping[str, Value],
    body: str | None,
    fresh_id: Callable[[str], str],
    now: datetime,
) -> tuple[dict[str, Value], str]:
    """Every entry of a new memory in order, and its body; `fresh_id` makes an id from its name.

    Raises:
        UsageError: a field that a new memory needs is missing.
    """
    missing = [key for key in ("name", "description", "tags") if key not in fields]
    missing += [] if body is not None and is_anything_seen(body) else ["body"]
    if missing:
        raise UsageError(
            f"a new memory needs {', '.join(missing)}",
            advice="Give a name, a description, at least one tag and a body; to change one, give its id.",
        )
    assert body is not None
    moment = utc_text(now)
    whole: dict[str, Value] = {"id": fresh_id(str(fields["name"])), **fields}
    whole |= {"status": Status.ACTIVE.value, "created_at": moment, "updated_at": moment}
    return whole, body if body.endswith("\n") else f"{body}\n"


def suggested_description(note: Note, width: int) -> str:
    """The first sentence of the body, cut to `width` characters and never in a letter; empty when there is none."""
    return shortened(first_sentence(note.body), width)
