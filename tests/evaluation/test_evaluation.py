"""Evaluation over an engine whose answers are known."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from vaultmem.errors import EngineError, StoreError, UsageError
from vaultmem.evaluation.evaluation import Evaluation, EvaluationError, evaluate
from vaultmem.evaluation.figures import Answered, Threshold, figures, find_threshold
from vaultmem.evaluation.golden import GoldenQuery, GoldenSet, GoldenSetError, Kind, check_golden, read_golden
from vaultmem.evaluation.histogram import histogram_svg, save_histogram
from vaultmem.evaluation.proposals import propose_golden
from vaultmem.evaluation.record import compare_runs, evaluation_json, read_run, save_run
from vaultmem.evaluation.report import comparison_lines, report_lines, score_bins
from vaultmem.recall.answer import Candidate, Hint, Mode, Recall
from vaultmem.recall.scoring import Signals, Verdict

SVG = "{http://www.w3.org/2000/svg}"


class KnownEngine:
    """An engine that finds memory `mN` for a query that holds `mN`, at the score that the query asks for."""

    def __init__(self, memories: int = 12, wrong: Callable[[str], bool] = lambda query: False) -> None:
        self.wrong = wrong
        self.views = [
            SimpleNamespace(
                id=f"m{number}",
                name=f"缓存 {number}" if number % 2 else f"cache layer {number}",
                description=f"高频变化层 {number}，放在后面"
                if number % 2
                else f"changing layers {number} go last",
                tags=("cache", f"layer-{number % 4}"),
                status="active",
                admitted=True,
                path=f"{number}.md",
            )
            for number in range(memories)
        ]

    def notes(self) -> tuple[Any, ...]:
        return tuple(self.views)

    def open_memory(self, id: str) -> Any:  # noqa: A002
        (view,) = [view for view in self.views if view.id == id]
        body = f"# {view.name}\n\n## decision about ordering\n\ntext {id}\n"
        return SimpleNamespace(**{**view.__dict__, "body": body})

    def recall(self, query: str, *, limit: int | None = None, min_score: float | None = None) -> Recall:
        if self.wrong(query):
            raise StoreError("the store is torn", advice="rebuild it")
        named, _, score = query.partition("@")
        found = [(view.id, float(score or 0.9)) for view in self.views if view.id == named.split()[-1]]
        found += [(view.id, 0.1) for view in self.views[:3] if view.id not in dict(found)]
        signals = Signals(dense=0.5, bm25=0.0)
        candidates = tuple(
            Candidate(note_id, score, Verdict.HINTED, signals, f"{note_id}.md", note_id, "d", n)
            for n, (note_id, score) in enumerate(sorted(found, key=lambda pair: -pair[1]))
        )
        hints = tuple(Hint(c.id, c.score, c.name, c.description, c.path) for c in candidates[:limit])
        return Recall(query, hints, candidates, Mode.HYBRID)


def golden(positives: int = 12, negatives: int = 12, score: str = "") -> GoldenSet:
    asked = [
        GoldenQuery(f"tell me m{n}{score}", (f"m{n}",), Kind.POSITIVE, "en" if n % 3 else "zh")
        for n in range(positives)
    ]
    silent = [GoldenQuery(f"off topic {n}", (), Kind.NEGATIVE, "en", "foreign") for n in range(negatives)]
    return GoldenSet((*asked, *silent))


def measured(engine: KnownEngine | None = None, golden_set: GoldenSet | None = None) -> Evaluation:
    return evaluate(engine or KnownEngine(), golden_set or golden(), min_score=0.5, hint_limit=3)


def test_a_perfect_engine_gets_perfect_figures() -> None:
    evaluation = measured()
    assert evaluation.figures.recall_1 == evaluation.figures.mrr_10 == evaluation.figures.ndcg_10 == 1
    assert evaluation.figures.found == evaluation.figures.shown == evaluation.hint_precision == 1
    assert evaluation.silence == 1 and evaluation.misses == () and evaluation.passes


def test_a_memory_below_the_threshold_is_ranked_but_not_found() -> None:
    evaluation = measured(golden_set=golden(score="@0.3"))
    assert evaluation.figures.recall_1 == 1 and evaluation.figures.found == 0
    assert not evaluation.passes and len(evaluation.misses) == 12


def test_languages_are_told_apart_by_pair() -> None:
    evaluation = measured()
    assert set(evaluation.languages) == {"same", "cross", "en>zh", "en>en", "zh>zh", "zh>en"}
    assert sum(evaluation.languages[group].queries for group in ("same", "cross")) == 12


def test_a_query_that_raises_is_an_error_and_never_a_pass() -> None:
    with pytest.raises(EvaluationError, match="tell me m3"):
        measured(KnownEngine(wrong=lambda query: "m3" in query))


def test_figures_are_those_of_the_textbook() -> None:
    query = GoldenQuery("q", ("a", "b"), Kind.POSITIVE, "en")
    found = figures([Answered(query, (), ("x", "a", "y", "b"), 0.7, ("x",))], 0.5)
    assert (found.recall_1, found.recall_5, found.mrr_10) == (0, 1, 0.5)
    assert found.ndcg_10 == pytest.approx((1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3)))
    assert found.found == 1 and found.shown == 0


# --- thresholds -----------------------------------------------------------------------------------------


def test_scores_that_lie_apart_have_a_best_threshold_and_no_overlap() -> None:
    threshold = find_threshold([0.6, 0.7, 0.8], [0.1, 0.2, 0.3], 0.5)
    assert threshold.best is not None and 0.3 < threshold.best <= 0.6
    assert threshold.overlap == 0 and threshold.overlap_range is None and not threshold.is_inside_overlap


def test_no_threshold_is_advised_where_hits_and_strangers_are_mixed() -> None:
    threshold = find_threshold([0.3, 0.4, 0.5, 0.6], [0.3, 0.4, 0.5, 0.6], 0.45)
    assert threshold.best is None and "overlap too much" in threshold.reason
    assert threshold.is_inside_overlap


def test_without_off_topic_negatives_nothing_is_advised() -> None:
    assert find_threshold([0.5], [], 0.5).best is None


# --- rotten sets ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("golden_set", "fault"),
    [
        (golden(positives=3, negatives=3), "only 6 queries"),
        (golden(positives=30, negatives=0), "no negative queries"),
        (golden(positives=0, negatives=30), "no positive queries"),
        (golden(positives=40), "no memory has the id m39"),
    ],
)
def test_a_rotten_set_is_refused_with_every_fault(golden_set: GoldenSet, fault: str) -> None:
    with pytest.raises(GoldenSetError) as caught:
        check_golden(golden_set, KnownEngine().notes())
    assert any(fault in each for each in caught.value.faults) and caught.value.exit_code == 2


def test_a_deprecated_target_makes_a_set_rotten() -> None:
    engine = KnownEngine()
    engine.views[4].status, engine.views[4].admitted = "deprecated", False
    with pytest.raises(GoldenSetError, match="m4 cannot be hinted: it is deprecated"):
        measured(engine)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{", "line 1"),
        ("[]", "not a JSON object"),
        ('{"query": 3, "kind": "negative"}', "`query` is no text"),
        ('{"query": "q", "kind": "maybe"}', "`kind` is 'maybe'"),
        ('{"query": "q", "kind": "positive", "relevant": []}', "a positive names relevant memories"),
        ('{"query": "q", "kind": "negative", "relevant": ["m1"]}', "a negative names none"),
        ('{"query": "q", "kind": "positive", "relevant": "m1"}', "`relevant` is no list"),
    ],
)
def test_a_line_that_is_no_query_is_named(tmp_path: Path, line: str, fault: str) -> None:
    file = tmp_path / "golden.jsonl"
    file.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(GoldenSetError, match="line 1") as caught:
        read_golden(file)
    assert fault in str(caught.value)


def test_a_missing_or_binary_file_is_no_golden_set(tmp_path: Path) -> None:
    with pytest.raises(GoldenSetError):
        read_golden(tmp_path / "none.jsonl")
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(GoldenSetError):
        read_golden(tmp_path / "binary.jsonl")


def test_a_set_survives_its_file(tmp_path: Path) -> None:
    file = tmp_path / "golden.jsonl"
    before = propose_golden(KnownEngine())
    file.write_text(before.to_lines(), encoding="utf-8")
    assert read_golden(file).queries == before.queries


# --- proposals ------------------------------------------------------------------------------------------


def test_a_proposed_set_fits_its_vault_and_is_marked_unreviewed() -> None:
    engine = KnownEngine(30)
    proposed = propose_golden(engine)
    check_golden(proposed, engine.notes())
    assert proposed.unreviewed == len(proposed.queries)
    assert {query.language for query in proposed.queries if query.kind is Kind.POSITIVE} == {"zh", "en"}
    assert {query.language for query in proposed.queries if query.kind is Kind.NEGATIVE} == {"zh", "en"}


def test_the_same_vault_gets_the_same_proposal() -> None:
    assert propose_golden(KnownEngine()) == propose_golden(KnownEngine())


# --- reports --------------------------------------------------------------------------------------------


def test_the_json_has_the_keys_of_the_contract_and_no_nan() -> None:
    document = evaluation_json(measured(golden_set=golden(negatives=12)))
    wanted = {"recall@1", "recall@5", "recall@10", "mrr@10", "ndcg@10"}
    assert {*wanted, "hint_precision", "hint_recall", "silence", "threshold"} <= document.keys()
    assert {"current", "best", "overlap"} <= document["threshold"].keys()
    json.dumps(document, allow_nan=False)


def test_the_report_shows_figures_threshold_misses_and_gates() -> None:
    text = "\n".join(report_lines(measured(golden_set=golden(score="@0.3"))))
    for part in (
        "R@1",
        "ripgrep",
        "BM25 alone",
        "threshold in force 0.50",
        "missed 0.30, rank 1",
        "SHORT",
        "dense=",
    ):
        assert part in text


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


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"queries": 3}', "nonsense"])
def test_another_file_is_no_kept_run(tmp_path: Path, text: str) -> None:
    file = tmp_path / "run.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="no kept evaluation"):
        read_run(file)


def test_the_histogram_is_an_svg_picture_with_a_bar_for_each_bin_that_holds_something() -> None:
    evaluation = measured()
    picture = ElementTree.fromstring(histogram_svg(evaluation))
    bars = [rect for rect in picture.iter(f"{SVG}rect") if rect.find(f"{SVG}title") is not None]
    assert [bar.findtext(f"{SVG}title") for bar in bars] == [
        f"{count}" for counts in score_bins(evaluation) for count in counts if count
    ]
    words = {text.text for text in picture.iter(f"{SVG}text")}
    assert {"relevant memories", "best for an off-topic prompt", "threshold 0.50", "score"} <= words


def test_a_histogram_without_a_query_and_without_a_threshold_can_be_drawn() -> None:
    evaluation = measured(golden_set=golden(positives=12, negatives=12))
    none = dataclasses.replace(
        evaluation, answers=(), threshold=Threshold(0.5, None, math.nan, math.nan, None, "")
    )
    words = {text.text for text in ElementTree.fromstring(histogram_svg(none)).iter(f"{SVG}text")}
    assert "none is advised" in words


def test_a_histogram_is_kept_where_it_can_be(tmp_path: Path) -> None:
    save_histogram(measured(), tmp_path / "scores.SVG")
    assert (tmp_path / "scores.SVG").read_text("utf-8") == histogram_svg(measured())
    with pytest.raises(UsageError, match="there is no folder"):
        save_histogram(measured(), tmp_path / "no folder" / "scores.svg")
    for name in ("scores.png", "scores", ""):
        with pytest.raises(UsageError, match="is an SVG picture"):
            save_histogram(measured(), tmp_path / name)


def test_without_the_extra_no_query_is_asked_and_the_way_to_it_is_told(monkeypatch) -> None:
    asked: list[str] = []
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(EngineError, match="extra `eval`") as raised:
        measured(KnownEngine(wrong=lambda query: bool(asked.append(query))))
    assert asked == [] and "pip install 'march-vaultmem[eval]'" in raised.value.advice
    assert raised.value.exit_code == 3
