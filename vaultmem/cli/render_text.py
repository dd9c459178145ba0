"""Values → JSON documents and lines of text. Decides nothing; every text from a note is made harmless first."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from vaultmem.recall.hints import hint_line
from vaultmem.text.moments import utc_text
from vaultmem.text.shown import harmless, harmless_id

if TYPE_CHECKING:
    from vaultmem.events import SyncReport
    from vaultmem.notes.diagnostics import Diagnostic
    from vaultmem.recall.answer import Candidate, Recall
    from vaultmem.recall.scoring import Signals
    from vaultmem.views import (
        Check,
        DoctorReport,
        Edited,
        EngineStatus,
        NoteCopy,
        NoteView,
        OpenedMemory,
        Saved,
        SearchMatch,
    )

Json = Any


def dumps(document: Json) -> str:
    """One JSON document, indented, letters of any script as they are."""
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)


def moment(value: datetime | None) -> str | None:
    """UTC, ISO 8601, milliseconds, `Z`; None stays None."""
    return None if value is None else utc_text(value)


def written_moment(text: str | None) -> str | None:
    """A time as a person wrote it, in the same form where it can be read, else as written. No zone means UTC."""
    if text is None:
        return None
    try:
        value = datetime.fromisoformat(text.strip())
    except ValueError:
        try:
            value = datetime.combine(date.fromisoformat(text.strip()), datetime.min.time())
        except ValueError:
            return text
    try:
        return moment(value if value.tzinfo else value.replace(tzinfo=UTC))
    except (OverflowError, ValueError):
        return text


# --- JSON


def sync_json(report: SyncReport) -> Json:
    """The document of `sync --json`."""
    seconds = report.seconds
    return {
        "scanned": report.scanned,
        "unchanged": report.unchanged,
        "added": report.added,
        "updated": report.updated,
        "moved": report.moved,
        "deleted": report.deleted,
        "unreadable": report.unreadable,
        "admitted": report.admitted,
        "chunks_embedded": report.chunks_embedded,
        "chunks_reused": report.chunks_reused,
        "embeddings_pending": report.embeddings_pending,
        "seconds": {
            name: round(getattr(seconds, name), 4) for name in ("scan", "plan", "lexical", "dense", "total")
        },
    }


def status_json(status: EngineStatus) -> Json:
    """The document of `status --json`."""
    dense = status.dense
    return {
        "root": status.root,
        "state_dir": status.state_dir,
        "state": status.state,
        "message": status.message,
        "notes": status.notes,
        "admitted": status.admitted,
        "deprecated": status.deprecated,
        "conflicts": status.conflicts,
        "diagnostics": dict(status.diagnostics),
        "lexical": {"documents": status.lexical.documents, "bytes": status.lexical.bytes},
        "dense": {
            "engine": dense.engine,
            "model": dense.model,
            "chunks": dense.chunks,
            "pending": dense.pending,
            "bytes": dense.bytes,
            "note": dense.note,
        },
        "writer": {"pid": status.writer.pid, "alive": status.writer.alive},
        "last_scan_at": moment(status.last_scan_at),
        "watcher": status.watcher.value,
    }


def diagnostic_json(diagnostic: Diagnostic) -> Json:
    """One entry of `doctor --json`."""
    return {
        "code": diagnostic.code.value,
        "severity": diagnostic.severity.value,
        "path": diagnostic.path,
        "id": diagnostic.id,
        "message": diagnostic.message,
        "fix": diagnostic.fix,
        "line": diagnostic.line,
        "column": diagnostic.column,
    }


def doctor_json(report: DoctorReport) -> Json:
    """The document of `doctor --json`."""
    return {
        "healthy": report.healthy,
        "checks": [{"name": c.name, "ok": c.ok, "detail": c.detail} for c in report.checks],
        "diagnostics": [diagnostic_json(diagnostic) for diagnostic in report.diagnostics],
    }


def note_json(note: NoteView) -> Json:
    """One entry of `notes --json`."""
    return {
        "path": note.path,
        "id": note.id,
        "name": note.name,
        "description": note.description,
        "tags": list(note.tags),
        "status": note.status.value,
        "admitted": note.admitted,
        "indexed": note.indexed,
        "created_at": written_moment(note.created_at),
        "updated_at": written_moment(note.updated_at),
        "diagnostics": [code.value for code in note.diagnostics],
    }


def signals_json(signals: Signals) -> Json:
    """The parts of a score."""

    def rounded(value: float | None) -> float | None:
        return None if value is None else round(value, 6)

    return {
        "dense_metadata": rounded(signals.dense_metadata),
        "dense_body": rounded(signals.dense_body),
        "dense": rounded(signals.dense),
        "bm25": rounded(signals.bm25),
        "bonus": {name: round(value, 6) for name, value in signals.bonus.items()},
        "chunks": [
            {
                "text": chunk.text,
                "heading": chunk.heading,
                "line_start": chunk.line_start,
                "line_end": chunk.line_end,
                "cosine": round(chunk.cosine, 6),
                "likeness": round(chunk.likeness, 6),
                "weight": round(chunk.weight, 6),
            }
            for chunk in signals.chunks
        ],
        "terms": list(signals.terms),
    }


def recall_json(recall: Recall, *, explain: bool) -> Json:
    """The document of `recall --json`; candidates with `explain`."""
    document: dict[str, Json] = {
        "query": recall.query,
        "hints": [
            {
                "id": hint.id,
                "score": round(hint.score, 6),
                "name": hint.name,
                "description": hint.description,
                "path": hint.path,
            }
            for hint in recall.hints
        ],
        "mode": recall.mode.value,
    }
    if recall.trouble:
        document["trouble"] = recall.trouble
    if explain:
        document["candidates"] = [candidate_json(candidate) for candidate in recall.candidates]
    return document


def candidate_json(candidate: Candidate) -> Json:
    """A memory that was considered."""
    return {
        "id": candidate.id,
        "score": round(candidate.score, 6),
        "verdict": candidate.verdict.value,
        "name": candidate.name,
        "path": candidate.path,
        "signals": signals_json(candidate.signals),
    }


def match_json(match: SearchMatch) -> Json:
    """One entry of `search --json`."""
    return {
        "id": match.id,
        "path": match.path,
        "line": match.line,
        "text": match.text,
        "before": list(match.before),
        "after": list(match.after),
    }


def memory_json(memory: OpenedMemory) -> Json:
    """The document of `open --json`."""
    return {
        "id": memory.id,
        "path": memory.path,
        "name": memory.name,
        "description": memory.description,
        "tags": list(memory.tags),
        "status": memory.status.value,
        "body": memory.body,
        "text": memory.text,
    }


def copies_json(copies: Iterable[NoteCopy]) -> Json:
    """The answer to `open` of an id that several notes have."""
    return {
        "conflict": [
            {
                "path": copy.path,
                "mtime": moment(copy.mtime),
                "size": copy.size,
                "looks_like_sync_copy": copy.looks_like_sync_copy,
            }
            for copy in copies
        ]
    }


def edited_json(edited: Edited) -> Json:
    """The document of `tag`, `deprecate`, `activate` and `adopt`."""
    return {
        "path": edited.path,
        "id": edited.id,
        "tags": list(edited.tags),
        "status": edited.status.value,
        "changed": edited.changed,
        "diff": edited.diff,
    }


def saved_json(saved: Saved) -> Json:
    """The document of `save --json`."""
    return {**memory_json(saved.memory), "created": saved.created, "similar": list(saved.similar)}


# --- text


def count(number: int, noun: str) -> str:
    """`1 note`, `2 notes`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def waiting(notes: int) -> str:
    """`1 note waits for vectors`, `2 notes wait for vectors`."""
    return f"{count(notes, 'note')} {'waits' if notes == 1 else 'wait'} for vectors"


