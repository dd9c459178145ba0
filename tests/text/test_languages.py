from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmem.text.languages import LANGUAGES, language, script_language

SAMPLES = Path(__file__).parents[1] / "evaluation" / "languages"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("缓存顺序", "zh"),
        ("cache order", "en"),
        ("cache 缓存", "zh"),
        ("", "en"),
        ("12 34", "en"),
        ("MIT license of com.example.app", "en"),
        ("résumé of the café meeting", "en"),
        ("敷岛（しきしま）是日本海军在上个世纪初建造的战列舰", "zh"),
        ("`curl https://example.com/le/la.html`", "en"),
        ("Wie lange heben wir die Sicherungen auf?", "other"),
        ("Pourquoi les feuilles jaunissent-elles ?", "other"),
        ("¿Por qué se ponen amarillas las hojas?", "other"),
        ("データベースのバックアップは何日間残していますか", "other"),
        ("실수로 지운 브랜치를 되살릴 수 있나요?", "other"),
        ("Почему желтеют листья?", "other"),
    ],
)
def test_the_language_of_a_text(text: str, expected: str) -> None:
    assert language(text) == expected


@pytest.mark.parametrize("file", ["german", "japanese"])
def test_a_third_language_is_mostly_told(file: str) -> None:
    lines = (SAMPLES / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()
    told = [language(json.loads(line)["query"]) for line in lines]
    assert told.count("other") >= 0.9 * len(told)


def test_mixed_text_counts_as_chinese_when_its_characters_outnumber_half_the_words() -> None:
    assert script_language("用 Python 写脚本") == "zh"
    assert script_language("a long English sentence about 缓存") == "en"


@given(st.text(max_size=200))
def test_every_text_has_a_language(text: str) -> None:
    assert language(text) in LANGUAGES
    assert script_language(text) in ("zh", "en")
