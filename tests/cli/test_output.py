"""What a command says: data that is written or the command fails, and remarks that may get lost."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest

from vaultmem.cli import output
from vaultmem.cli.output import answer, answer_json, complain, gathered, is_terminal, narrate, reassure
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
