"""How the dashboard ends is what its exit code says."""

from __future__ import annotations

import gc
import sys

from tui.app import VaultmemApp
from tui.start import run
from vaultmem.config import Config


def test_a_crash_is_not_success(tmp_path, monkeypatch):
    for module, name in ((sys, "setswitchinterval"), (gc, "freeze"), (gc, "set_threshold")):
        monkeypatch.setattr(module, name, lambda *_: None)
    run_app = VaultmemApp.run
    monkeypatch.setattr(VaultmemApp, "run", lambda app: run_app(app, headless=True, size=(80, 24)))
    monkeypatch.setattr(VaultmemApp, "open_engine", lambda app: 1 / 0)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    config = Config(root=tmp_path, state_dir=tmp_path)
    assert run(config, read_only=True) == 1
    monkeypatch.setattr(VaultmemApp, "open_engine", lambda app: app.exit())
    assert run(config, read_only=True) == 0
