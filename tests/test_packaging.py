"""What is handed out: the wheel's name, version and contents, and the install commands that messages name."""

from __future__ import annotations

import email
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Mapping
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

import vaultmem

ROOT = Path(__file__).parents[1]
PROJECT: Mapping[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel of this checkout, built from a copy: the build leaves folders behind."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("made")
    leftovers = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, source, ignore=leftovers, dirs_exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(made)], cwd=source, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (file,) = made.glob("*.whl")
    return zipfile.ZipFile(file)


def metadata_of(wheel: zipfile.ZipFile) -> Message:
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return email.message_from_bytes(wheel.read(name))


def test_the_wheel_holds_the_packages_and_their_data_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    files = [
        file for package in ("vaultmem", "tui") for file in (ROOT / package).rglob("*") if file.is_file()
    ]
    ours = {file.relative_to(ROOT).as_posix() for file in files if "__pycache__" not in file.parts}
    assert held == ours
    assert {"vaultmem/py.typed", "vaultmem/data/stop_words.txt", "tui/app.tcss", "tui/py.typed"} <= held
    assert any(name.startswith("vaultmem/data/calibration-") for name in held)


def test_the_wheel_has_a_name_of_its_own_and_the_version_of_the_package(wheel: zipfile.ZipFile) -> None:
    metadata = metadata_of(wheel)
    assert (metadata["Name"], metadata["Version"]) == ("march-vaultmem", vaultmem.__version__)
    assert metadata["License-File"] == "LICENSE"


def test_the_wheel_brings_one_command(wheel: zipfile.ZipFile) -> None:
    (name,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    assert wheel.read(name).decode().split() == [
        "[console_scripts]", "vaultmem", "=", "vaultmem.__main__:main",
    ]  # fmt: skip


def test_whoever_is_told_to_install_an_extra_is_told_its_right_name() -> None:
    texts = [*(ROOT / "vaultmem").rglob("*.py"), *(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")]
    named = {
        found for file in texts for found in re.findall(r"([\w-]*vaultmem)\[(\w+)\]", file.read_text("utf-8"))
    }
    assert ("march-vaultmem", "models") in named, "the test does not reach what it tests"
    assert {extra for _, extra in named} <= PROJECT["optional-dependencies"].keys()
    assert {name for name, _ in named} == {PROJECT["name"]}
