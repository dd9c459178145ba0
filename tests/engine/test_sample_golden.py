"""Recall on the sample vault's golden set, with the bundled model: the gate that keeps it good."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from vaultmem.engine import Engine
from vaultmem.evaluation import Evaluation, evaluate
from vaultmem.golden import check_golden, read_golden
from vaultmem.proposing import propose_golden
from vaultmem.scoring import DEFAULT_MIN_SCORE, total

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
