"""A user's machine: what they type, run in this process, as a process of its own, or by bash."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from vaultmem.cli.main import run

VAULTMEM = [sys.executable, "-m", "vaultmem"]
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
UNDECODABLE = os.fsdecode(b"mem_\xff")


@dataclass
class Answer:
    """What a command said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def complaint(self) -> str:
        """The error: one or two lines, the first of which says who speaks, and no traceback."""
        lines = self.err.splitlines()
        assert 1 <= len(lines) <= 2, self.err
        assert lines[0].startswith("vaultmem: ")
        assert "Traceback" not in self.err and self.out == ""
        return self.err


class Shell:
    """A user's machine: a home, a vault with a memory root, and the words they type."""

    def __init__(
        self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.home = folder / "home"
        self.root = folder / "vault" / "March Memories"
        self.state_dir = folder / "state"
        self._capsys, self._monkeypatch = capsys, monkeypatch
        self.root.mkdir(parents=True)
        (self.root.parent / ".obsidian").mkdir()
        self.home.mkdir()
        for name in list(os.environ):
            if name.startswith(("VAULTMEM_", "MARCH_", "XDG_")):
                monkeypatch.delenv(name)
        monkeypatch.setenv("HOME", str(self.home))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(self.home / ".config"))
        monkeypatch.setenv("MARCH_MEMORY_ROOT", str(self.root))
        monkeypatch.setenv("VAULTMEM_STATE_DIR", str(self.state_dir))
        monkeypatch.setenv("VAULTMEM_EMBEDDER", "none")

    def __call__(self, *words: str, stdin: bytes = b"") -> Answer:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self._capsys.readouterr()
        code = run(words)
        return Answer(code, *self._capsys.readouterr())

    def json(self, *words: str, code: int = 0, stdin: bytes = b"") -> Any:
        answer = self(*words, "--json", stdin=stdin)
        assert answer.code == code, answer.err
        return answer.json

    def process(self, *words: str, **options: Any) -> subprocess.Popen[bytes]:
        """The command as a process of its own, as `self` would run it."""
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([*VAULTMEM, *words], **{**pipes, **options})

    def note(self, path: str, note_id: str, body: str = "alpha beta\n", **fields: str) -> Path:
        entries = {"id": note_id, "name": f"Note {note_id}", "description": f"about {note_id}", "tags": "[t]"}
        entries = {**entries, "status": "active", "created_at": "2026-05-14", **fields}
        block = "".join(f"{key}: {value}\n" for key, value in entries.items() if value)
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"---\n{block}---\n{body}", "utf-8")
        return file

    def line(self, line: str) -> tuple[int, str, str]:
        """What a line of bash gives, in which `vaultmem` is the command: its code, stdout and stderr."""
        program = " ".join(map(shlex.quote, VAULTMEM))
        done = subprocess.run(
            ["bash", "-c", line.replace("vaultmem", program)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr


def output_of(process: subprocess.Popen[bytes], within_s: float = 60.0) -> tuple[int, str, str]:
    """The code, stdout and stderr of a process that ends by itself."""
    out, err = process.communicate(timeout=within_s)
    return process.returncode, out.decode(), err.decode()
