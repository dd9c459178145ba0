"""A vault of a few memories and many strangers."""

from __future__ import annotations

import pytest

from tests.recall.vaults import Vault


@pytest.fixture
def vault() -> Vault:
    vault = Vault()
    vault.add("cache", "context cache ordering", "stable layers come first so that the prefix cache hits")
    vault.add("lock", "sqlite lock timeout", "begin immediate avoids database is locked errors")
    vault.add("绿萝", "绿萝黄叶", "绿萝叶子发黄多半是浇水太勤")
    for number in range(20):
        vault.add(f"other{number}", f"filler {number}", f"nothing about subject{number} here")
    return vault
