"""The entry point: UTF-8 whatever the locale says, streams that are not there, Ctrl-C, and the way of a hook."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shell import output_of
from vaultmem import __main__ as program
from vaultmem.engine.engine import Engine

INTERRUPTED = Path(__file__).parent / "programs" / "interrupted.py"


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_text_is_utf8_whatever_the_locale_says(shell, locale):
    shell.note("笔记.md", "缓存", "alpha 顺序\n")
    environment = {**os.environ, "LC_ALL": locale, "LANG": locale}
    code, out, err = output_of(shell.process("open", "缓存", env=environment))
    assert (code, err) == (0, "") and "alpha 顺序" in out
    code, out, err = output_of(shell.process("search", "顺序", "--json", env=environment))
    assert json.loads(out)[0]["path"] == "笔记.md"


def test_a_closed_stdin_is_an_empty_one(shell):
    assert shell.line("vaultmem recall - <&-")[0] == 0
    code, out, err = shell.line("vaultmem save --name n --description d --tag t --body - <&-")
    assert (code, out) == (2, "") and "body" in err


@pytest.mark.parametrize("streams", ["<&-", "</dev/null >&-", "</dev/null >/dev/full", "<&- >&- 2>&-"])
@pytest.mark.parametrize("flags", ["", "--debug "])
def test_a_hook_without_streams_ends_with_0_and_in_silence(shell, streams, flags):
    assert shell.line(f"vaultmem {flags}hook claude-code {streams}") == (0, "", "")


def test_ctrl_c_while_modules_are_loaded_ends_without_a_traceback(shell):
    done = subprocess.run([sys.executable, INTERRUPTED], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_ctrl_c_ends_without_a_traceback(shell, monkeypatch, capsys):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Engine, "sync", interrupt)
    monkeypatch.setattr(sys, "argv", ["vaultmem", "sync"])
    assert program.main() == 130
    assert capsys.readouterr() == ("", "")
