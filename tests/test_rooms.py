"""The house as it is drawn: every room has its table of contents, and the glossary and the tests know every module."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from scripts.rooms import GLOSSARY, ROOT, rooms, with_rooms

MOST_MODULES = 14
ROOMS = {room: modules for room, _, modules in rooms()}

WITHOUT_A_TEST = {
    "vaultmem/clients.py": "an enum and a constant",
    "vaultmem/events.py": "values only",
}
"""Modules of vaultmem whose name no test has, and why."""


def modules_in(room: str) -> set[str]:
    return {file.stem for file in (ROOT / room).glob("*.py") if not file.stem.startswith("__")}


def rooms_in(room: str) -> set[str]:
    return {init.parent.name for init in (ROOT / room).glob("*/__init__.py")}


@pytest.mark.parametrize("room", ROOMS)
def test_a_rooms_table_of_contents_names_each_of_its_modules_and_nothing_else(room: str) -> None:
    named = set(ROOMS[room])
    if room == "vaultmem":  # what stands in it is said on the page of the architecture
        assert named == set()
    else:
        assert named == modules_in(room) | rooms_in(room)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_has_so_few_modules_that_one_look_takes_them_in(room: str) -> None:
    assert len(modules_in(room)) <= MOST_MODULES


@pytest.mark.parametrize("room", [room for room in ROOMS if room != "vaultmem"])
def test_a_table_of_contents_holds_no_code(room: str) -> None:
    body = ast.parse((ROOT / room / "__init__.py").read_text("utf-8")).body
    assert [type(node) for node in body] == [ast.Expr]


def test_the_glossary_knows_every_room_and_every_module() -> None:
    text = GLOSSARY.read_text("utf-8")
    assert text == with_rooms(text), "make glossary"


def test_the_architecture_names_every_room_of_the_engine() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    top = {Path(room).parts[1] for room in ROOMS if room.startswith("vaultmem/")} | modules_in("vaultmem")
    assert {name for name in top if f"`{name}`" not in page} == {"testing"}


def test_one_finds_the_test_of_a_module_by_its_name() -> None:
    modules = [
        file.relative_to(ROOT) for file in (ROOT / "vaultmem").rglob("*.py") if file.stem != "__init__"
    ]
    tests = {module: Path("tests", *module.parts[1:-1], f"test_{module.name}") for module in modules}
    without = {module.as_posix() for module, test in tests.items() if not (ROOT / test).is_file()}
    assert without == set(WITHOUT_A_TEST), "write its test, or say why it needs none; drop what is needless"
