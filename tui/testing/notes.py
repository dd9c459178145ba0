"""Notes for tests: the bytes of one, the refusal of an edit, and the moment it is in all of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from vaultmem.errors import EditRefusedError

NOW = datetime(2026, 5, 20, 10, 30, 0, tzinfo=UTC)


def note_file(
    name: str,
    *,
    id: str | None = None,
    description: str = "",
    tags: Sequence[str] = (),
    status: str = "active",
    day: str = "2026-05-14",
    body: str = "",
) -> bytes:
    """The bytes of a note as a person would write it; an empty field is left out."""
    lines = ["---"]
    lines += [f"id: {id}"] if id else []
    lines += [f"name: {_quoted(name)}"]
    lines += [f"description: {_quoted(description)}"] if description else []
    lines += ["tags:", *(f"  - {tag}" for tag in tags)] if tags else []
    lines += [
        f"status: {status}",
        f"created_at: {day}T10:30:00.000Z",
        f"updated_at: {day}T10:30:00.000Z",
        "---",
    ]
    return "\n".join([*lines, "", body or f"# {name}", ""]).encode()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def refused(path: str) -> EditRefusedError:
    """What an edit that cannot be proven raises."""
    return EditRefusedError(
        f"{path} cannot be edited: bad_yaml, line 3", advice="Mend the note in an editor first."
    )
