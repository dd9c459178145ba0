"""States, severities and verdicts are told by a sign and a word, never by a colour alone."""

from __future__ import annotations

import pytest

from tui.looks.signs import SEVERITIES, STATES, STATUSES, VERDICTS, Sign, sign, title
from vaultmem.notes.diagnostics import Severity
from vaultmem.notes.metadata import Status
from vaultmem.recall.scoring import Verdict

ENGINE_STATES = ("idle", "scanning", "indexing", "embedding", "degraded", "never_synced", "root_missing")
"""What `EngineStatus.state` may be."""


@pytest.mark.parametrize(
    ("table", "words"),
    [(SEVERITIES, Severity), (VERDICTS, Verdict), (STATUSES, Status), (STATES, ENGINE_STATES)],
)
def test_each_word_of_the_engine_has_a_sign_of_its_own(table, words):
    assert {str(word) for word in words} <= table.keys()
    assert len({str(each) for each in table.values()}) == len(table)


def test_what_has_no_sign_is_shown_as_it_is():
    assert str(sign(SEVERITIES, "error")) == "✖ error"
    assert sign(STATES, "half_asleep") == Sign("·", "half asleep", "")


@pytest.mark.parametrize(
    ("code", "heading"),
    [
        ("missing_description", "Missing description"),
        ("bad_yaml", "Bad YAML"),
        ("conflict_id", "Conflict id"),
    ],
)
def test_a_code_is_a_heading(code, heading):
    assert title(code) == heading
