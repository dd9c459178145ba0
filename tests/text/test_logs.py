"""What is logged is told in full, and no terminal acts on it."""

from __future__ import annotations

import logging

import pytest

from vaultmem.text.logs import HarmlessFormatter, log_harmlessly


def test_a_record_keeps_its_traceback_and_loses_what_a_terminal_acts_on() -> None:
    handler, lines = logging.Handler(), list[str]()
    handler.setFormatter(HarmlessFormatter("vaultmem: %(message)s"))
    handler.emit = lambda record: lines.append(handler.format(record))  # type: ignore[method-assign]
    log = logging.Logger("apart")
    log.addHandler(handler)
    try:
        raise OSError("a\x1b]0;x\x07b\u202e")
    except OSError:
        log.exception("no %s", "path\x9b2J")
    (told,) = lines
    assert told.startswith("vaultmem: no path2J\nTraceback") and told.endswith("OSError: a]0;xb")


def test_what_nobody_set_up_a_log_for_goes_to_stderr_harmlessly(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert logging.lastResort is not None
    monkeypatch.setattr(logging.lastResort, "formatter", None)
    log_harmlessly()
    record = logging.LogRecord("vaultmem", logging.WARNING, "", 0, "a\x1b[2Jb", None, None)
    logging.lastResort.handle(record)
    assert capsys.readouterr().err == "a[2Jb\n"
