"""Values → lines of text for people. Decides nothing; every text from a note is made harmless first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from vaultmem.recall.hints import hint_line
from vaultmem.text.amounts import counted, size
from vaultmem.text.moments import utc_text
from vaultmem.text.shown import harmless, harmless_id

if TYPE_CHECKING:
    from vaultmem.events import SyncReport
    from vaultmem.recall.answer import Candidate, Recall
    from vaultmem.recall.scoring import Signals
    from vaultmem.views import Check, DoctorReport, EngineStatus, NoteView, SearchMatch


def waiting(notes: int) -> str:
    """`1 note waits for vectors`, `2 notes wait for vectors`."""
    return f"{counted(notes, 'note')} {'waits' if notes == 1 else 'wait'} for vectors"


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
    lines = [f"{counted(report.scanned, 'note')}: {done}" if report.scanned else done]
    if report.unreadable:
        lines[0] += f"; {report.unreadable} cannot be read"
    parts = [f"{report.admitted} can be hinted"]
    if report.chunks_embedded or report.chunks_reused:
        parts.append(f"{counted(report.chunks_embedded, 'chunk')} embedded, {report.chunks_reused} reused")
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
        ("words", f"{counted(status.lexical.documents, 'note')}, {size(status.lexical.bytes)}"),
        ("vectors", f"{counted(dense.chunks, 'chunk')}, {size(dense.bytes)}{rest}"),
        ("model", f"{dense.model or 'none'} ({dense.engine})" + (f": {dense.note}" if dense.note else "")),
        ("written by", writer),
        ("last scan", "never" if status.last_scan_at is None else utc_text(status.last_scan_at)),
        ("watcher", status.watcher.value),
        ("caches", status.state_dir),
    ]
    return "\n".join(f"{label:<12} {harmless(value)}" for label, value in rows)


GRAVITY = {"error": 0, "warning": 1, "info": 2}
DIFF_LINES = 40


def doctor_text(report: DoctorReport) -> str:
    """Checks, then diagnostics, the gravest first, then the sum: everything for which it is not all well."""
    lines = [f"{_mark(check)} {check.name:<16} {harmless(check.detail)}" for check in report.checks]
    gravest_first = sorted(report.diagnostics, key=lambda each: GRAVITY[each.severity.value])
    for diagnostic in gravest_first:
        lines += ["", f"{diagnostic.severity.value:<7} {diagnostic.code.value}  {harmless(diagnostic.path)}"]
        lines += [f"        {harmless(diagnostic.message)}", f"        → {harmless(diagnostic.fix)}"]
        lines += [f"        {line}" for line in _first_lines(diagnostic.diff)]
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


def _first_lines(diff: str) -> list[str]:
    lines = [harmless(line) for line in diff.splitlines()]
    left_out = len(lines) - DIFF_LINES
    return lines if left_out <= 0 else [*lines[:DIFF_LINES], f"… and {left_out} more lines"]


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
