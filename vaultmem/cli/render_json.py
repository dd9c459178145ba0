"""Values → JSON documents, field by field: what is promised to programs. Decides nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from vaultmem.text.moments import utc_text

if TYPE_CHECKING:
    from vaultmem.events import Event, SyncReport
    from vaultmem.notes.diagnostics import Diagnostic
    from vaultmem.recall.answer import Candidate, Recall
    from vaultmem.recall.scoring import Signals
    from vaultmem.views import (
        DoctorReport,
        Edited,
        EngineStatus,
        Json,
        NoteCopy,
        NoteView,
        OpenedMemory,
        Saved,
        SearchMatch,
    )


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
        **({"diff": diagnostic.diff} if diagnostic.diff else {}),
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
    document: Json = {
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


def event_json(event: Event) -> Json:
    """One line of `watch --json`: the fields of an event, and which event it is."""
    fields = {
        key: moment(value) if isinstance(value, datetime) else value for key, value in asdict(event).items()
    }
    return {"event": type(event).__name__, **fields}
