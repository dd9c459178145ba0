"""What a command says: data that is written or the command fails, and remarks that may get lost."""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest

from tests.shell import VAULTMEM
from tests.terminal import Terminal
from vaultmem.cli import output
from vaultmem.cli.output import (
    answer,
    answer_json,
    answer_json_line,
    complain,
    gathered,
    is_terminal,
    narrate,
    narrate_lines,
    reassure,
)
from vaultmem.errors import EngineError, RefusedError


def test_a_person_at_a_terminal_is_told_that_nothing_is_the_answer(shell, monkeypatch):
    shell.note("a.md", "a")
    assert shell("recall", "zzz qqq").err.count("no hint") == 0
    monkeypatch.setattr(output, "is_terminal", lambda stream: True)
    assert "(no hint" in shell("recall", "zzz qqq").err and shell("recall", "zzz qqq").out == ""
    assert "no line of any memory" in shell("search", "zzzqqq").err
    assert "no hint" not in shell("recall", "zzz qqq", "--json").err


def test_a_pipe_that_closes_early_is_no_error(shell):
    for n in range(40):
        shell.note(f"{n}.md", f"n{n}", "needle " * 200 + "\n")
    shell("sync")
    process = shell.process("search", "needle", "--limit", "40", bufsize=0)
    assert process.stdout is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read()
    assert (process.wait(30), err) == (0, b"")
    process.stderr.close()


@pytest.mark.parametrize(
    "words",
    [
        "status",
        "status --json",
        "open a",
        "search alpha",
        "--version",
        "--help",
        "profile",
        "integrate generic",
    ],
)
@pytest.mark.parametrize(
    ("stdout", "reason"), [(">&-", "bad file descriptor"), (">/dev/full", "no space left on device")]
)
def test_an_answer_that_cannot_be_written_is_told_and_exits_3(shell, words, stdout, reason):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    shell.note("a.md", "a")
    code, out, err = shell.line(f"vaultmem {words} {stdout}")
    assert (code, out) == (3, "") and f"vaultmem: cannot write the answer: {reason}\n" in err
    assert "Traceback" not in err and "unexpected" not in err and "Exception ignored" not in err


@pytest.mark.parametrize("stderr", ["2>&-", "2>/dev/full"])
def test_remarks_that_nobody_can_read_change_no_answer(shell, stderr):
    shell.note("a.md", "a")
    code, out, _ = shell.line(f"vaultmem sync {stderr}")
    assert code == 0 and out.startswith("1 note: 1 added\n")
    assert shell.line(f"vaultmem frobnicate {stderr}") == (2, "", "")
    assert "vaultmem" not in (shell.root / "a.md").read_text("utf-8")


def test_an_empty_answer_is_no_line(capsys):
    answer("")
    answer("a\n", end="")
    assert capsys.readouterr() == ("a\n", "")


def test_a_document_keeps_letters_of_any_script_and_no_number_that_json_has_not(capsys):
    answer_json({"缓存": [1.5, None]})
    out = capsys.readouterr().out
    assert json.loads(out) == {"缓存": [1.5, None]} and "缓存" in out
    with pytest.raises(ValueError):
        answer_json({"x": float("nan")})


def test_a_complaint_is_a_line_and_its_advice_another(capsys):
    complain(RefusedError("no\x1b[31m\nnote", advice="Look\rthere."))
    complain(RefusedError("no"))
    assert capsys.readouterr() == ("", "vaultmem: no[31m note\n  Look there.\nvaultmem: no\n")


def test_what_was_gathered_is_the_answer_however_it_ended(capsys):
    with pytest.raises(RefusedError), gathered() as said:
        said.write("wrote a\n")
        assert capsys.readouterr().out == ""
        raise RefusedError("not b")
    assert capsys.readouterr().out == "wrote a\n"


def test_nobody_at_a_terminal_is_not_reassured(capsys):
    reassure("nothing")
    assert capsys.readouterr() == ("", "")


def test_a_stream_that_was_closed_is_no_terminal():
    stream = io.StringIO()
    stream.close()
    assert not is_terminal(stream)


@pytest.fixture
def full() -> Iterator[TextIO]:
    """A disk on which nothing fits."""
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with open("/dev/full", "w", encoding="utf-8") as stream:
        yield stream


def test_an_answer_that_does_not_fit_is_an_error_with_what_to_do(full):
    with contextlib.redirect_stdout(full):
        with pytest.raises(EngineError, match="cannot write the answer: no space left on device") as error:
            answer("a")
        answer("nowhere to go, and no error any more")
    assert "stdout" in error.value.advice


