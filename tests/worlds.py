"""A memory root to play with, and what must be equal between a synced state dir and one made from nothing."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from vaultmem.engine.engine import Engine
from vaultmem.testing import HashingEmbedder

QUERIES = ("alpha cache", "缓存 顺序", "E0277 gamma", "delta")


class World:
    """One memory root with its state dir; `engine` opens it, `rebuilt` compares with a state dir of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "vault" / "March Memories"
        self.state_dir = folder / "state"
        self.embedder = HashingEmbedder(size=16)
        self.root.mkdir(parents=True)
        (folder / "vault" / ".obsidian").mkdir()

    def engine(self, **options: Any) -> Engine:
        return Engine.open(self.root, self.state_dir, self.embedder, **options)

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def note(self, path: str, note_id: str, body: str = "alpha beta\n", **fields: str) -> Path:
        return self.write(path, note_text(note_id, body, **fields))

    def sync(self, **options: Any) -> Any:
        with self.engine() as engine:
            return engine.sync(**options)

    def facts(self) -> dict[str, Any]:
        """What the state dir says now; syncs nothing."""
        with self.engine() as engine:
            return facts(engine)

    def rebuilt(self) -> dict[str, Any]:
        """What a state dir made from nothing says."""
        fresh = Path(tempfile.mkdtemp(dir=self.folder, prefix="fresh-"))
        with Engine.open(self.root, fresh, self.embedder) as engine:
            engine.sync()
            said = facts(engine)
        shutil.rmtree(fresh)
        return said


def note_text(note_id: str, body: str = "alpha beta\n", **fields: str) -> str:
    entries = {
        "name": f"Note {note_id}",
        "description": f"about {note_id}",
        "tags": "[t]",
        "status": "active",
    }
    entries = {"id": note_id, **entries, **fields}
    return "---\n" + "".join(f"{key}: {value}\n" for key, value in entries.items() if value) + f"---\n{body}"


def facts(engine: Engine) -> dict[str, Any]:
    """Everything that must not depend on how the state came about; keys of notes are replaced by paths."""
    with engine.parts.access.reader() as caches:
        path_of = {row.note_key: row.path for row in caches.catalog.rows()}
        lexical = caches.lexical
        dense = caches.dense
        assert lexical is not None
        documents = {
            (path_of.get(key, f"ghost {key}"), digest): n for (key, digest), n in lexical.versions().items()
        }
        statistics = lexical.statistics()
        rows = dense.rows(path_of) if dense is not None else []
        texts = sorted(
            (
                path_of[r.note_key],
                r.digest,
                str(r.part),
                r.ordinal,
                r.heading,
                r.line_start,
                r.line_end,
                r.text,
            )
            for r in rows
        )
        ghosts = [] if dense is None else [key for key, _ in dense.versions() if key not in path_of]
    return {
        "notes": {
            note.path: (
                note.id,
                note.name,
                note.description,
                note.tags,
                note.status,
                note.admitted,
                note.indexed,
            )
            for note in engine.notes()
        },
        "diagnostics": sorted((d.path, d.code, d.message) for d in engine.diagnostics()),
        "documents": documents,
        "statistics": statistics,
        "texts": texts,
        "ghosts": ghosts,
        "answers": {
            query: [
                (c.id, round(c.score, 6), c.verdict)
                for c in engine.recall(query, min_score=0.0).candidates[:10]
            ]
            for query in QUERIES
        },
    }
