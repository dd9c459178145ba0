"""Engines without vectors, and what a test asks of one."""

from __future__ import annotations

from pathlib import Path

from vaultmem.config import Config
from vaultmem.engine.engine import Engine
from vaultmem.views import DoctorReport

HOUR_S = 3_600.0


def open_plain(world, *, look_every_s: float = 0.0, **options) -> Engine:
    """An engine without vectors. It looks at the files before each answer, or just once for a long time."""
    config = Config(world.root, world.state_dir, dirty_check_s=look_every_s)
    return Engine.open(config=config, embedder="none", **options)


def verdicts(engine: Engine, query: str) -> dict[str, str]:
    return {c.id: str(c.verdict) for c in engine.recall(query, min_score=0.0).candidates}


def hinted(engine: Engine, query: str) -> list[str]:
    return [hint.id for hint in engine.recall(query, limit=9, min_score=0.0).hints]


def tree(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def save_new(engine: Engine, name: str = "Context cache", **fields):
    facts = {"name": name, "description": "what it says", "tags": ["t"], "body": "alpha\n"}
    return engine.save(**{**facts, **fields})


def failing(report: DoctorReport) -> list[str]:
    return [check.name for check in report.checks if not check.ok]


def detail(report: DoctorReport, name: str) -> str:
    return next(check.detail for check in report.checks if check.name == name)
