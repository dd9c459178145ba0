"""Whether somebody writes to a file, as far as a file system tells."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from vaultmem.files import leases


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "n.md").write_bytes(b"text")
    return tmp_path / "n.md"


@pytest.fixture
def descriptor(file: Path) -> Iterator[int]:
    opened = os.open(file, os.O_RDONLY)
    if not leases.is_answering(opened):
        os.close(opened)
        pytest.skip("this file system tells nothing of writers")
    yield opened
    os.close(opened)


def test_a_writer_is_known_and_a_reader_is_none(file: Path, descriptor: int) -> None:
    assert leases.is_open_for_writing(descriptor) is False
    with file.open("rb"):
        assert leases.is_open_for_writing(descriptor) is False
    with file.open("ab"):
        assert leases.is_open_for_writing(descriptor) is True
    assert leases.is_open_for_writing(descriptor) is False


def test_whoever_opens_the_file_afterwards_has_to_wait_for_nothing(file: Path, descriptor: int) -> None:
    assert leases.is_open_for_writing(descriptor) is False
    assert fcntl.fcntl(descriptor, fcntl.F_GETLEASE) == fcntl.F_UNLCK
    file.write_bytes(b"new")


@pytest.mark.parametrize("number", [errno.EINVAL, errno.EACCES, errno.ENOLCK])
def test_a_system_that_does_not_tell_is_not_believed(
    file: Path, descriptor: int, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "fcntl", refuse)
    assert leases.is_open_for_writing(descriptor) is None and not leases.is_answering(descriptor)


def test_only_kinds_of_file_systems_that_are_known_are_believed(
    descriptor: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        leases, "_kind", lambda _: 0xFF534D42
    )  # CIFS: it refuses whatever it has no promise for
    assert not leases.is_answering(descriptor)
    monkeypatch.setattr(leases, "_kind", lambda _: 0xEF53)
    monkeypatch.setattr(leases, "_is_refused", lambda _: True)  # our own file, which nobody else has open
    assert not leases.is_answering(descriptor)


def test_without_leases_nobody_can_tell(descriptor: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(fcntl, "F_SETLEASE")
    assert leases.is_open_for_writing(descriptor) is None and not leases.is_answering(descriptor)
