"""The words that every command takes, and an error as an exit code, two lines and a document."""

from __future__ import annotations

import pytest

from vaultmem.cli import main as cli
from vaultmem.cli.commands import COMMANDS
from vaultmem.cli.main import command_in, make_parser
from vaultmem.engine.engine import Engine
from vaultmem.errors import NoteNotFoundError


def test_global_flags_stand_before_and_after_the_command(shell, tmp_path, monkeypatch):
    monkeypatch.delenv("MARCH_MEMORY_ROOT")
    monkeypatch.delenv("VAULTMEM_STATE_DIR")
    flags = ("--root", str(shell.root), "--state-dir", str(tmp_path / "other"))
    for words in ((*flags, "--json", "status"), ("status", *flags, "--json"), ("--json", *flags, "status")):
        answer = shell(*words)
        assert (answer.json["root"], answer.json["state_dir"]) == (str(shell.root), str(tmp_path / "other"))


def test_two_dashes_end_the_options(shell):
    shell.note("a.md", "a", "--json is a flag -x\n")
    answer = shell("search", "--json", "--fixed", "--", "--json")
    assert [match["id"] for match in answer.json] == ["a"]
    answer = shell("recall", "--json", "--", "-x --json flag")
    assert answer.json["query"] == "-x --json flag"
    shell.note("b.md", "-odd")
    assert shell("open", "--json", "--", "-odd").json["id"] == "-odd"
    assert shell("tag", "--json", "--add", "z", "--", "-odd").json["tags"] == ["t", "z"]


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("frobnicate",),
        ("status", "--frob"),
        ("open",),
        ("notes", "--status", "odd"),
        ("notes", "--code", "odd"),
        ("sync", "extra"),
        ("--root",),
        ("status", "--embed", "magic"),
        ("search", "x", "--limit", "0"),
        ("init", "--vault", "/nowhere/at/all"),
    ],
    ids=" ".join,
)
def test_wrong_words_exit_2_and_show_the_right_form(shell, words):
    answer = shell(*words)
    assert answer.code == 2, answer.err
    assert answer.complaint


def test_a_bug_is_two_lines_and_with_debug_a_traceback(shell, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(Engine, "status", fail)
    answer = shell("status")
    assert answer.code == 3
    assert "ZeroDivisionError" in answer.complaint and "--debug" in answer.complaint
    with pytest.raises(ZeroDivisionError):
        shell("status", "--debug")


def test_an_error_of_ours_shows_its_traceback_with_debug_alone(shell):
    with pytest.raises(NoteNotFoundError):
        shell("--debug", "open", "nobody")


def test_control_characters_in_an_error_are_made_harmless(shell):
    answer = shell("open", "no\x1b[31mbody\r\n")
    assert answer.code == 1 and "\x1b" not in answer.err and "\r" not in answer.err


def test_help_and_version_are_there(shell, capsys):
    for words in (("--help",), ("--version",), ("tag", "--help")):
        with pytest.raises(SystemExit) as ended:
            cli.run(words)
        assert ended.value.code == 0
    out = capsys.readouterr().out
    assert all(f"    {name}" in out for name in ("init", "sync", "watch", "doctor", "recall", "adopt", "tui"))


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("open", "nobody"), 1),
        (("deprecate", "nobody"), 1),
        (("adopt", "nothing.md"), 1),
        (("search", "("), 2),
        (("recall", "q", "--limit", "x"), 2),
        (("frobnicate",), 2),
        (("sync", "--root", "/nowhere/at/all"), 3),
    ],
)
def test_a_command_that_fails_has_a_document_too(shell, words, code):
    plain = shell(*words)
    for words_with_json in (("--json", *words), (*words, "--json")):
        answer = shell(*words_with_json)
        assert answer.code == code and len(answer.out.splitlines()) == 1
        assert set(answer.json) == {"error"} and set(answer.json["error"]) == {
            "message",
            "advice",
            "exit_code",
        }
        assert answer.json["error"]["exit_code"] == code
        assert answer.err == plain.err and plain.out == ""
        assert answer.json["error"]["message"] == answer.err.splitlines()[0].removeprefix("vaultmem: ")


def test_a_bug_has_a_document_too(shell, monkeypatch):
    monkeypatch.setattr(Engine, "status", lambda engine: 1 / 0)
    assert "ZeroDivisionError" in shell.json("status", code=3)["error"]["message"]


def test_behind_two_dashes_json_is_a_word(shell):
    assert shell("open", "--", "--json").complaint


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ((), None),
        (("--help",), None),
        (("status", "sync"), "status"),
        (("--json", "--root", "sync", "status"), "status"),
        (("--root=sync", "--state-dir", "x", "--embed", "none", "status"), "status"),
        (("--root",), None),
        (("frobnicate",), "frobnicate"),
    ],
)
def test_the_command_is_the_first_word_that_is_neither_a_flag_nor_a_flags_value(words, command):
    assert command_in(words) == command


@pytest.mark.parametrize("name", COMMANDS)
def test_the_grammar_of_one_command_says_of_it_what_the_whole_grammar_says(name, capsys):
    said = []
    for parser in (make_parser(name), make_parser()):
        with pytest.raises(SystemExit):
            parser.parse_args([name, "--help"])
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] and COMMANDS[name].summary in " ".join(said[0].split())


def test_of_a_word_that_is_no_command_the_whole_grammar_is_made(capsys):
    assert make_parser("frobnicate").format_help() == make_parser().format_help()
