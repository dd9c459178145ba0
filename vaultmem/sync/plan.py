"""What differs between the files and the catalog. Pure: deciding is here, doing is in sync.

Two steps, since most files need only a look at their stat values:
`find_differences` between a snapshot and what is on record, read the notes they name, then `plan_steps`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from vaultmem.files.snapshot import NO_FILE, Snapshot
from vaultmem.files.vault import Reading
from vaultmem.notes.parse import unknown_note
from vaultmem.notes.problems import Code
from vaultmem.stores.catalog_rows import Known

SETTLE_NS = 1_500_000_000
"""A good note that stops being one is given this long, in case somebody is in the middle of saving it."""


@dataclass(frozen=True, slots=True)
class Differences:
    """What a snapshot shows without opening a file."""

    to_read: tuple[str, ...]
    """Paths that are new or whose stat values differ, or that a store still lacks."""
    gone: tuple[Known, ...]
    """On record, and surely no longer there."""
    unknown: Mapping[str, str]
    """Paths that cannot be looked at, with the reason: notes on record, and what nothing is on record of yet."""
    unchanged: int


@dataclass(frozen=True, slots=True)
class Step:
    """What to do about one note that differs from the catalog; `known` is None when it is new."""

    known: Known | None
    reading: Reading


@dataclass(frozen=True, slots=True)
class Plan:
    """The difference between the files and the catalog. Every path is in at most one part."""

    added: tuple[Step, ...] = ()
    updated: tuple[Step, ...] = ()
    moved: tuple[Step, ...] = ()
    """The same note at another path; its text may have changed too."""
    touched: tuple[Step, ...] = ()
    """Other stat values, same bytes."""
    unknown: tuple[Step, ...] = ()
    """Cannot be read at the moment: last good rows stay."""
    deleted: tuple[Known, ...] = ()
    unchanged: int = 0

    @property
    def is_empty(self) -> bool:
        """There is nothing to do."""
        return not (self.added or self.updated or self.moved or self.touched or self.unknown or self.deleted)

    @property
    def written(self) -> tuple[Step, ...]:
        """Every step that brings text that the stores do not have."""
        return self.added + self.updated + self.moved


def find_differences(snapshot: Snapshot, known: Mapping[str, Known], *, full: bool = False) -> Differences:
    """What has to be read, what is gone, what cannot be known. `full` distrusts stat values and reads every file."""
    stubs = set(snapshot.placeholders) - snapshot.files.keys()
    to_read, gone, unknown, unchanged = list[str](), list[Known](), dict[str, str](), 0
    for path, stat in snapshot.files.items():
        on_record = known.get(path)
        if full or on_record is None or on_record.stat != stat or not on_record.is_settled:
            to_read.append(path)
        else:
            unchanged += 1
    for path, on_record in known.items():
        if path in snapshot.files or path in stubs:
            continue
        reason = _reason_unknown(path, snapshot.unknown)
        if reason is None:
            gone.append(on_record)
        elif on_record.is_readable:
            unknown[path] = reason
        else:
            unchanged += 1
    unknown |= _never_seen(snapshot.unknown, known)
    fresh_stubs = [path for path in stubs if path not in known or known[path].stat != NO_FILE]
    unchanged += len(stubs) - len(fresh_stubs)
    return Differences((*to_read, *sorted(fresh_stubs)), tuple(gone), unknown, unchanged)


def _reason_unknown(path: str, unknown: Mapping[str, str]) -> str | None:
    """Why `path` or a folder above it cannot be looked at."""
    if not unknown:
        return None
    while True:
        if path in unknown:
            return unknown[path]
        if not path:
            return None
        path = path.rpartition("/")[0]


def _never_seen(unknown: Mapping[str, str], known: Mapping[str, Known]) -> dict[str, str]:
    """Files and folders that could never be looked at: they are put on record, so that somebody hears of them."""
    return {
        path: reason
        for path, reason in unknown.items()
        if path and path not in known and not any(other.startswith(f"{path}/") for other in known)
    }


def plan_steps(differences: Differences, readings: Sequence[Reading], known: Mapping[str, Known]) -> Plan:
    """What to do about the differences, once the files they name were read.

    A path that vanished and one that appeared are one move when the notes have the same id, or failing that the
    same bytes. Ids are compared over the whole set, so the order of events does not matter.
    """
    appeared = [r for r in readings if r.note.path not in known and r.note.is_readable]
    origin = _match_moves(appeared, differences.gone)
    moved_keys = {on_record.note_key for on_record in origin.values()}
    added, updated, moved = list[Step](), list[Step](), list[Step]()
    touched, unknown = list[Step](), list[Step]()
    for reading in readings:
        on_record = known.get(reading.note.path)
        step = Step(on_record, reading)
        if not reading.note.is_readable:
            if on_record is None or on_record.is_readable or on_record.stat != reading.stat:
                unknown.append(step)
        elif on_record is None:
            source = origin.get(reading.note.path)
            (moved if source else added).append(Step(source, reading))
        elif reading.note.digest != on_record.digest or not on_record.is_settled:
            updated.append(step)
        elif reading.stat != on_record.stat:
            touched.append(step)
    for path, reason in differences.unknown.items():
        on_record = known.get(path)
        note = unknown_note(path, Code.UNREADABLE, reason)
        unknown.append(Step(on_record, Reading(note, on_record.stat if on_record else NO_FILE)))
    parts = added + updated + moved + touched + unknown
    return Plan(
        added=tuple(added),
        updated=tuple(updated),
        moved=tuple(moved),
        touched=tuple(touched),
        unknown=tuple(unknown),
        deleted=tuple(k for k in differences.gone if k.note_key not in moved_keys),
        unchanged=differences.unchanged + len(readings) + len(differences.unknown) - len(parts),
    )


def _match_moves(appeared: Sequence[Reading], gone: Sequence[Known]) -> dict[str, Known]:
    """New path to the vanished note that it is, each used once."""
    origin: dict[str, Known] = {}
    used: set[int] = set()

    def match(readings: Sequence[Reading], candidates: Mapping[str, list[Known]], attribute: str) -> None:
        for reading in readings:
            key = getattr(reading.note, attribute)
            for on_record in candidates.get(key, ()) if key and reading.note.path not in origin else ():
                if on_record.note_key not in used:
                    origin[reading.note.path] = on_record
                    used.add(on_record.note_key)
                    break

    by_both, by_id, by_digest = (defaultdict[str, list[Known]](list) for _ in range(3))
    for on_record in sorted(gone, key=lambda k: k.path):
        by_digest[on_record.digest].append(on_record)
        if on_record.id:
            by_id[on_record.id].append(on_record)
            by_both[on_record.digest].append(on_record)
    ordered = sorted(appeared, key=lambda r: r.note.path)
    match([r for r in ordered if r.note.id], by_both, "digest")
    match(ordered, by_id, "id")
    match([r for r in ordered if not r.note.id], by_digest, "digest")
    return origin


def is_half_written(step: Step, now_ns: int, settle_ns: int) -> bool:
    """A note that was good and stopped being one just now: somebody may be in the middle of saving it."""
    known, reading = step.known, step.reading
    if known is None or known.id is None:
        return False
    is_worse = reading.note.id is None
    return is_worse and 0 <= now_ns - reading.stat.mtime_ns < settle_ns


def as_unknown(step: Step) -> Step:
    """The same step as one whose text cannot be trusted yet."""
    note = step.reading.note
    code = note.problems[0].code if note.problems else Code.UNREADABLE
    held = unknown_note(note.path, code, "changed a moment ago; looked at again shortly")
    return Step(step.known, Reading(held, step.reading.stat))


def hold_back_half_written(
    plan: Plan, now_ns: int, settle_ns: int = SETTLE_NS
) -> tuple[Plan, tuple[str, ...]]:
    """The plan with notes that somebody may be in the middle of saving taken for unknown; and their paths."""
    held = [step for step in plan.updated if is_half_written(step, now_ns, settle_ns)]
    if not held:
        return plan, ()
    updated = tuple(step for step in plan.updated if step not in held)
    unknown = plan.unknown + tuple(as_unknown(step) for step in held)
    return replace(plan, updated=updated, unknown=unknown), tuple(step.reading.note.path for step in held)
