from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmem.recall.prompt import has_content, read_prompt
from vaultmem.recall.scoring import MOST_WINDOWS, WINDOW_CHARS


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n\t ",
        "👍",
        "🎉🎉 ❤️",
        "?!…。，",
        "ok",
        "OK!",
        "Okay, thanks!",
        "thank you so much",
        "yes, do it",
        "continue",
        "go on",
        "keep going please",
        "hi there",
        "Good morning!",
        "sounds good",
        "LGTM 👍",
        "what should I do?",
        "y",
        "1",
        "继续",
        "继续吧",
        "好的",
        "好的，谢谢！",
        "好的，我知道了。",
        "嗯嗯",
        "你好",
        "早上好呀",
        "没问题，就这样",
        "收到，辛苦了",
        "可以，请继续",
        "ok 继续",
        "謝謝",
        "ありがとう",
        "danke",
    ],
)
def test_greetings_thanks_and_go_on_say_nothing(text: str) -> None:
    assert not has_content(text)
    assert read_prompt(text).windows == ()


@pytest.mark.parametrize(
    "text",
    [
        "redis",
        "猫",
        "继续优化缓存",
        "好的，那我们看看数据库迁移",
        "thanks, now fix the login bug",
        "E0502",
        "hello world program in rust",
        "```python\nprint(1)\n```",
        "404",
        "ctrl+c",
    ],
)
def test_whatever_names_a_subject_has_content(text: str) -> None:
    assert has_content(text)
    assert len(read_prompt(text).windows) == 1


def test_a_short_prompt_is_one_window_as_written() -> None:
    (window,) = read_prompt("  为什么缓存没命中？\n提示词顺序对吗  ").windows
    assert window.text == "为什么缓存没命中？\n提示词顺序对吗"
    assert window.language == "zh" and "缓存" in window.terms


def test_a_long_prompt_is_read_in_few_windows_that_fit_the_model() -> None:
    windows = read_prompt("这一段讲的是部署流程和回滚。" * 1_500).windows
    assert len(windows) == MOST_WINDOWS
    assert all(len(window.text) <= WINDOW_CHARS for window in windows)


def test_a_text_without_a_single_break_is_cut_all_the_same() -> None:
    windows = read_prompt("x" * 20_000).windows
    assert len(windows) == MOST_WINDOWS
    assert all(len(window.text) <= WINDOW_CHARS for window in windows)


def test_the_first_the_last_and_the_rarest_windows_are_read() -> None:
    filler = [f"Line {number} of a log that says nothing in particular at all.\n" for number in range(300)]
    filler[140] = "The watcher dies when the inotify limit is reached.\n"
    text = "Why does sync stop?\n" + "".join(filler) + "Please look at the last lines."

    def frequencies(terms: Sequence[str]) -> Mapping[str, int]:
        return {term: 1 if term in {"inotify", "watcher"} else 90 if term == "log" else 0 for term in terms}

    windows = read_prompt(text, frequencies).windows
    assert windows[0].text == "Why does sync stop?"
    assert windows[-1].text == "Please look at the last lines."
    assert any("inotify" in window.text for window in windows[1:-1])


def test_an_edge_that_says_nothing_is_no_window() -> None:
    windows = read_prompt(
        "ok\n" + "the deployment failed at step nine of the release\n" * 30 + "thanks!"
    ).windows
    assert all("deployment" in window.text for window in windows)


def test_a_huge_paste_is_read_in_bounded_time() -> None:
    text = "".join(f"{number:x} 错误日志 at module_{number}.function_{number}\n" for number in range(40_000))
    started = time.process_time()
    assert len(read_prompt(text).windows) == MOST_WINDOWS
    assert time.process_time() - started < 2


def test_the_terms_of_a_prompt_are_those_of_its_windows_and_names() -> None:
    prompt = read_prompt("《三体》 describes max_retries")
    assert set(prompt.terms) == {"三体", "describes", "max_retries", "max", "retries"}


@given(st.text(max_size=3_000))
def test_any_text_can_be_read(text: str) -> None:
    prompt = read_prompt(text)
    assert len(prompt.windows) <= MOST_WINDOWS
    assert bool(prompt.windows) == has_content(text)
    assert all(window.text.strip() for window in prompt.windows)
