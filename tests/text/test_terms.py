from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vaultmem.text.terms import LONGEST_TERM, document_terms, query_terms, stop_words, terms, whole_terms

ANY_TEXT = st.text(max_size=200)


def test_chinese_runs_become_overlapping_pairs() -> None:
    assert terms("缓存顺序") == ["缓存", "存顺", "顺序"]


def test_a_lone_chinese_character_is_a_term() -> None:
    assert terms("猫") == ["猫"]


def test_words_split_where_the_script_changes() -> None:
    assert terms("用Python写脚本") == ["用", "python", "写脚", "脚本"]


def test_full_width_text_is_folded() -> None:
    assert terms("ＥＲＲ－４０４") == terms("err-404")


def test_identifiers_are_terms_whole_and_in_parts() -> None:
    assert terms("src/app/main.py") == ["src/app/main.py", "src", "app", "main", "py"]
    assert terms("ERR_CONN_REFUSED") == ["err_conn_refused", "err", "conn", "refused"]
    assert terms("maxRetryCount") == ["maxretrycount", "max", "retry", "count"]
    assert terms("parseHTTPResponse") == ["parsehttpresponse", "parse", "http", "response"]
    assert terms("--no-verify") == ["--no-verify", "no", "verify"]
    assert terms("v1.2.3")[0] == "v1.2.3"
    assert terms("E0502") == ["e0502"]
    assert terms("std::vector") == ["std::vector", "std", "vector"]
    assert terms(r"C:\Windows\hosts")[0] == r"c:\windows\hosts"
    assert terms("C++ and C#") == ["c++", "c", "and", "c#", "c"]


def test_a_sentence_end_is_no_part_of_a_word() -> None:
    assert terms("Restart nginx. Then wait.") == ["restart", "nginx", "then", "wait"]


def test_a_possessive_is_its_word() -> None:
    assert terms("the user's cache") == ["the", "user", "cache"]


def test_queries_lose_stop_words_and_repeats() -> None:
    assert query_terms("How do I fix the cache of the cache?") == ["fix", "cache"]


def test_no_pair_is_made_across_a_chinese_stop_phrase() -> None:
    assert query_terms("为什么缓存没有命中") == ["缓存", "命中"]


def test_a_lone_character_counts_only_where_nothing_else_does() -> None:
    assert query_terms("猫") == ["猫"]
    assert query_terms("猫 吃什么 罐头") == ["罐头"]


def test_metadata_counts_twice_and_body_once() -> None:
    counts = document_terms("redis", "cache", ("infra",), "redis body")
    assert counts == {"redis": 3, "cache": 2, "infra": 2, "body": 1}


def test_wholes_are_the_terms_that_have_parts_beside_them() -> None:
    assert whole_terms("open src/app.py or maxRetry with E0502") == {"src/app.py", "maxretry"}


def test_the_stop_list_is_about_a_hundred_words_in_two_languages() -> None:
    assert 80 <= len(stop_words()) <= 160
    assert {word.isascii() for word in stop_words()} == {True, False}


@given(ANY_TEXT)
def test_terms_hold_no_white_space_and_are_never_long(text: str) -> None:
    for term in terms(text):
        assert term and len(term) <= LONGEST_TERM and not any(c.isspace() for c in term)


@given(ANY_TEXT)
def test_query_terms_are_distinct_terms_of_the_text(text: str) -> None:
    found = query_terms(text)
    assert len(found) == len(set(found))
    assert not set(found) & stop_words()
