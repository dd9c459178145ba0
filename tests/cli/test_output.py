"""What a command says: data that is written or the command fails, and remarks that may get lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from vaultmem.cli import output


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
