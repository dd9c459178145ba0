"""What the stores that live in a folder have in common."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.stores.rows import filled
from vaultmem.errors import StoreError


def test_on_a_full_disk_the_advice_is_to_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = filled(tmp_path / "dense", 2)
    shutil.rmtree(next((tmp_path / "dense").glob("*.lance/data")))
    with pytest.raises(StoreError) as failure:
        store.rows([1])
    assert "doctor --repair" in failure.value.advice
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1 << 20))
    with pytest.raises(StoreError) as failure:
        store.rows([1])
    assert "no room left" in failure.value.advice
