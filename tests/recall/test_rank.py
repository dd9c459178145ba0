"""Recall over fake stores: what the answer promises, whatever the model."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.recall.vaults import NOW, Vault
from vaultmem.recall.answer import Mode, Recall
from vaultmem.recall.rank import recall
from vaultmem.recall.scoring import PROJECT_BONUS, Verdict


def verdicts(answer: Recall) -> dict[str, Verdict]:
    return {candidate.id: candidate.verdict for candidate in answer.candidates}


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


def test_what_the_stores_lack_is_told_beside_a_failing_embedder(vault: Vault) -> None:
    vault.embedder.is_failing = True
    answer = recall("context cache ordering", replace(vault.sources(), missing="notes that wait: 3"))
    assert answer.trouble.startswith("notes that wait: 3; recall uses words alone: ")


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


OTHER = " ".join(f"word{number}" for number in range(30))
NAMES = [f"E774{number}" for number in range(8)]
TOPIC = [f"topic{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]


@given(
    st.lists(
        st.tuples(
            st.sets(st.sampled_from(NAMES), max_size=8),
            st.sampled_from([0, len(TOPIC) // 2, len(TOPIC)]),
            st.booleans(),
            st.integers(0, 40),
        ),
        min_size=2,
        max_size=6,
    )
)
@settings(max_examples=60, deadline=None)
@example([(set(NAMES), 0, False, 40), ({"E7741"}, 0, False, 40), (set(), len(TOPIC), True, 0)])
def test_what_carries_a_name_stands_above_all_that_carry_none(
    notes: list[tuple[set[str], int, bool, int]],
) -> None:
    vault = Vault()
    for number in range(60):
        vault.add(f"filler{number}", f"filler {number}", f"nothing of interest stands here {number}" * 20)
    for number, (names, topical, is_of_project, age_days) in enumerate(notes):
        updated = (NOW - timedelta(days=age_days)).isoformat()
        tags = ("project/p",) if is_of_project else ()
        words = " ".join(TOPIC[:topical]) or OTHER
        body = " ".join([*sorted(names), *[words] * 9, str(number)])
        vault.add(f"note{number}", words, body, description=words, tags=tags, updated_at=updated)
    answer = vault.ask(" ".join([*TOPIC, *NAMES]), project="p", limit=9)
    carries = ["exact_identifier" in candidate.signals.bonus for candidate in answer.candidates]
    assert carries == sorted(carries, reverse=True)
