"""Recall over fake stores: what the answer promises, whatever the model."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmem.embedding.calibration import Calibration, calibrate
from vaultmem.notes.chunks import metadata_text, text_hash
from vaultmem.recall.answer import Mode, Recall
from vaultmem.recall.evidence import Meaning, Sources
from vaultmem.recall.rank import recall
from vaultmem.recall.scoring import DEFAULT_MIN_SCORE, PROJECT_BONUS, Verdict, total
from vaultmem.stores.dense_rows import DenseRow, Part
from vaultmem.stores.lexical import LexicalDoc
from vaultmem.testing import DictDenseStore, DictLexicalStore, HashingEmbedder
from vaultmem.text.languages import language
from vaultmem.text.terms import document_terms

NOW = datetime(2026, 6, 7, 12, tzinfo=UTC)
DIMENSION = 256


@cache
def hashing_calibration() -> Calibration:
    embedder = HashingEmbedder(size=DIMENSION)
    return calibrate(embedder.queries, embedder.passages, embedder.fingerprint)


@dataclass(frozen=True)
class Row:
    note_key: int
    id: str | None
    name: str = ""
    description: str = "something"
    tags: tuple[str, ...] = ()
    body: tuple[str, ...] = ()
    path: str = ""
    status: str = "active"
    updated_at: str | None = None
    digest: str = "now"
    lexical_digest: str | None = "now"
    dense_digest: str | None = "now"
    in_conflict: bool = False
    chunk_hashes: frozenset[str] = frozenset()


@dataclass
class Vault:
    """Rows in fake stores; a test may spoil any of them before it asks."""

    embedder: HashingEmbedder = field(default_factory=lambda: HashingEmbedder(size=DIMENSION))
    rows: dict[int, Row] = field(default_factory=dict)
    lexical: DictLexicalStore | None = field(default_factory=DictLexicalStore)
    dense: DictDenseStore | None = field(default_factory=lambda: DictDenseStore(DIMENSION))
    checked: list[str | None] = field(default_factory=list)
    on_disk: dict[int, Row | None] = field(default_factory=dict)

    def add(self, id: str | None, name: str, *body: str, **fields: Any) -> Row:  # noqa: A002
        key = len(self.rows)
        texts = [metadata_text(name, fields.get("description", "something"), fields.get("tags", ())), *body]
        row = Row(
            key,
            id,
            name,
            body=body,
            path=f"{key}.md",
            chunk_hashes=frozenset(map(text_hash, texts)),
            **fields,
        )
        self.rows[key] = row
        if self.lexical is not None:
            counts = document_terms(row.name, row.description, row.tags, "\n".join(body))
            self.lexical.add([LexicalDoc(key, row.lexical_digest or "now", counts)])
        if self.dense is not None and row.dense_digest is not None:
            self.dense.add([self.dense_row(row, number, text) for number, text in enumerate(texts)])
        return row

    def dense_row(self, row: Row, number: int, text: str) -> DenseRow:
        lang = language(text)
        (vector,) = hashing_calibration().centre_passages(self.embedder.passages([text]), [lang])
        part = Part.BODY if number else Part.METADATA
        digest = row.dense_digest or ""
        return DenseRow(
            row.note_key, digest, part, number, "", number, number, text, text_hash(text), lang, vector
        )

    def rows_by_key(self, keys: Collection[int]) -> Mapping[int, Row]:
        return {key: self.rows[key] for key in keys if key in self.rows}

    def admitted_count(self) -> int:
        return len(self.rows)

    def check_hint(self, row: Any) -> Any:
        self.checked.append(row.id)
        return self.on_disk.get(row.note_key, row)

    def ask(self, query: str, **options: Any) -> Recall:
        meaning = self.dense and Meaning(self.dense, self.embedder.queries, hashing_calibration())
        sources = Sources(self, self.lexical, meaning, self.check_hint)
        answer = recall(query, sources, now=NOW, **options)
        check(answer, options.get("limit", 3), options.get("min_score", DEFAULT_MIN_SCORE))
        return answer


def check(answer: Recall, limit: int, min_score: float) -> None:
    """What holds for every answer."""
    hinted = [candidate for candidate in answer.candidates if candidate.verdict is Verdict.HINTED]
    assert [hint.id for hint in answer.hints] == [candidate.id for candidate in hinted]
    assert len(answer.hints) <= max(0, limit)
    assert all(hint.score >= min_score for hint in answer.hints)
    scores = [candidate.score for candidate in answer.candidates]
    assert scores == sorted(scores, reverse=True) and all(0 <= score <= 1 for score in scores)
    assert len({candidate.id for candidate in answer.candidates}) == len(answer.candidates)
    for candidate in answer.candidates:
        signals = candidate.signals
        assert candidate.score == pytest.approx(total(signals.dense, signals.bm25, signals.bonus.values()))
        assert sum(chunk.weight for chunk in signals.chunks) == pytest.approx(1 if signals.chunks else 0)


def verdicts(answer: Recall) -> dict[str, Verdict]:
    return {candidate.id: candidate.verdict for candidate in answer.candidates}


@pytest.fixture
def vault() -> Vault:
    vault = Vault()
    vault.add("cache", "context cache ordering", "stable layers come first so that the prefix cache hits")
    vault.add("lock", "sqlite lock timeout", "begin immediate avoids database is locked errors")
    vault.add("绿萝", "绿萝黄叶", "绿萝叶子发黄多半是浇水太勤")
    for number in range(20):
        vault.add(f"other{number}", f"filler {number}", f"nothing about subject{number} here")
    return vault


def test_the_memory_that_answers_is_hinted_first(vault: Vault) -> None:
    answer = vault.ask("context cache ordering prefix")
    assert answer.hints[0].id == "cache" and answer.mode is Mode.HYBRID
    assert answer.hints[0].path == "0.md" and answer.hints[0].name == "context cache ordering"


def test_a_prompt_without_a_match_gets_no_hint(vault: Vault) -> None:
    assert vault.ask("how tall is the eiffel tower").hints == ()


@pytest.mark.parametrize("query", ["", "  ", "👍", "ok thanks", "继续", "?!"])
def test_a_prompt_that_says_nothing_gets_nothing_and_costs_nothing(vault: Vault, query: str) -> None:
    embedded = vault.embedder.texts_embedded
    answer = vault.ask(query, min_score=0.0)
    assert (answer.hints, answer.candidates, answer.mode) == ((), (), Mode.NONE)
    assert vault.embedder.texts_embedded == embedded


def test_a_very_long_prompt_costs_at_most_four_embeddings(vault: Vault) -> None:
    before = vault.embedder.texts_embedded
    prompt = "What went wrong here?\n" + "log line without any meaning 0x1f2e\n" * 800
    answer = vault.ask(prompt + "it says database is locked in sqlite, begin immediate timeout")
    assert vault.embedder.texts_embedded - before <= 4
    assert answer.hints[0].id == "lock"


def test_the_same_prompt_twice_gives_the_same_answer(vault: Vault) -> None:
    assert vault.ask("sqlite cache timeout") == vault.ask("sqlite cache timeout")


def test_equal_scores_are_ordered_by_id(vault: Vault) -> None:
    for name in ("twin-b", "twin-a", "twin-c"):
        vault.add(name, "zebra crossing rules", "zebra crossing rules")
    answer = vault.ask("zebra crossing rules")
    assert [hint.id for hint in answer.hints] == ["twin-a", "twin-b", "twin-c"]


@pytest.mark.parametrize("limit", [0, -3])
def test_no_limit_gives_no_hints_and_looks_at_no_file(vault: Vault, limit: int) -> None:
    answer = vault.ask("context cache ordering", limit=limit)
    assert answer.hints == () and vault.checked == []
    assert verdicts(answer)["cache"] is Verdict.OVER_LIMIT


def test_the_note_s_own_facts_are_told_first() -> None:
    vault = Vault()
    text = ("zebra crossing rules", "zebra crossing rules")
    vault.add("gone-out", *text, status="deprecated")
    vault.add("doubled", *text, in_conflict=True, status="deprecated")
    vault.add("mute", *text, description="")
    vault.add("told", *text)
    vault.add("fine", *text)
    answer = vault.ask("zebra crossing rules", suppressed=["told"])
    assert verdicts(answer) == {
        "gone-out": Verdict.DEPRECATED,
        "doubled": Verdict.CONFLICT,
        "mute": Verdict.NO_DESCRIPTION,
        "told": Verdict.SUPPRESSED,
        "fine": Verdict.HINTED,
    }


def test_suppressed_memories_leave_their_place_to_others(vault: Vault) -> None:
    vault.add("cache2", "context cache ordering", "stable layers come first so that the prefix cache hits")
    first = vault.ask("context cache ordering prefix", limit=1)
    second = vault.ask("context cache ordering prefix", limit=1, suppressed=[first.hints[0].id])
    assert {first.hints[0].id, second.hints[0].id} == {"cache", "cache2"}


def test_a_note_that_is_gone_from_disk_is_dropped_and_the_next_one_shown(vault: Vault) -> None:
    vault.add("cache2", "context cache ordering", "stable layers come first so that the prefix cache hits")
    vault.on_disk[0] = None
    answer = vault.ask("context cache ordering prefix", limit=1)
    assert [hint.id for hint in answer.hints] == ["cache2"] and "cache" not in verdicts(answer)


def test_a_note_that_changed_on_disk_is_shown_as_it_is_now(vault: Vault) -> None:
    vault.on_disk[0] = replace(vault.rows[0], description="as it is now")
    assert vault.ask("context cache ordering prefix").hints[0].description == "as it is now"
    vault.on_disk[0] = replace(vault.rows[0], status="deprecated")
    answer = vault.ask("context cache ordering prefix")
    assert verdicts(answer)["cache"] is Verdict.DEPRECATED


def test_only_the_notes_that_are_shown_are_looked_at(vault: Vault) -> None:
    vault.ask("context cache ordering prefix", limit=1)
    assert vault.checked == ["cache"]


# --- versions -------------------------------------------------------------------------------------------


def test_vectors_of_another_version_do_not_count(vault: Vault) -> None:
    vault.rows[0] = replace(vault.rows[0], dense_digest="other", digest="other")
    (found,) = [c for c in vault.ask("context cache ordering").candidates if c.id == "cache"]
    assert found.signals.dense is None and found.signals.bm25 is not None


def test_terms_of_another_version_do_not_count(vault: Vault) -> None:
    vault.rows[0] = replace(vault.rows[0], lexical_digest="other")
    (found,) = [c for c in vault.ask("context cache ordering").candidates if c.id == "cache"]
    assert found.signals.bm25 is None and found.signals.dense is not None


def test_text_that_an_edit_removed_stops_counting_while_the_new_one_is_pending(vault: Vault) -> None:
    kept = text_hash(metadata_text("context cache ordering", "something", ()))
    vault.rows[0] = replace(vault.rows[0], digest="edited", chunk_hashes=frozenset({kept}))
    (found,) = [c for c in vault.ask("context cache ordering").candidates if c.id == "cache"]
    assert found.signals.dense_metadata is not None and found.signals.chunks == ()


# --- modes ----------------------------------------------------------------------------------------------


def test_a_note_without_vectors_is_scored_by_its_words_alone(vault: Vault) -> None:
    vault.add("pending", "zebra crossing rules", "zebras cross at stripes", dense_digest=None)
    answer = vault.ask("zebra crossing rules")
    assert answer.hints[0].id == "pending" and answer.mode is Mode.HYBRID
    assert answer.candidates[0].signals.dense is None


def test_without_an_embedder_recall_is_lexical(vault: Vault) -> None:
    vault.dense = None
    answer = vault.ask("context cache ordering prefix")
    assert answer.mode is Mode.LEXICAL and answer.hints[0].id == "cache"
    assert all(candidate.signals.dense is None for candidate in answer.candidates)


def test_a_failing_embedder_makes_the_answer_lexical_and_is_told(vault: Vault) -> None:
    vault.embedder.is_failing = True
    answer = vault.ask("context cache ordering prefix")
    assert answer.mode is Mode.LEXICAL and answer.hints[0].id == "cache" and "fail" in answer.trouble


def test_without_a_lexical_store_recall_is_dense(vault: Vault) -> None:
    vault.lexical = None
    answer = vault.ask("context cache ordering")
    assert answer.mode is Mode.DENSE and answer.hints[0].id == "cache"
    assert answer.candidates[0].signals.bm25 is None


def test_an_empty_vault_answers_with_nothing() -> None:
    assert Vault().ask("context cache ordering").candidates == ()


# --- exact identifiers ----------------------------------------------------------------------------------

NAMED = [
    ("ERR_SHARD_GONE", "the worker died with ERR_SHARD_GONE"),
    ("E7741", "compiler says E7741 when the borrow outlives"),
    ("src/pipeline/merge_step.py", "look into src/pipeline/merge_step.py"),
    ("--skip-warmup", "start it with --skip-warmup"),
    ("maxBackoffMillis", "maxBackoffMillis is read once"),
    ("v4.17.2", "fixed since v4.17.2"),
    ("「青鸾计划」", "青鸾计划在周三上线"),
]


@pytest.mark.parametrize(("name", "text"), NAMED)
def test_an_identifier_that_few_carry_comes_first_and_is_a_hint(vault: Vault, name: str, text: str) -> None:
    vault.add("carrier", "misc", text, "and a lot of other words that have nothing to do with it " * 5)
    answer = vault.ask(f"context cache ordering and prefix hits, see {name}")
    assert answer.hints[0].id == "carrier"
    assert answer.candidates[0].signals.bonus["exact_identifier"] > 0


def test_an_unmarked_chinese_name_that_few_carry_comes_first(vault: Vault) -> None:
    vault.add("carrier", "misc", "青鸾计划在周三上线", "and other words that have nothing to do with it " * 3)
    vault.add("topic", "部署地址", "部署地址在内网文档第三页")
    answer = vault.ask("青鸾计划的部署地址是什么")
    assert answer.hints[0].id == "carrier"


def test_a_name_in_passing_lifts_nothing(vault: Vault) -> None:
    vault.add("station", "地铁站", "车站位于北京市海淀区的西边，旁边有一条河")
    answer = vault.ask("可以，地址在北京市海淀区清华西路二十八号，电话要不要，几点关门，票价多少钱")
    assert not any(candidate.signals.bonus for candidate in answer.candidates)


def test_an_identifier_that_many_carry_gives_no_bonus(vault: Vault) -> None:
    for number in range(10):
        vault.add(f"carrier{number}", f"note {number}", f"ERR_SHARD_GONE once more {number}")
    answer = vault.ask("ERR_SHARD_GONE")
    assert not any("exact_identifier" in candidate.signals.bonus for candidate in answer.candidates)


@pytest.mark.parametrize(
    "query",
    [
        "set an alarm for 7:45 in 2024",
        "open https://www.youtube.com/watch?v=abc please",
        "flip a coin 1000 times for $20",
        "email bob about the party at 5pm",
    ],
)
def test_numbers_and_links_of_an_off_topic_prompt_lift_nothing(vault: Vault, query: str) -> None:
    vault.add("numbers", "port list", "7 45 2024 1000 20 5 www youtube com watch")
    answer = vault.ask(query)
    assert not any(candidate.signals.bonus for candidate in answer.candidates)


# --- bonuses --------------------------------------------------------------------------------------------


def test_the_project_orders_hints_and_is_named_among_the_signals(vault: Vault) -> None:
    for name, tags in (("a", ()), ("b", ("project/march-cli",))):
        vault.add(name, "zebra crossing rules", "zebra crossing rules", tags=tags)
    answer = vault.ask("zebra crossing rules", project="March-CLI")
    bonus = {c.id: dict(c.signals.bonus) for c in answer.candidates if c.id in "ab"}
    assert bonus["b"]["project"] == pytest.approx(PROJECT_BONUS) and "project" not in bonus["a"]


def test_a_project_tag_lifts_no_stranger(vault: Vault) -> None:
    vault.add("mine", "context cache", "cache", tags=("project/p",), updated_at="2026-06-07T11:00:00Z")
    plain, tagged = vault.ask("how tall is the tower"), vault.ask("how tall is the tower", project="p")
    assert [c.score for c in plain.candidates] == [c.score for c in tagged.candidates]


@settings(deadline=None, max_examples=60)
@given(query=st.text(max_size=80), limit=st.integers(-1, 5), min_score=st.floats(0, 1))
def test_every_answer_keeps_its_promises(query: str, limit: int, min_score: float) -> None:
    vault = Vault()
    vault.add("one", "context cache", "缓存 顺序 E0502 max_retries")
    vault.add("two", "缓存顺序", "src/app.py v1.2.3")
    vault.add("two", "缓存顺序", "the same id twice", in_conflict=True)
    vault.ask(query, limit=limit, min_score=min_score)
