"""Golden sets: read, checked against their vault, kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evaluation.known import KnownEngine, golden, measured
from vaultmem.evaluation.golden import GoldenQuery, GoldenSet, GoldenSetError, Kind, check_golden, read_golden
from vaultmem.evaluation.proposals import propose_golden


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


def test_of_many_faults_some_are_shown_and_all_are_kept() -> None:
    with pytest.raises(GoldenSetError, match=r"no memory has the id m19; and 20 more$") as caught:
        check_golden(golden(positives=40), KnownEngine().notes())
    assert len(caught.value.faults) == 28


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


def test_a_device_or_a_nest_without_end_is_no_golden_set(tmp_path: Path) -> None:
    with pytest.raises(GoldenSetError, match="device"):
        read_golden(Path("/dev/zero"))
    (tmp_path / "nest.jsonl").write_text("[" * 100_000)
    with pytest.raises(GoldenSetError, match="line 1"):
        read_golden(tmp_path / "nest.jsonl")


def test_a_set_survives_its_file(tmp_path: Path) -> None:
    file = tmp_path / "golden.jsonl"
    before = propose_golden(KnownEngine())
    file.write_text(before.to_lines(), encoding="utf-8")
    assert read_golden(file).queries == before.queries


def test_what_a_line_leaves_out_is_filled_in(tmp_path: Path) -> None:
    file = tmp_path / "golden.jsonl"
    file.write_text(
        '\ufeff{"query": "缓存", "relevant": ["b", "a", "b"], "kind": "positive", "lang": "en"}\n\n'
        '{"query": "off", "kind": "negative", "neg_type": "near", "reviewed": false}\n'
        '{"query": "off", "kind": "negative"}\n',
        encoding="utf-8",
    )
    positive, near, foreign = read_golden(file).queries
    assert positive == GoldenQuery("缓存", ("b", "a"), Kind.POSITIVE, "zh"), "the language is told anew"
    assert (near.negative_type, near.is_off_topic, near.is_reviewed) == ("near", False, False)
    assert (foreign.negative_type, foreign.is_off_topic, foreign.is_reviewed) == ("foreign", True, True)
    assert GoldenSet((positive, near, foreign)).unreviewed == 1