def test_a_remark_that_does_not_fit_is_let_go(full):
    with contextlib.redirect_stderr(full):
        narrate("a")


# --- terminals

HOSTILE = "\x1b]0;title\x07 \x1b]52;c;ZXZpbA==\x07 \x1b[2J \x9d0;c1\x9c \x9b2J del\x7f turned\u202e \x0e"
ACTING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What a terminal acts on, or what hides in it or turns it round; all but line ends and tabs."""


def acting_in(output: bytes) -> list[str]:
    """What a terminal would act on, but for our own progress line. Its driver writes every line end as `\\r\\n`."""
    return ACTING.findall(output.decode("utf-8").replace("\r\n", "\n").replace("\r\x1b[K", ""))


def hostile_note(shell) -> None:
    file = shell.note("bad\nname\x1b[2J\u202e.md", "mem_a", f"body alpha {HOSTILE}\n")
    entries = f"description: {json.dumps(HOSTILE)}\nname: {json.dumps('n ' + HOSTILE)}\n"
    text = file.read_text("utf-8")
    file.write_text(re.sub(r"name: .*\ndescription: .*\n", lambda _: entries, text), "utf-8")
    shell.note("other.md", "twice")
    shell.note("bad\r\x1b[2J/copy\x9b.md", "twice")
    assert (file.parent / "bad\nname\x1b[2J\u202e.md").exists()


@pytest.mark.parametrize(
    "words",
    [
        "open mem_a",
        "open mem_a --json",
        "open twice",
        "open twice --json",
        "search alpha --all",
        "search alpha --all --json",
        "notes --all",
        "notes --all --json",
        "doctor",
        "doctor --json",
        "sync --full",
        "recall --explain alpha",
        "tag mem_a --add new --dry-run",
        "tag mem_a --add new --dry-run --json",
        "deprecate mem_a --dry-run",
        "save --id mem_a --body other",
        "save --id mem_a --description other --json",
        "adopt \x1b]0;x\x07nowhere.md",
        "open \x1b]0;x\x07",
        "--debug open \x1b]0;x\x07",
        "frobnicate\x1b]0;x\x07",
        "status --root /\x1b]0;x\x07",
        "--debug notes --root /\x1b]0;x\x07",
    ],
)
def test_a_terminal_is_asked_for_nothing_but_letters_and_lines(shell, words):
    hostile_note(shell)
    with Terminal([*VAULTMEM, *words.split(" ")]) as terminal:
        code = terminal.ended()
    assert terminal.output and acting_in(terminal.output) == []
    assert ("Traceback" in terminal.output.decode()) == ("--debug" in words)
    assert code in (0, 1, 2, 3)


def test_a_pipe_and_a_file_get_every_byte(shell):
    hostile_note(shell)
    assert f"body alpha {HOSTILE}\n" in shell("open", "mem_a").out
    assert shell.json("open", "mem_a")["body"] == f"body alpha {HOSTILE}\n"
    assert acting_in(shell("open", "mem_a", "--json").out.encode()) == []
    diff = shell("save", "--id", "mem_a", "--body", "other").out
    assert f"-body alpha {HOSTILE}\n" in diff


def test_a_path_with_a_line_end_is_one_line_of_a_diff_and_can_be_read_back(shell):
    hostile_note(shell)
    diff = shell("tag", "mem_a", "--add", "new").out.splitlines()
    name = r"bad\nname\033[2J\342\200\256.md"
    assert diff[:2] == [f'--- "a/{name}"', f'+++ "b/{name}"'] and diff[2].startswith("@@")
    assert shell("save", "--id", "mem_a", "--body", "b").out.splitlines()[0] == "mem_a | bad name[2J.md"


def test_a_remark_and_an_error_stand_on_their_line_wherever_they_go(capsys):
    narrate("vaultmem: a\nb\x1b[2J\u202e")
    narrate_lines("one\n  two\x07")
    assert capsys.readouterr().err == "vaultmem: a b[2J\none\n  two\n"


def test_events_are_lines_of_json_without_what_acts(capsys):
    answer_json_line({"path": "a\x9b\udcff\u202e缓存", "at": Path("x")})
    out = capsys.readouterr().out
    assert out == '{"path": "a\\u009b\\udcff\\u202e缓存", "at": "x"}\n'
