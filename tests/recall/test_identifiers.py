from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmem.recall.identifiers import Identifier, identifiers, is_identifier, rare_names
from vaultmem.text.terms import terms


@pytest.mark.parametrize(
    "piece",
    [
        "ERR_CONN_REFUSED",
        "E0502",
        "TS2345",
        "ORA-00942",
        "CVE-2024-3094",
        "KB5034441",
        "0x80070005",
        "ECONNREFUSED",
        "SIGKILL",
        "--no-verify",
        "/etc/hosts",
        "~/.ssh/config",
        "./run.sh",
        "src/app/main",
        "app/settings.py",
        r"c:\temp\x",
        "docker-compose.yml",
        "torch.nn",
        "std::vector",
        "maxRetryCount",
        "useEffect",
        "NullPointerException",
        "max_retries",
        "__init__",
        "v1.2.3",
        "1.2.3",
        "34963a2",
        "someone@example.org",
        "40029",
    ],
)
def test_codes_paths_flags_and_names_of_code_are_identifiers(piece: str) -> None:
    assert is_identifier(piece)
    assert [name.text for name in identifiers(f"why does {piece} fail")] == [piece]
    assert [name.text for name in identifiers(f"为什么{piece}会失败")] == [piece]


@pytest.mark.parametrize(
    "text",
    [
        "open GitHub and JavaScript on my iPhone with macOS",
        "set a timer for 45 minutes at 10:30",
        "what happened in 1998 and 2023",
        "it costs 10000 dollars or 3.14 percent",
        "https://www.youtube.com/watch",
        "check www.baidu.com and example.com",
        "and/or, he/she, TCP/IP, 24/7, 1/2 cup",
        "e.g. node.js, i.e. a.m.",
        "README.md and main.py",
        "ls /tmp and /etc",
        "a well-known state-of-the-art thing",
        'he said "yes"',
        "今天天气怎么样，下午三点提醒我",
        "WHY ARE YOU SHOUTING",
        "-x",
        "",
    ],
)
def test_common_words_numbers_and_hosts_are_not(text: str) -> None:
    assert identifiers(text) == ()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("it ends with exit code 137", "137"),
        ("HTTP 404 from the gateway", "404"),
        ("报错 1045 连不上数据库", "1045"),
        ("端口：8080 被占用", "8080"),
        ("status code: 502", "502"),
    ],
)
def test_a_short_number_counts_where_the_prompt_calls_it_a_code(text: str, number: str) -> None:
    (found,) = identifiers(text)
    assert found.terms == (number,) and found.is_weak


def test_what_stands_in_quotation_marks_is_a_name() -> None:
    assert identifiers("《内蒙古植物志》的作者是谁")[0].text == "内蒙古植物志"
    assert identifiers("「雪花算法」怎么处理时钟回拨")[0].terms == ("雪花", "花算", "算法")
    assert identifiers("run `git push --force` again")[0].text == "git push --force"
    assert identifiers("call debounce() first")[0].terms == ("debounce",)


def test_a_title_of_two_characters_is_weak() -> None:
    assert identifiers("《河南》讲了什么")[0].is_weak


def test_each_name_counts_once_and_in_order() -> None:
    found = identifiers("E0502 then max_retries then e0502")
    assert [name.terms for name in found] == [("e0502",), ("max_retries",)]


def test_a_document_carries_a_name_when_it_holds_all_its_terms() -> None:
    name = Identifier("雪花算法", ("雪花", "花算", "算法"))
    assert name.is_carried({"雪花": 1, "花算": 1, "算法": 4, "主键": 1})
    assert not name.is_carried({"雪花": 1, "算法": 4})


@pytest.mark.parametrize(
    ("carriers", "memories", "tells"),
    [(0, 100, False), (1, 3, True), (2, 3, False), (5, 1_000, True), (6, 1_000, False), (5, 49, False)],
)
def test_a_name_tells_memories_apart_when_few_carry_it(carriers: int, memories: int, tells: bool) -> None:
    assert Identifier("E0502", ("e0502",)).tells_apart({"e0502": carriers}, memories) is tells


def test_a_long_rare_run_of_characters_is_a_name() -> None:
    known = dict.fromkeys(terms("青鸾计划部署"), 1)
    assert "青鸾计划" in [name.text for name in rare_names("青鸾计划的部署地址是什么", known, 100)]


def test_a_run_that_many_memories_hold_is_none() -> None:
    known = dict.fromkeys(terms("青鸾计划部署"), 9)
    assert rare_names("青鸾计划的部署地址是什么", known, 100) == ()


def test_everyday_words_are_no_names_however_rare_here() -> None:
    text = "今天天气不错帮我推荐一部电影"
    assert rare_names(text, dict.fromkeys(terms(text), 1), 100) == ()


@given(st.text(max_size=200))
def test_every_identifier_has_terms_of_the_prompt(text: str) -> None:
    held = set(terms(text))
    for name in identifiers(text):
        assert name.terms and set(name.terms) <= held


@pytest.mark.parametrize(
    "text",
    ["a" * 100_000, "_" * 100_000, "aA" * 50_000, "a_" * 50_000, "f0" * 50_000, f"error{' ' * 100_000}x"],
)
def test_a_text_without_end_names_nothing_and_costs_little(text: str) -> None:
    started = time.monotonic()
    assert identifiers(text) == ()
    assert time.monotonic() - started < 10  # by the square of its length it takes minutes


def test_a_code_may_stand_apart_from_its_word() -> None:
    assert [name.text for name in identifiers("error  code  :  1234")] == ["1234"]


def test_a_long_path_is_a_name_still() -> None:
    assert is_identifier("/home/" + "folder/" * 60 + "file")
