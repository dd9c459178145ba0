from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmem.recall import scoring
from vaultmem.recall.bonuses import carried_names, exact_bonus, is_of_project, small_bonuses
from vaultmem.recall.identifiers import Identifier

UNIT = st.floats(0, 1)
NOW = datetime(2026, 6, 7, 12, tzinfo=UTC)


def test_a_project_tag_and_a_fresh_note_add_a_little_to_a_hint() -> None:
    bonuses = small_bonuses(0.8, ("project/march-cli",), "2026-06-07T10:00:00.000Z", "march-cli", NOW)
    assert bonuses == {"project": scoring.PROJECT_BONUS, "recency": scoring.RECENCY_BONUS}


@pytest.mark.parametrize("base", [0.0, 0.3, 0.45, 0.4999, 0.5])
def test_what_is_no_hint_by_its_signals_gets_nothing(base: float) -> None:
    assert small_bonuses(base, ("project/p",), "2026-06-07", "p", NOW) == {}


def test_a_project_is_compared_as_tags_are() -> None:
    assert is_of_project(("project/march-cli",), " March CLI ")
    assert is_of_project(("project/march-cli/ui",), "march-cli")
    assert not is_of_project(("project/march-cli-old", "march-cli"), "march-cli")
    assert is_of_project(("project/⭐",), "⭐\ufe0f")
    assert not is_of_project(("project/march-cli", "project"), "→")


@pytest.mark.parametrize("written_at", [None, "", "yesterday", "2020-01-01", "2026-13-45"])
def test_an_old_or_unreadable_date_adds_nothing(written_at: str | None) -> None:
    assert small_bonuses(0.9, (), written_at, None, NOW) == {}


def test_recency_moves_by_whole_days() -> None:
    one, other = (
        small_bonuses(0.9, (), "2026-06-01T00:00:00Z", None, NOW.replace(hour=hour)) for hour in (1, 23)
    )
    assert one == other != {}


def test_a_carried_identifier_makes_a_hint_and_leads() -> None:
    assert 0.0 + exact_bonus(0.0, 1.0, 0.0) > 0.5
    assert 0.9 < 0.1 + exact_bonus(0.1, 1.0, 0.9) < 1


@given(UNIT, UNIT, st.floats(0.1, 1), UNIT)
def test_carriers_keep_their_order_above_all_others(a: float, b: float, coverage: float, best: float) -> None:
    low, high = (base + exact_bonus(base, coverage, best) for base in sorted((a, b)))
    assert max(0.5, best) - 1e-9 <= low <= high + 1e-9 <= 1 + 2e-9
    assert a + exact_bonus(a, coverage, best) <= a + exact_bonus(a, 1.0, best) + 1e-9


def test_weak_names_count_only_where_the_memory_is_likely() -> None:
    weak, strong = Identifier("404", ("404",), is_weak=True), Identifier("E0502", ("e0502",))
    held = {"404": 1, "e0502": 1}
    assert carried_names([weak, strong], held, is_likely=True) == (weak, strong)
    assert carried_names([weak, strong], held, is_likely=False) == (strong,)