def sync_text(report: SyncReport) -> str:
    """What a sync did, in a line or two."""
    changes = [
        f"{number} {what}"
        for number, what in (
            (report.added, "added"),
            (report.updated, "updated"),
            (report.moved, "moved"),
            (report.deleted, "deleted"),
        )
        if number
    ]
    done = ", ".join(changes) or "nothing changed"
    lines = [f"{count(report.scanned, 'note')}: {done}" if report.scanned else done]
    if report.unreadable:
        lines[0] += f"; {report.unreadable} cannot be read"
    parts = [f"{report.admitted} can be hinted"]
    if report.chunks_embedded or report.chunks_reused:
        parts.append(f"{count(report.chunks_embedded, 'chunk')} embedded, {report.chunks_reused} reused")
    if report.embeddings_pending:
        parts.append(waiting(report.embeddings_pending))
    lines.append("; ".join(parts) + f" ({report.seconds.total:.2f} s)")
    return "\n".join(lines)


def status_text(status: EngineStatus) -> str:
    """What the caches hold and who writes, one fact a line."""
    dense, pending = status.dense, status.dense.pending
    rest = f", {waiting(pending)}" if pending else ""
    writer = f"process {status.writer.pid}" if status.writer.alive else "nobody at the moment"
    rows = [
        ("memory root", status.root),
        ("state", status.state + (f": {status.message}" if status.message else "")),
        (
            "notes",
            f"{status.notes} ({status.admitted} can be hinted, {status.deprecated} deprecated,"
            f" {status.conflicts} in conflict)",
        ),
        ("diagnostics", ", ".join(f"{n} {code}" for code, n in status.diagnostics.items()) or "none"),
        ("words", f"{count(status.lexical.documents, 'note')}, {size(status.lexical.bytes)}"),
        ("vectors", f"{count(dense.chunks, 'chunk')}, {size(dense.bytes)}{rest}"),
        ("model", f"{dense.model or 'none'} ({dense.engine})" + (f": {dense.note}" if dense.note else "")),
        ("written by", writer),
        ("last scan", moment(status.last_scan_at) or "never"),
        ("watcher", status.watcher.value),
        ("caches", status.state_dir),
    ]
    return "\n".join(f"{label:<12} {harmless(value)}" for label, value in rows)


