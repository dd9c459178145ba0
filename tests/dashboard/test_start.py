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


def test_the_dashboard_asks_with_the_settings_of_the_configuration(tmp_path, monkeypatch):
    started: list[VaultmemApp] = []
    for module, name in ((sys, "setswitchinterval"), (gc, "freeze"), (gc, "set_threshold")):
        monkeypatch.setattr(module, name, lambda *_: None)
    monkeypatch.setattr(VaultmemApp, "run", lambda app: started.append(app))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    config = Config(root=tmp_path, state_dir=tmp_path, min_score=0.4, hint_limit=5, hint_budget_chars=900)
    run(config, read_only=True)
    (app,) = started
    assert app.is_read_only and app.root == tmp_path
    assert (app.settings.min_score, app.settings.limit, app.settings.budget_chars) == (0.4, 5, 900)
    assert app.settings.description_width == config.description_width
