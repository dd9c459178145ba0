"""Recall on the sample vault's golden set, with the bundled model: the gate that keeps it good."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from vaultmem.engine.engine import Engine
from vaultmem.evaluation.evaluation import Evaluation, evaluate
from vaultmem.evaluation.golden import check_golden, read_golden
from vaultmem.evaluation.proposals import propose_golden
from vaultmem.recall.scoring import DEFAULT_MIN_SCORE, total

SAMPLE = Path(__file__).parents[2] / "sample_vault"

pytestmark = [pytest.mark.model, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    folder = tmp_path_factory.mktemp("sample")
    shutil.copytree(SAMPLE, folder / "vault")
    with Engine.open(folder / "vault" / "March Memories", folder / "state", "bundled") as engine:
        engine.sync()
        check_golden(propose_golden(engine), engine.notes())
        golden = read_golden(folder / "vault" / "golden.jsonl")
        return evaluate(engine, golden, min_score=DEFAULT_MIN_SCORE, hint_limit=3)


DOUBLES = {
    "mem_01kns044ay_idempotency_key_webhooks": (
        "Payment callbacks must be idempotent",
        "The payment platform delivers webhooks twice: dedupe by event id and book in the same transaction",
    ),
    "mem_01kmj447h7_actions_cache_keys": (
        "How to write GitHub Actions cache keys",
        "The key needs the lock file's hash and the runtime version, else the cache never hits",
    ),
}


def test_a_memory_that_is_there_in_the_other_language_is_named_as_similar(tmp_path: Path) -> None:
    root = tmp_path / "March Memories"
    root.mkdir()
    for file in (SAMPLE / "March Memories").rglob("*.md"):
        if any(f"id: {note_id}" in file.read_text("utf-8", "replace") for note_id in DOUBLES):
            shutil.copy(file, root)
    with Engine.open(root, tmp_path / "state", "bundled") as engine:
        engine.sync()
        for note_id, (name, description) in DOUBLES.items():
            saved = engine.save(name=name, description=description, tags=["t"], body="…", dry_run=True)
            assert saved.similar == (note_id,)
        other = engine.save(
            name="Piano", description="The tuner comes in spring", tags=["t"], body="…", dry_run=True
        )
        assert other.similar == ()


def test_the_sample_vault_passes_its_gates(evaluation: Evaluation) -> None:
    assert evaluation.passes, evaluation.gates
    assert {gate.name for gate in evaluation.gates} >= {
        "recall@5 within a language",
        "recall@1 across languages",
    }


def test_recall_is_better_than_words_alone(evaluation: Evaluation) -> None:
    for baseline in evaluation.baselines:
        assert evaluation.figures.recall_1 > baseline.figures.recall_1
        assert evaluation.silence > baseline.silence


def test_hits_and_strangers_lie_apart(evaluation: Evaluation) -> None:
    assert evaluation.threshold.best is not None and not evaluation.threshold.is_inside_overlap


def test_every_score_is_explained(evaluation: Evaluation) -> None:
    for answer in evaluation.answers:
        if answer.signals is not None:
            parts = answer.signals
            assert answer.score == pytest.approx(
                total(parts.dense, parts.bm25, parts.bonus.values()), abs=1e-6
            )