def size(number_bytes: int) -> str:
    """Bytes for people: `3.1 MB`."""
    if number_bytes < 100_000:
        return f"{number_bytes / 1_000:.0f} kB"
    return f"{number_bytes / 1_000_000:.1f} MB"


GRAVITY = {"error": 0, "warning": 1, "info": 2}


def doctor_text(report: DoctorReport) -> str:
    """Checks, then diagnostics, the gravest first, then the sum: everything for which it is not all well."""
    lines = [f"{_mark(check)} {check.name:<16} {harmless(check.detail)}" for check in report.checks]
    gravest_first = sorted(report.diagnostics, key=lambda each: GRAVITY[each.severity.value])
    for diagnostic in gravest_first:
        lines += ["", f"{diagnostic.severity.value:<7} {diagnostic.code.value}  {harmless(diagnostic.path)}"]
        lines += [f"        {harmless(diagnostic.message)}", f"        → {harmless(diagnostic.fix)}"]
    by_severity: dict[str, int] = {}
    for diagnostic in gravest_first:
        by_severity[diagnostic.severity.value] = by_severity.get(diagnostic.severity.value, 0) + 1
    counted = ", ".join(f"{n} {severity}" for severity, n in by_severity.items()) or "no diagnostics"
    caches = (
        "caches agree with the notes" if report.caches_agree else "caches disagree with the notes: --repair"
    )
    warned = [check.name for check in report.checks if not check.ok and not check.is_of_caches]
    around = f"; see above: {', '.join(warned)}" if warned else ""
    return "\n".join([*lines, "", f"{counted}; {caches}{around}"])


def _mark(check: Check) -> str:
    return "ok  " if check.ok else "FAIL" if check.is_of_caches else "WARN"


def notes_text(notes: Sequence[NoteView]) -> str:
    """One note a line: mark, id, name, tags, codes, path."""
    lines = []
    for note in notes:
        mark = "●" if note.admitted else "○"
        codes = f"  [{', '.join(note.diagnostics)}]" if note.diagnostics else ""
        tags = " ".join(f"#{tag}" for tag in note.tags)
        fields = (harmless_id(note.id or "(no id)"), *map(harmless, (note.name, tags, note.path)))
        lines.append(f"{mark} " + " | ".join(fields) + codes)
    return "\n".join(lines)


def recall_text(recall: Recall, *, explain: bool, width: int) -> str:
    """The hint lines that an agent gets; with `explain` every candidate and its arithmetic."""
    lines = [hint_line(hint, width) for hint in recall.hints]
    if explain:
        lines += [line for candidate in recall.candidates for line in explained(candidate)]
    return "\n".join(lines)


def explained(candidate: Candidate) -> list[str]:
    """How a candidate's score comes about."""
    signals = candidate.signals
    verdict = "not_active" if candidate.verdict.value == "deprecated" else candidate.verdict.value
    head = f"{candidate.score:.3f} {verdict:<16} {harmless_id(candidate.id)} | {harmless(candidate.name)}"
    parts = [f"{name} {value:.3f}" for name, value in _numbers(signals).items()]
    lines = ["", head, "      " + " · ".join(parts)]
    lines += [
        f"      {chunk.weight:.2f} × {chunk.likeness:.3f}  lines {chunk.line_start}–{chunk.line_end}"
        f"  {harmless(chunk.text)[:80]}"
        for chunk in signals.chunks
    ]
    if signals.terms:
        lines.append("      words: " + " ".join(harmless(term) for term in signals.terms))
    return lines


def _numbers(signals: Signals) -> Mapping[str, float]:
    named = {
        "dense": signals.dense,
        "bm25": signals.bm25,
        "metadata likeness": signals.dense_metadata,
        "body likeness": signals.dense_body,
        **signals.bonus,
    }
    return {name: value for name, value in named.items() if value is not None}


def matches_text(matches: Sequence[SearchMatch]) -> str:
    """Matching lines with their surroundings, by note."""
    lines, path = list[str](), None
    for match in matches:
        if match.path != path:
            path = match.path
            lines += ([""] if lines else []) + [
                f"{harmless_id(match.id or '(no id)')} | {harmless(match.path)}"
            ]
        lines.append(f"  {match.line}: {harmless(match.text)}")
    return "\n".join(lines)
