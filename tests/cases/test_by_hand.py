"""The failure cases that come with steps instead of files: each has a test that carries the case's id in its name.

`data/CASES.md` tells where each comes from. Those of the dashboard and of MCP have their tests in those rooms.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
DATA = Path(__file__).parent / "data"

AT_THE_SURFACES = {
    "mc-eof-orphan": "test_it_ends_soon_after_the_client_and_lets_go_of_the_lock",
    "mc-memory-save-race": "test_two_servers_saving_one_memory_at_once_leave_a_whole_note",
    "mc-startup-time": "test_a_large_vault_without_caches_is_answered_before_it_is_indexed",
    "mc-stdout": "test_nothing_but_the_protocol_reaches_stdout",
    "tx-ime": "test_a_phrase_from_an_input_method_arrives_whole",
    "tx-refresh-while-editing": "test_a_description_is_not_written_over_one_that_was_not_seen",
    "tx-small-terminal": "test_any_window_opens_every_tab_and_dialog",
}
"""Cases that need a server or a dashboard, and their tests in those rooms."""


def test_every_case_that_the_runner_cannot_drive_has_a_test():
    cases = {
        folder.parent.name
        for folder in DATA.glob("*/expect.json")
        if "repro" in json.loads(folder.read_text("utf-8"))
    }
    here, surfaces = names_in("cases"), names_in("dashboard", "mcp_server")
    for case in cases - AT_THE_SURFACES.keys():
        name = case.replace("-", "_")
        assert any(test.startswith(f"test_{name}") for test in here), f"{case} has no test"
    for case, test in AT_THE_SURFACES.items():
        assert case in cases
        assert test in surfaces, f"{case} has lost its test"


def names_in(*rooms: str) -> set[str]:
    files = (file for room in rooms for file in (TESTS / room).rglob("test_*.py"))
    return {name for file in files for name in re.findall(r"def (test_\w+)", file.read_text("utf-8"))}
