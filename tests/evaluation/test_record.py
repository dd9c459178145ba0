"""An evaluation as JSON, and what changed between two."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from tests.evaluation.known import KnownEngine, golden, measured
from vaultmem.errors import UsageError
from vaultmem.evaluation.record import compare_runs, evaluation_json, read_run, save_run
from vaultmem.evaluation.report import comparison_lines


def test_the_json_has_the_keys_of_the_contract_and_no_nan() -> None:
    document = evaluation_json(measured(golden_set=golden(negatives=12)))
    wanted = {"recall@1", "recall@5", "recall@10", "mrr@10", "ndcg@10"}
    assert {*wanted, "hint_precision", "hint_recall", "silence", "threshold"} <= document.keys()
    assert {"current", "best", "overlap"} <= document["threshold"].keys()
    json.dumps(document, allow_nan=False)


def test_what_is_no_number_becomes_null() -> None:
    assert evaluation_json(replace(measured(), hint_precision=math.nan))["hint_precision"] is None


def test_two_runs_are_compared_query_by_query(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    save_run(measured(), file)
    worse = evaluation_json(measured(KnownEngine(), golden(score="")))
    for answer in worse["queries"][:2]:
        answer.update(rank=2, score=0.2, right=False)
    comparison = compare_runs(read_run(file), worse)
    assert [change.query for change in comparison.changes] == ["tell me m0", "tell me m1"]
    assert "worse  0.90 → 0.20, rank 1 → 2: tell me m0" in "\n".join(comparison_lines(comparison))


def test_a_run_against_itself_changes_nothing() -> None:
    run = evaluation_json(measured())
    comparison = compare_runs(run, run)
    assert comparison.changes == () and (comparison.only_before, comparison.only_after) == (0, 0)


def test_what_turned_wrong_comes_first_then_what_turned_right_then_the_larger_move() -> None:
    before = evaluation_json(measured())
    after = evaluation_json(measured())
    before["queries"][3]["right"] = False
    after["queries"][5].update(score=0.8)
    after["queries"][4].update(score=0.6)
    after["queries"][6].update(right=False)
    changes = compare_runs(before, after).changes
    assert [change.query for change in changes] == [f"tell me m{n}" for n in (6, 3, 4, 5)]
    assert changes[0].was_right and not changes[0].is_right


def test_a_score_that_moved_by_less_than_a_reader_sees_is_no_change() -> None:
    before, after = evaluation_json(measured()), evaluation_json(measured())
    after["queries"][0]["score"] += 0.004
    after["queries"][-1]["rank"] = 3  # of a negative
    assert compare_runs(before, after).changes == ()


def test_queries_that_only_one_run_asked_are_counted() -> None:
    more, fewer = evaluation_json(measured()), evaluation_json(measured(golden_set=golden(positives=11)))
    comparison = compare_runs(more, fewer)
    assert (comparison.only_before, comparison.only_after) == (1, 0)
    assert comparison.figures["positives"] == (12, 11)


def test_a_run_is_kept_where_it_can_be(tmp_path: Path) -> None:
    save_run(measured(), tmp_path / "run.json")
    assert read_run(tmp_path / "run.json") == json.loads(json.dumps(evaluation_json(measured())))
    with pytest.raises(UsageError, match="cannot write"):
        save_run(measured(), tmp_path / "no folder" / "run.json")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"queries": 3}', "nonsense"])
def test_another_file_is_no_kept_run(tmp_path: Path, text: str) -> None:
    file = tmp_path / "run.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="no kept evaluation"):
        read_run(file)
