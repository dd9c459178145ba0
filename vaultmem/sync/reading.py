"""Reading the notes that differ, and what not to believe yet. Shared by sync and by those who only look."""

from __future__ import annotations

from dataclasses import replace

from vaultmem.errors import NoteNotFoundError
from vaultmem.files.snapshot import FileStat
from vaultmem.files.vault import Vault
from vaultmem.sync.plan import NO_FILE, Plan, Reading, as_unknown, is_half_written

SETTLE_NS = 1_500_000_000
"""A good note that stops being one is given this long, in case somebody is in the middle of saving it."""


def read_note(vault: Vault, path: str, seen: FileStat | None = None) -> Reading | None:
    """The note at `path` with its stat values (`seen` by the scan where it cannot be opened).

    None when it vanished meanwhile: the next scan tells.
    """
    try:
        note, stat = vault.read_note(path)
    except NoteNotFoundError:
        return None
    return Reading(note, stat or seen or NO_FILE)


def hold_back_half_written(
    plan: Plan, now_ns: int, settle_ns: int = SETTLE_NS
) -> tuple[Plan, tuple[str, ...]]:
    """The plan with notes that somebody may be in the middle of saving taken for unknown; and their paths."""
    held = [change for change in plan.updated if is_half_written(change, now_ns, settle_ns)]
    if not held:
        return plan, ()
    updated = tuple(change for change in plan.updated if change not in held)
    unknown = plan.unknown + tuple(as_unknown(change) for change in held)
    return replace(plan, updated=updated, unknown=unknown), tuple(c.reading.note.path for c in held)
