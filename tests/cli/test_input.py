"""What a command starts from: numbers, the settings with the flags on top, and stdin."""

from __future__ import annotations

import argparse
import io
import sys

import pytest

from vaultmem.cli.input import read_question, read_text, share
from vaultmem.errors import UsageError


def test_recall_reads_a_query_from_stdin(shell):
    shell.note("a.md", "a")
    document = shell.json("recall", "-", "--min-score", "0", stdin="alpha\n缓存".encode() + b"\xff")
    assert document["query"] == "alpha\n缓存\ufffd"
    assert [hint["id"] for hint in document["hints"]] == ["a"]


@pytest.mark.parametrize(
    ("words", "form"),
    [
        (("--min-score", "2"), "a number from 0 to 1"),
        (("--min-score", "x"), "a number from 0 to 1"),
        (("--limit", "3x"), "a whole number"),
        (("--limit", "9" * 5000), "a whole number"),
    ],
)
def test_a_number_that_is_none_is_wrong_usage(shell, words, form):
    answer = shell("recall", "alpha", *words)
    assert answer.code == 2 and f"{words[1]!r} is not {form}" in answer.complaint
    assert "invalid" not in answer.complaint


def test_save_reads_its_body_from_stdin_and_takes_several_tags_either_way(shell):
    words = ("save", "--name", "New", "--description", "d", "--body", "-", "--tag", "a", "b", "--tag", "c")
    document = shell.json(*words, stdin="# 正文\n".encode())
    assert document["created"] is True
    assert (document["name"], document["tags"], document["status"]) == ("New", ["a", "b", "c"], "active")
    assert document["body"].strip() == "# 正文"
    assert {"id", "path", "description", "text"} <= document.keys()
    assert (shell.root / document["path"]).read_text("utf-8") == document["text"]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (b"one\ntwo \xff\n", "line 2: byte 0xff"),
        ("缓存".encode("gbk"), "line 1: byte 0xbb"),
        (b"cut \xe7\xbc", "line 1: byte 0xe7"),
        ("text".encode("utf-16"), "line 1: it is UTF-16"),
    ],
    ids=["latin-1", "gbk", "cut off", "utf-16"],
)
@pytest.mark.parametrize("which", [("--name", "A", "--description", "D", "--tag", "t"), ("--id", "a")])
def test_save_refuses_a_body_that_is_not_utf8_and_says_which_byte(shell, body, place, which):
    note = shell.note("a.md", "a")
    before = note.read_bytes()
    answer = shell("save", *which, "--body", "-", stdin=body)
    assert answer.code == 2
    assert place in answer.complaint and "nothing was written" in answer.complaint
    assert [file.read_bytes() for file in shell.root.rglob("*.md")] == [before]


def test_flags_win_over_the_environment_and_that_over_the_settings_file(shell, tmp_path, monkeypatch):
    config = shell.home / ".config" / "vaultmem" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('memory_root = "/from/file"\n[embedding]\nengine = "auto"\n')
    assert shell.json("status")["root"] == str(shell.root)
    assert shell.json("status")["dense"]["engine"] == "none"
    assert shell.json("status", "--root", str(tmp_path / "flag"), code=3)["root"] == str(tmp_path / "flag")
    monkeypatch.delenv("MARCH_MEMORY_ROOT")
    assert shell.json("status", code=3)["root"] == "/from/file"


def test_an_unknown_setting_names_the_file_and_the_key(shell):
    config = shell.home / ".config" / "vaultmem" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("recall.min_scroe = 1\n")
    answer = shell("status")
    assert answer.code == 2
    assert str(config) in answer.complaint and "recall.min_scroe" in answer.complaint


def test_a_setting_with_a_wrong_value_names_where_it_is_from(shell, monkeypatch):
    monkeypatch.setenv("MARCH_MEMORY_RECALL_MIN_SCORE", "lots")
    answer = shell("recall", "alpha")
    assert answer.code == 2 and "MARCH_MEMORY_RECALL_MIN_SCORE" in answer.complaint


@pytest.mark.parametrize(("text", "value"), [("0", 0.0), ("1", 1.0), (" 0.5 ", 0.5), ("1e-3", 0.001)])
def test_a_share_is_a_number_from_0_to_1(text, value):
    assert share(text) == value


@pytest.mark.parametrize("text", ["-0.1", "1.001", "nan", "inf", "half", ""])
def test_what_is_no_share_is_refused(text):
    with pytest.raises((ValueError, argparse.ArgumentTypeError)):
        share(text)


def given_stdin(monkeypatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


@pytest.mark.parametrize("read", [read_question, read_text])
def test_a_byte_order_mark_is_no_part_of_what_was_said(monkeypatch, read):
    given_stdin(monkeypatch, "\ufeff缓存\r\n".encode())
    assert read() == "缓存\r\n"


def test_what_is_kept_is_refused_where_a_question_is_read_as_well_as_can_be(monkeypatch):
    given_stdin(monkeypatch, b"one\n\xff")
    assert read_question() == "one\n\ufffd"
    given_stdin(monkeypatch, b"one\n\xff")
    with pytest.raises(UsageError, match="line 2") as refused:
        read_text()
    assert "iconv" in refused.value.advice


@pytest.mark.parametrize("read", [read_question, read_text])
def test_an_input_that_never_ends_is_refused(monkeypatch, read):
    with open("/dev/zero", "rb") as endless:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(endless))
        with pytest.raises(UsageError, match="more than 64 MiB"):
            read()
