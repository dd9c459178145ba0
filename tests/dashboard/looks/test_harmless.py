"""Nothing that is drawn is acted on by the terminal: each line by itself, and the program in a terminal of its own."""

from __future__ import annotations

import json
import re

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color

from tests.shell import VAULTMEM
from tests.terminal import Terminal
from tui.looks.harmless import HARMLESS

HOSTILE = "\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07\x9d0;owned\x9c\x9b2J\u202eturned\u2066"


def test_a_line_keeps_its_letters_and_its_width() -> None:
    given = [Segment("缓存 👩\u200d🚀 e\u0301"), Segment(HOSTILE), Segment("\x1b[2J", None, [(1,)])]  # type: ignore[list-item]
    first, second, third = HARMLESS.apply(given, Color(0, 0, 0))
    assert first.text == given[0].text and third.text == "\x1b[2J"
    assert second.text.replace(" ", "") == "]0;owned]52;c;b3duZWQ=0;owned2Jturned"
    assert cell_len(second.text) == cell_len(HOSTILE)
    plain = [Segment("plain")]
    assert HARMLESS.apply(plain, Color(0, 0, 0)) is plain


def test_the_dashboard_passes_nothing_of_a_note_on_to_the_terminal(shell):
    fields = {"name": json.dumps(f"Name {HOSTILE}"), "description": json.dumps(f"About {HOSTILE}")}
    shell.note("a\x1b]0;owned\x07\n\u202e.md", "a", f"# Body {HOSTILE}\n\nText {HOSTILE}\n", **fields)
    with Terminal([*VAULTMEM, "tui"], columns=120, rows=40) as terminal:
        terminal.wait_for_text("writes here")
        terminal.type_until("4", lambda: b"Text" in terminal.output)
        terminal.type_until("w", lambda: b"Describe" in terminal.output)
        terminal.type_until("\x11", lambda: terminal.process.poll() is not None)
        assert terminal.ended() == 0
    text = terminal.output.decode("utf-8")
    assert "owned" in text  # it was shown, as letters
    assert (
        re.findall(r"\x1b\](?:0|52);[^\x07\x1b]*owned|[\x80-\x9f]|[\u202a-\u202e\u2066-\u2069]", text) == []
    )
